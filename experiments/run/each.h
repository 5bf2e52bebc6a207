// each: independent trainings side by side, one per thread, their results in order.
//
//   std::vector<Outcome> outcomes = each(seeds, [&](int64_t i) { return train(config, seed + i); });
//
// Items begin in the order of their numbers, one per idle thread; begin with the long ones, so that the last
// to run are short. An item runs on a thread of its own with serial loops (core/serial_loops.h): its bits do
// not depend on the number of threads, nor on what runs beside it. It may call ops, open tapes and advance a
// Progress; it must not touch the Run, nor anything that another item changes. It does not see the caller's
// tape or precision. Times that it measures, and statistics of memory, are those of all that run now.
//
// Ranks (core/ranks/ranks.h) share the items: the first rank hands each to an idle thread, and every rank
// gets all results, as bytes (bytes.h). All ranks must call each() in the same order, and an item must change
// nothing but its result: it ran on one rank only. Within an item each() is the rank's own. A rank from which
// nothing comes for Ranks::timeout() is lost: RankLost names it, and all end.
#pragma once

#include "../../core/ranks/ranks.h"
#include "bytes.h"

namespace isobar {

// Calls item(0) … item(n − 1) on up to threads() threads of these ranks, and done(0, text) …
// done(n − 1, text) on this thread of every rank, each with what its item returned, as soon as it and those
// before it are complete. Where an item or done() throws, no more begin, and once those that run are complete
// the exception of the lowest number reaches the caller; that of another rank as one of process.h's.
void run_each(Ranks& ranks, int64_t n, const std::function<std::string(int64_t)>& item,
              const std::function<void(int64_t, const std::string&)>& done);

// f(i) for i = 0 … n − 1. `done(i, result)`, where it is given, is for what must happen in order and may
// touch the Run: to record results as they come, and flush them.
template <class F, class Done>
auto each(Ranks& ranks, int64_t n, const F& f, const Done& done) {
  using Result = std::invoke_result_t<const F&, int64_t>;
  const bool shared = ranks.size() > 1 && ranks.on_own_thread();
  std::vector<std::optional<Result>> complete(static_cast<size_t>(n < 0 ? 0 : n));
  const auto item = [&](int64_t i) {
    if (shared) return to_bytes(f(i));
    complete[static_cast<size_t>(i)].emplace(f(i));
    return std::string();
  };
  run_each(shared ? ranks : Ranks::alone(), n, item, [&](int64_t i, const std::string& bytes) {
    if (shared) complete[static_cast<size_t>(i)].emplace(from_bytes<Result>(bytes));
    done(i, *complete[static_cast<size_t>(i)]);
  });
  std::vector<Result> results;
  results.reserve(complete.size());
  for (std::optional<Result>& result : complete) results.push_back(std::move(*result));
  return results;
}

template <class F, class Done>
auto each(int64_t n, const F& f, const Done& done) {
  return each(Ranks::here(), n, f, done);
}

template <class F>
auto each(int64_t n, const F& f) {
  return each(n, f, [](int64_t, const auto&) {});
}

}  // namespace isobar
