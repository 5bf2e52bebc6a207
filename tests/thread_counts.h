// Runs a body with 1, 2, 3 and 8 threads and puts the setting back.
#pragma once

#include <doctest/doctest.h>

#include "../core/parallel.h"

namespace isobar {

template <class Body>
void for_thread_counts(const Body& body) {
  for (int count : {1, 2, 3, 8}) {
    const WithThreads guard(count);
    body();
  }
}

// What the body returns must be equal, bit for bit, whatever the number of threads.
template <class Body>
auto check_same_on_threads(const Body& body) {
  const WithThreads one(1);
  const auto alone = body();
  for_thread_counts([&] {
    INFO("threads ", threads());
    CHECK((body() == alone));
  });
  return alone;
}

}  // namespace isobar
