// Runs a body with 1, 2, 3 and 8 threads and puts the setting back.
#pragma once

#include "../core/parallel.h"

namespace isobar {

// Sets the number of threads while it lives.
class WithThreads {
 public:
  explicit WithThreads(int count) : before_(threads()) { set_threads(count); }
  ~WithThreads() { set_threads(before_); }
  WithThreads(const WithThreads&) = delete;
  WithThreads& operator=(const WithThreads&) = delete;

 private:
  const int before_;
};

template <class Body>
void for_thread_counts(const Body& body) {
  for (int count : {1, 2, 3, 8}) {
    const WithThreads guard(count);
    body();
  }
}

}  // namespace isobar
