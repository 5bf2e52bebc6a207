// each: trainings side by side. Order, exceptions, nesting, and the same bits as one after the other.
#include "../../experiments/harness/each.h"

#include <chrono>
#include <numeric>

#include "../../core/serial_loops.h"
#include "../../nn/dropout.h"
#include "../../nn/linear.h"
#include "../../nn/model.h"
#include "../../optim/optim.h"
#include "../message_of.h"
#include "../thread_counts.h"

namespace isobar::each_test {

using namespace std::chrono_literals;

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

TEST_CASE("results come in the order of their numbers, whichever is complete first") {
  for_thread_counts([] {
    for (const int64_t n : {0, 1, 2, 7, 100}) {
      const auto slow_first = [](int64_t i) {
        if (i == 0) std::this_thread::sleep_for(5ms);
        return i;
      };
      CHECK(each(n, slow_first) == numbers_below(n));
    }
    CHECK(each(3, [](int64_t i) { return i == 1; }) == std::vector<bool>{false, true, false});
  });
}

TEST_CASE("what is done with a result happens in order, on the calling thread") {
  for_thread_counts([] {
    const auto here = std::this_thread::get_id();
    std::vector<int64_t> seen;
    bool elsewhere = false;
    each(
        20, [](int64_t i) { return 2 * i; },
        [&](int64_t i, int64_t result) {
          elsewhere |= std::this_thread::get_id() != here || result != 2 * i;
          seen.push_back(i);
        });
    CHECK(seen == numbers_below(20));
    CHECK_FALSE(elsewhere);
  });
}

TEST_CASE("the exception of the lowest number reaches the caller, and no more items begin") {
  for_thread_counts([] {
    std::atomic<int64_t> begun = 0;
    std::vector<int64_t> done;
    const auto failing = [&](int64_t i) {
      ++begun;
      // With two threads or more 4 fails before 3, and long before the others are through.
      if (i >= 3 && i != 4) std::this_thread::sleep_for(i == 3 ? 5ms : 1ms);
      check(i != 3 && i != 4, "training {} failed", i);
      return i;
    };
    CHECK(message_of([&] { each(100'000, failing, [&](int64_t i, int64_t) { done.push_back(i); }); }) ==
          "training 3 failed");
    CHECK(done == numbers_below(3));
    CHECK(begun >= 4);
    CHECK(begun < 100'000);
    if (threads() == 1) CHECK(begun == 4);
    // The next call works.
    CHECK(each(4, [](int64_t i) { return i; }) == numbers_below(4));
  });
}

TEST_CASE("an exception of what is done with a result reaches the caller") {
  for_thread_counts([] {
    CHECK(message_of([] {
            each(
                50, [](int64_t i) { return i; }, [](int64_t i, int64_t) { check(i != 7, "disk full"); });
          }) == "disk full");
  });
}

TEST_CASE("items run at the same time, and no more than there are threads") {
  for (const int count : {1, 2, 3}) {
    const WithThreads guard(count);
    std::atomic<int> running = 0, most = 0;
    each(3 * count, [&](int64_t) {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
      // Waits until all threads are here, which fewer threads could never be; after a minute it gives up.
      const auto end = std::chrono::steady_clock::now() + 1min;
      while (most < count && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      --running;
      return 0;
    });
    CHECK(most == count);
  }
}

TEST_CASE("loops of an item are serial, and each within each works") {
  for_thread_counts([] {
    const auto inner = [](int64_t i) { return static_cast<int64_t>(threads()) * 100 + i; };
    const auto outer = [&](int64_t) { return each(3, inner); };
    for (const std::vector<int64_t>& results : each(4, outer))
      CHECK(results == std::vector<int64_t>{100, 101, 102});
    // One item alone has all threads.
    CHECK(each(1, inner) == std::vector<int64_t>{100 * threads()});
  });
}

TEST_CASE("an item sees neither the caller's tape nor its precision") {
  for_thread_counts([] {
    const Tape tape;
    const WithPrecision low(Precision::bf16);
    const auto sees = [](int64_t) {
      return Tape::active() != nullptr || recording.precision != Precision::f32;
    };
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

}  // namespace isobar::each_test
