// Workers: threads that take items one after the other, each with what belongs to a thread of a study.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "../../core/profile.h"
#include "../../core/serial_loops.h"

namespace isobar {

class Workers {
 public:
  // Calls work() on `count` threads: with serial loops, if wanted, and in the caller's profile, if there is one. When it
  // ends it calls stop(), which must bring them to their end, and waits for them.
  Workers(int64_t count, bool serial, std::function<void()> work, std::function<void()> stop)
      : work_(std::move(work)), stop_(std::move(stop)) {
    for (int64_t t = 0; t < count; ++t)
      threads_.emplace_back([this, serial, caller = Timeline::here()] {
        std::optional<SerialLoops> loops;
        if (serial) loops.emplace();
        std::optional<Timeline> timeline;
        if (caller != nullptr) timeline.emplace(caller->profile());
        work_();
      });
  }
  ~Workers() { stop_(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

 private:
  const std::function<void()> work_, stop_;
  std::vector<std::jthread> threads_;  // each is joined when it is destroyed
};

}  // namespace isobar
