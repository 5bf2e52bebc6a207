// each: trainings side by side, on threads of one process and over ranks, which are threads here. Who runs
// what never shows: order, exceptions, nesting, and the same bits as one after the other.
#include "../../experiments/run/each.h"

#include <doctest/doctest.h>

#include <atomic>
#include <numeric>

#include "../../core/serial_loops.h"
#include "../../experiments/run/process.h"
#include "../../nn/dropout.h"
#include "../../nn/linear.h"
#include "../../nn/model.h"
#include "../../optim/optim.h"
#include "../holds.h"
#include "../message_of.h"
#include "../thread_counts.h"
#include "../thread_link.h"

namespace isobar::each_test {

using namespace std::chrono_literals;

using Body = std::function<void(Ranks&)>;

// Calls the test with what runs a body: a process of 1, 2, 3 and 8 threads, and each of 2, 3 and 5 ranks.
void everywhere(const std::function<void(const std::function<void(const Body&)>& run)>& test) {
  for_thread_counts([&] { test([](const Body& body) { body(Ranks::here()); }); });
  for (const int size : {2, 3, 5}) test([size](const Body& body) { run_ranks(size, body); });
}

// The loss of each of 20 steps, and the weights at the end: Adam, dropout, batches of 48 × 64, products large
// enough to be cut into tiles.
std::vector<float> train(uint64_t seed) {
  const Rng rng(seed);
  Linear first(64, 256, rng.split("first")), second(256, 8, rng.split("second"));
  std::vector<Tensor> all = parameters(first);
  for (const Tensor& weight : parameters(second)) all.push_back(weight);
  Adam optimizer(all, {.lr = 1e-2});
  Dropout half(0.5);
  std::vector<float> numbers;
  for (uint64_t step = 0; step < 20; ++step) {
    Tape tape({.rng = rng.split(step)});
    const Tensor x = rng.split("x").split(step).normal({48, 64});
    const Tensor loss = mean(square(second(half(relu(first(x))))));
    tape.backward(loss);
    optimizer.step();
    numbers.push_back(static_cast<float>(loss.item()));
  }
  for (const Tensor& weight : all)
    for (const float value : weight.to_vector<float>()) numbers.push_back(value);
  return numbers;
}

std::vector<int64_t> numbers_below(int64_t n) {
  std::vector<int64_t> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

TEST_CASE("trainings side by side have the bits of trainings one after the other") {
  std::vector<std::vector<float>> wanted;
  for (uint64_t seed = 0; seed < 5; ++seed) wanted.push_back(train(seed));
  CHECK(wanted[0] != wanted[1]);
  for_thread_counts(
      [&] { CHECK(each(5, [](int64_t i) { return train(static_cast<uint64_t>(i)); }) == wanted); });
}

TEST_CASE("each item runs once, and results come in order, to be used on the calling thread") {
  for (const int64_t n : {0, 1, 2, 7, 40})
    everywhere([&](const auto& run) {
      std::atomic<int64_t> ran = 0;
      run([&](Ranks& ranks) {
        for (int again = 0; again < 2; ++again) {
          const auto here = std::this_thread::get_id();
          std::vector<int64_t> seen;
          const auto slow_first = [&](int64_t i) {
            ++ran;
            if (i == 0) std::this_thread::sleep_for(2ms);
            return std::vector<int64_t>(20, i);
          };
          const auto all = each(ranks, n, slow_first, [&](int64_t i, const auto& result) {
            CHECK((std::this_thread::get_id() == here && result[19] == i));
            seen.push_back(i);
          });
          CHECK(seen == numbers_below(n));
          CHECK(std::ssize(all) == n);
          for (const int64_t i : seen) CHECK(all[static_cast<size_t>(i)] == std::vector<int64_t>(20, i));
        }
      });
      CHECK(ran == 2 * n);
    });
  CHECK(each(3, [](int64_t i) { return i == 1; }) == std::vector<bool>{false, true, false});
}

TEST_CASE(
    "the failure of the lowest number reaches every caller, with its type and text, and few items begin") {
  everywhere([](const auto& run) {
    std::atomic<int64_t> begun = 0;
    run([&](Ranks& ranks) {
      std::vector<int64_t> done;
      const auto failing = [&](int64_t i) {
        ++begun;
        // With two threads or more 4 fails before 3, and long before the others are through.
        if (i >= 3 && i != 4) std::this_thread::sleep_for(i == 3 ? 5ms : 1ms);
        if (i == 3) throw Diverged("training 3 diverged");
        check(i != 4, "training {} failed", i);
        return i;
      };
      CHECK_THROWS_WITH_AS(each(ranks, 100'000, failing, [&](int64_t i, int64_t) { done.push_back(i); }),
                           "training 3 diverged", Diverged);
      CHECK(done == numbers_below(3));
      // The next call works.
      const auto same = [](int64_t i) { return i; };
      CHECK(each(ranks, 4, same, [](int64_t, int64_t) {}) == numbers_below(4));
      if (ranks.size() == 1 && threads() == 1) CHECK(begun == 4);
    });
    CHECK(begun >= 4);
    CHECK(begun < 1000);
  });
}

TEST_CASE("what the first rank cannot do with a result, all fail to do") {
  everywhere([](const auto& run) {
    run([](Ranks& ranks) {
      const auto same = [](int64_t i) { return i; };
      const auto record = [&](int64_t i, int64_t) { check(i != 7 || !ranks.first(), "disk full"); };
      CHECK(message_of([&] { each(ranks, 50, same, record); }) == "disk full");
    });
  });
}

TEST_CASE("items run at the same time, as many as there are threads, or ranks, and no more") {
  const auto most_at_once = [](int64_t wanted, const std::function<void(const Body&)>& run) {
    std::atomic<int> running = 0, most = 0;
    const auto item = [&](int64_t i) {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
      // Waits until all are here, which fewer could never be; after a minute it gives up.
      const auto end = std::chrono::steady_clock::now() + 1min;
      while (most < wanted && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(100us);
      --running;
      return i;
    };
    run([&](Ranks& ranks) { each(ranks, 3 * wanted, item, [](int64_t, int64_t) {}); });
    return most.load();
  };
  for (const int count : {1, 2, 3}) {
    const WithThreads guard(count);
    CHECK(most_at_once(count, [](const Body& body) { body(Ranks::here()); }) == count);
  }
  CHECK(most_at_once(3, [](const Body& body) { run_ranks(3, body); }) == 3);
}

TEST_CASE("an each within an item is its thread's or rank's own, and loops of an item are serial") {
  everywhere([](const auto& run) {
    run([](Ranks& ranks) {
      const auto nothing = [](int64_t, const auto&) {};
      const auto outer = [&](int64_t i) {
        const auto inner = [&](int64_t j) { return 100 * threads() + 10 * i + j; };
        return each(ranks, 3, inner, nothing).back();
      };
      CHECK(each(ranks, 3, outer, nothing) == std::vector<int64_t>{102, 112, 122});
    });
  });
  // One item alone has all threads.
  for_thread_counts([] { CHECK(each(1, [](int64_t) { return threads(); }) == std::vector<int>{threads()}); });
}

TEST_CASE("an item does not see the caller's tape") {
  for_thread_counts([] {
    const Tape tape;
    const auto sees = [](int64_t) { return Tape::active() != nullptr; };
    CHECK(each(2, sees) == std::vector<bool>{false, false});
    CHECK(Tape::active() == &tape);
  });
}

TEST_CASE("serial loops run on their thread, where ops may be called and the number of threads stays") {
  for_thread_counts([] {
    const int before = threads();
    {
      const SerialLoops serial;
      CHECK(threads() == 1);
      const auto here = std::this_thread::get_id();
      bool elsewhere = false;
      parallel_for(1000, 1, [&](int64_t, int64_t) { elsewhere |= std::this_thread::get_id() != here; });
      CHECK_FALSE(elsewhere);
      CHECK(sum(ones({3})).item() == 3);
      CHECK(message_of([] { set_threads(2); }) == "threads: wanted 1 where loops are serial, got 2");
      const WithThreads same(1);
    }
    CHECK(threads() == before);
  });
}

TEST_CASE("a rank from which nothing comes is named, and who has a long item is not") {
  std::atomic<int> lost = 0;
  const auto body = [&](Ranks& ranks, bool silent) {
    ranks.set_timeout(0.5);
    ranks.on_lost([&](const RankLost&) { ++lost, ranks.abort(4); });
    if (silent && ranks.rank() == 2) return std::this_thread::sleep_for(800ms);
    const auto slow = [](int64_t i) {
      std::this_thread::sleep_for(i == 1 ? 700ms : 0ms);
      return i;
    };
    each(ranks, 9, slow, [](int64_t, int64_t) {});
  };
  run_ranks(3, [&](Ranks& ranks) { body(ranks, false); });
  CHECK(lost == 0);
  const std::string message = message_of([&] { run_ranks(3, [&](Ranks& ranks) { body(ranks, true); }); });
  CHECK(message.starts_with("rank 2 of 3 ("));
  CHECK(message.ends_with(") has not answered for 0.5 s"));
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

}  // namespace isobar::each_test
