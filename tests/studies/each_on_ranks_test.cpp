// each over ranks, which are threads here: who runs what never shows, and every end reaches all.
#include "../../experiments/harness/each.h"

#include <doctest/doctest.h>

#include <atomic>

#include "../../experiments/harness/process.h"
#include "../holds.h"
#include "../message_of.h"
#include "../thread_link.h"

namespace isobar::each_on_ranks_test {

using namespace std::chrono_literals;

TEST_CASE("ranks share items, and each has all results in order") {
  for (const int size : {2, 3, 5})
    for (const int64_t n : {0, 1, 2, 7, 40}) {
      std::vector<std::atomic<int>> ran(40);
      run_ranks(size, [&](Ranks& ranks) {
        for (int again = 0; again < 2; ++again) {
          std::vector<int64_t> seen;
          const auto item = [&](int64_t i) {
            ++ran[static_cast<size_t>(i)];
            if (i == 0) std::this_thread::sleep_for(2ms);
            return std::vector<int64_t>(20, i);
          };
          const auto all = each(ranks, n, item, [&](int64_t i, const auto& result) {
            CHECK(result[19] == i);
            seen.push_back(i);
          });
          CHECK(std::ssize(all) == n);
          for (int64_t i = 0; i < n; ++i) {
            CHECK(all[static_cast<size_t>(i)] == std::vector<int64_t>(20, i));
            CHECK(seen[static_cast<size_t>(i)] == i);
          }
        }
      });
      for (int64_t i = 0; i < 40; ++i) CHECK(ran[static_cast<size_t>(i)] == (i < n ? 2 : 0));
    }
}

TEST_CASE("items of all ranks run at the same time") {
  std::atomic<int> running = 0, most = 0;
  run_ranks(3, [&](Ranks& ranks) {
    const auto item = [&](int64_t i) {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
      // Waits until all ranks are here, each with its one thread; after a minute it gives up.
      const auto end = std::chrono::steady_clock::now() + 1min;
      while (most < 3 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(100us);
      --running;
      return i;
    };
    each(ranks, 9, item, [](int64_t, int64_t) {});
  });
  CHECK(most == 3);
}

TEST_CASE("the failure of the lowest number reaches every rank, with its type and text") {
  std::atomic<int> begun = 0, diverged = 0, ended = 0;
  run_ranks(3, [&](Ranks& ranks) {
    std::vector<int64_t> seen;
    const auto item = [&](int64_t i) {
      ++begun;
      if (i == 3) std::this_thread::sleep_for(5ms);
      if (i == 3) throw Diverged("training 3 diverged");
      check(i < 3, "training {} failed", i);
      return i;
    };
    try {
      each(ranks, 100'000, item, [&](int64_t i, int64_t) { seen.push_back(i); });
    } catch (const Diverged& error) {
      diverged += std::string(error.what()) == "training 3 diverged";
    }
    CHECK(seen == std::vector<int64_t>{0, 1, 2});
    // The next call works.
    each(
        ranks, 4, [](int64_t i) { return i; }, [&](int64_t, int64_t) { ++ended; });
  });
  CHECK(diverged == 3);
  CHECK(begun < 100);
  CHECK(ended == 12);
}

TEST_CASE("what the first rank cannot do with a result, all fail to do") {
  std::atomic<int> failed = 0;
  run_ranks(3, [&](Ranks& ranks) {
    failed += message_of([&] {
                each(
                    ranks, 20, [](int64_t i) { return i; },
                    [&](int64_t i, int64_t) { check(i != 7 || !ranks.first(), "disk full"); });
              }) == "disk full";
  });
  CHECK(failed == 3);
}

TEST_CASE("an each within an item is the rank's own") {
  run_ranks(2, [](Ranks& ranks) {
    const auto nothing = [](int64_t, const auto&) {};
    const auto outer = [&](int64_t i) {
      const auto inner = each(
          ranks, 3, [&](int64_t j) { return 10 * i + j; }, nothing);
      return inner.back();
    };
    CHECK(each(ranks, 3, outer, nothing) == std::vector<int64_t>{2, 12, 22});
  });
}

TEST_CASE("a rank from which nothing comes is named, and who has a long item is not") {
  std::atomic<int> lost = 0;
  const auto body = [&](Ranks& ranks, bool silent) {
    ranks.set_timeout(1);
    ranks.on_lost([&](const RankLost&) { ++lost, ranks.abort(4); });
    if (silent && ranks.rank() == 2) return std::this_thread::sleep_for(1500ms);
    const auto slow = [](int64_t i) {
      std::this_thread::sleep_for(i == 1 ? 1300ms : 0ms);
      return i;
    };
    each(ranks, 9, slow, [](int64_t, int64_t) {});
  };
  run_ranks(3, [&](Ranks& ranks) { body(ranks, false); });
  CHECK(lost == 0);
  const std::string message = message_of([&] { run_ranks(3, [&](Ranks& ranks) { body(ranks, true); }); });
  CHECK(message.starts_with("rank 2 of 3 ("));
  CHECK(message.ends_with(") has not answered for 1 s"));
  CHECK(lost == 1);
}

TEST_CASE("ranks that go different ways are told so") {
  const std::string message = message_of([] {
    run_ranks(2, [](Ranks& ranks) {
      each(
          ranks, 3 + ranks.rank(), [](int64_t i) { return i; }, [](int64_t, int64_t) {});
    });
  });
  CHECK(holds(message, "went different ways: one has 3 items, the other 4"));
}

}  // namespace isobar::each_on_ranks_test
