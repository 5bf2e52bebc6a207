// Runs a body with 1, 2, 3 and 8 threads and puts the setting back.
#pragma once

#include "../core/parallel.h"

namespace isobar {

template <class Body>
void for_thread_counts(const Body& body) {
  for (int count : {1, 2, 3, 8}) {
    const WithThreads guard(count);
    body();
  }
}

}  // namespace isobar
