// each: independent trainings side by side, one per thread, their results in order.
//
//   std::vector<Outcome> outcomes = each(seeds, [&](int64_t i) { return train(config, seed + i); });
//
// Items begin in the order of their numbers, one per idle thread; begin with the long ones, so that the last to
// run are short. An item runs on a thread of its own with serial loops (core/serial_loops.h): its bits do not
// depend on the number of threads, nor on what runs beside it. It may call ops, open tapes and advance a
// Progress; it must not touch the Run, nor anything that another item changes. It does not see the caller's
// tape or precision. Times that it measures, and statistics of memory (core/memory.h), are those of all that
// run now.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace isobar {

// Calls item(0) … item(n − 1) on up to threads() threads, and done(0) … done(n − 1) on this thread, each as
// soon as its item and those before it are complete. Where an item throws, no more begin, and once those that
// run are complete the exception of the lowest number reaches the caller, the same for any number of threads.
// An exception of done() does the same.
void run_each(int64_t n, const std::function<void(int64_t)>& item, const std::function<void(int64_t)>& done);

// f(i) for i = 0 … n − 1. `done(i, result)`, where it is given, is for what must happen in order and may touch
// the Run: to record results as they come, and flush them.
template <class F, class Done>
auto each(int64_t n, const F& f, const Done& done) {
  using Result = std::invoke_result_t<const F&, int64_t>;
  std::vector<std::optional<Result>> complete(static_cast<size_t>(n < 0 ? 0 : n));
  run_each(
      n, [&](int64_t i) { complete[static_cast<size_t>(i)].emplace(f(i)); },
      [&](int64_t i) { done(i, *complete[static_cast<size_t>(i)]); });
  std::vector<Result> results;
  results.reserve(complete.size());
  for (std::optional<Result>& result : complete) results.push_back(std::move(*result));
  return results;
}

template <class F>
auto each(int64_t n, const F& f) {
  return each(n, f, [](int64_t, const auto&) {});
}

}  // namespace isobar
