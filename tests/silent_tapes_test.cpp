// Tapes that once recorded, walked or ended wrongly without a word, or crashed; as silence_test.cpp.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "../autograd/ops.h"
#include "../autograd/recompute.h"
#include "../autograd/tape.h"
#include "../autograd/tape_log.h"
#include "../core/raw.h"
#include "message_of.h"

namespace isobar::silent_tapes_test {
namespace {

using Values = std::vector<double>;

Tensor leaf(const Tensor& x) { return x.detach().set_trainable(); }
Tensor number(double value) { return full(Shape{}, value, Dtype::f64); }

}  // namespace

TEST_CASE("three tapes end in every order, and the innermost that lives records") {
  const std::vector<std::vector<int>> orders{{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                             {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const std::vector<int>& order : orders) {
    std::vector<std::unique_ptr<Tape>> tapes;
    for (int i = 0; i < 3; ++i) tapes.push_back(std::make_unique<Tape>());
    for (int ended : order) {
      tapes[ended].reset();
      Tape* innermost = nullptr;
      for (const auto& tape : tapes)
        if (tape) innermost = tape.get();
      CHECK(Tape::active() == innermost);
      const Tensor w = leaf(number(2));
      const Tensor y = square(w);
      if (innermost == nullptr) continue;
      innermost->backward(y);
      CHECK(w.grad().item() == 4);
    }
  }
}

TEST_CASE("a paused tape that ends leaves the tapes around it paused") {
  const Tensor x = leaf(number(3));
  Tape outer;
  auto inner = std::make_unique<Tape>();
  {
    const NoTape pause;
    inner.reset();
    CHECK(Tape::active() == nullptr);
    square(x);
    Tape within;
    CHECK(Tape::active() == &within);
  }
  CHECK(Tape::active() == &outer);
  CHECK(outer.recorded() == 0);
}

TEST_CASE("a tape under NoTape sees the tensors of the paused one as leaves") {
  const Tensor x = leaf(number(3));
  Tape outer;
  const Tensor y = square(x);
  const NoTape pause;
  Tape inner;
  CHECK(inner.gradient(square(y), {y})[0].item() == 18);
}

TEST_CASE("logs end in any order, under a pause too") {
  const Tensor x = leaf(number(3));
  std::optional<TapeLog> outer, inner;
  outer.emplace(), inner.emplace();
  outer.reset();
  Tape tape;
  square(x);
  CHECK(inner->text().find("square") != std::string::npos);
  {
    const NoTape pause;
    inner.reset();
  }
  tape.backward(square(x));
  CHECK(x.grad().item() == 6);
}

TEST_CASE("a tensor of another tape is refused, by ops and by backward") {
  const Tensor x = leaf(number(3));
  Tensor carried;
  {
    Tape ended;
    carried = square(x);
  }
  Tape tape;
  CHECK(message_of([&] { tanh(carried); }) ==
        "tanh: a tensor [] belongs to a tape that has ended; call detach() or keep one tape");
  const std::string foreign =
      "backward: a tensor [] was not recorded on this tape; no input of it is trainable, or it was made "
      "before the tape or after detach()";
  CHECK(message_of([&] { tape.backward(carried); }) == foreign);
  const Tensor y = square(x);
  Tape inner;
  CHECK(message_of([&] { inner.backward(y); }) == foreign);
}

TEST_CASE("a second backward of one loss is refused, and leaves the gradient as it was") {
  const Tensor x = leaf(number(3));
  Tape tape;
  const Tensor y = square(x), other = exp(x), middle = tanh(x);
  tape.backward(y);
  const std::string used =
      "backward: part of this tape was already used up by an earlier backward; open it as Tape "
      "tape({.higher_order = true}) to walk twice";
  CHECK(message_of([&] { tape.backward(y); }) == used);
  CHECK(message_of([&] { tape.backward(y * middle); }) == used);
  CHECK(x.grad().item() == 6);
  tape.backward(other);
  CHECK(x.grad().item() == doctest::Approx(6 + std::exp(3.0)));
}

TEST_CASE("a value of a finished part of the tape cannot enter a new op without a word") {
  const Tensor x = leaf(number(3));
  Tape tape;
  const Tensor y = square(x);
  tape.backward(y);  // the tape is empty, and counts on
  for (int i = 0; i < 3; ++i) {
    const Tensor z = y * x;
    CHECK(!message_of([&] { tape.backward(z); }).empty());
  }
  CHECK(x.grad().item() == 6);
}

TEST_CASE("a closure cannot walk its own tape") {
  const Tensor x = leaf(number(3));
  Tape tape;
  const Tensor other = square(x);
  const Tensor y = record("mine", number(1), {x}, [&](Tensor dy) {
    tape.backward(other);
    return dy;
  });
  CHECK(message_of([&] { tape.backward(y); }) == "backward: another backward of this tape is under way");
  CHECK(!x.grad().defined());
  tape.backward(other);
  CHECK(x.grad().item() == 6);
}

TEST_CASE("an exception in the middle of a walk leaves gradients and the tape as they were") {
  const Tensor x = leaf(number(3)), w = leaf(number(2));
  Tape tape;
  const Tensor other = x * w;
  const Tensor failing = record("mine", number(9), {x}, [](const Tensor&) -> Tensor { throw Error("no"); });
  // Every leaf has a part of its sum, in the adjoints, when the closure throws.
  const Tensor loss = failing * w + square(x) * exp(w);
  CHECK(message_of([&] { tape.backward(loss); }) == "no");
  CHECK(!x.grad().defined());
  CHECK(!w.grad().defined());
  tape.backward(other);
  CHECK(x.grad().item() == 2);
  CHECK(w.grad().item() == 3);
}

TEST_CASE("an exception in a piece that is computed again leaves the tape as it was") {
  const Tensor x = leaf(number(3)), w = leaf(number(2));
  Tape tape;
  const Tensor other = x * w;
  const Tensor y = recompute(
      [&](const Tensor& h) {
        check(!recomputing(), "no");
        return h * w;
      },
      x);
  const Tensor loss = square(w) + square(x) + y;
  CHECK(message_of([&] { tape.backward(loss); }) == "no");
  CHECK(Tape::active() == &tape);
  CHECK(!recomputing());
  tape.backward(other);
  CHECK(x.grad().item() == 2);
  CHECK(w.grad().item() == 3);
}

TEST_CASE("gradient needs a tape that records") {
  const Tensor x = leaf(number(3));
  Tape tape;
  const Tensor y = square(x);
  {
    const NoTape pause;
    CHECK(message_of([&] { tape.gradient(y, {x}); }) == "gradient: this tape is not the active one");
  }
  CHECK(tape.gradient(y, {x})[0].item() == 6);
}

TEST_CASE("a random op without a key is refused") {
  Tape tape;
  CHECK(message_of([&] {
          tape.next_rng();
        }).starts_with("tape: a random op, such as dropout, needs an Rng; open the tape as Tape tape({.rng"));
}

TEST_CASE("a tape that outlives many steps keeps neither their nodes nor their leaves") {
  const Tensor w = leaf(number(2));
  Tape tape;
  for (int step = 1; step <= 50; ++step) {
    const Tensor x = leaf(number(step));  // a leaf of this step alone
    tape.backward(w * x);
    CHECK(x.grad().item() == 2);
  }
  CHECK(w.grad().item() == 50 * 51 / 2);
  CHECK(tape.nodes().empty());
  CHECK(tape.leaves().size() <= 2);
}

TEST_CASE("two threads with a tape each share parameters") {
  const Tensor w = leaf(Rng(1).normal({8, 8}, 0, 1, Dtype::f64));
  const auto gradient = [&] {
    Tape tape;
    return tape.gradient(sum(tanh(linear(w, w))), {w})[0].to_vector<double>();
  };
  const Values alone = gradient();
  std::vector<int> wrong(2, 0);
  std::vector<std::thread> threads;
  for (int& count : wrong)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) count += gradient() != alone;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>{0, 0});
}

TEST_CASE("a thread that only frees tensors passes their versions on") {
  // Takes of one thread find what the other one, which has ended, gave back: sooner or later a round sees known
  // addresses alone. Before that it takes what earlier tests left free, some thousand versions.
  std::set<const Version*> seen;
  bool repeated = false;
  for (int round = 0; round < 2000 && !repeated; ++round) {
    const size_t before = seen.size();
    auto tensors = std::make_unique<std::vector<Tensor>>();
    for (int i = 0; i < 100; ++i) {
      tensors->push_back(ones({1}));
      seen.insert(raw::storage(tensors->back())->version);
    }
    std::thread([moved = std::move(tensors)]() mutable { moved.reset(); }).join();
    repeated = seen.size() == before;
  }
  CHECK(repeated);
}

TEST_CASE("a tape is not walked on another thread than the one that made it") {
  const Tensor x = ones({2}).set_trainable();
  Tape tape;
  const Tensor loss = sum(square(x));
  std::string message;
  std::thread([&] { message = message_of([&] { tape.backward(loss); }); }).join();
  CHECK(message == "backward: this tape was made on another thread; walk it on the thread that made it");
  tape.backward(loss);
  CHECK(x.grad().at({0}) == 2);
}

TEST_CASE("a tape and a log that another thread ends leave the lists of the thread that made them") {
  const Tensor x = leaf(number(3));
  {
    auto tape = std::make_unique<Tape>(TapeOptions{.higher_order = true});
    auto log = std::make_unique<TapeLog>();
    Tape* const ended = tape.get();
    std::thread([&] { tape.reset(), log.reset(); }).join();
    CHECK(recording.tape != ended);
    CHECK(recording.log == nullptr);
    recording.log = nullptr;  // where the check failed
    recording.tape = nullptr;
  }
  Tape next({.higher_order = true});
  next.backward(square(x));
  CHECK(x.grad().item() == 6);
}

TEST_CASE("a tape and a log end after the thread that made them") {
  std::unique_ptr<Tape> outer, inner;
  std::unique_ptr<TapeLog> log;
  std::thread([&] {
    outer = std::make_unique<Tape>();
    log = std::make_unique<TapeLog>();
    inner = std::make_unique<Tape>();
    square(leaf(number(3)));
  }).join();
  const Tensor x = leaf(number(3));
  Tape tape;
  outer.reset(), inner.reset(), log.reset();
  CHECK(Tape::active() == &tape);
  tape.backward(square(x));
  CHECK(x.grad().item() == 6);
}

TEST_CASE("an op whose result stands for something else is refused") {
  const Tensor a = leaf(number(1)), b = leaf(number(2)), w = leaf(number(3)), cached = number(4);
  const auto op = [&](const Tensor& x, const Tensor& y) {
    return record("mine", y, {x}, [](const Tensor& dy) { return dy; });
  };
  Tape tape;
  const Tensor p = op(a, cached);
  const std::string again =
      "mine: its result [] is the result of an earlier op on this tape; return a new tensor, such as y.detach()";
  CHECK(message_of([&] { op(b, cached); }) == again);
  {
    Tape inner;
    CHECK(message_of([&] { op(b, cached); }) == again);
  }
  CHECK(message_of([&] { op(b, w); }) ==
        "mine: its result is a trainable tensor []; return a new tensor, such as w.detach()");
  tape.backward(p + 10 * op(b, cached.detach()));
  CHECK(a.grad().item() == 1);
  CHECK(b.grad().item() == 10);
  Tape next;  // the first use is over with its tape
  next.backward(op(b, number(1)));
}

TEST_CASE("gradient refuses a tensor that the ops read as a constant") {
  Tensor x = full({3}, 2, Dtype::f64);
  const Tensor w = leaf(number(3)), unused = leaf(number(1)), stopped = leaf(full({3}, 5, Dtype::f64));
  Tape tape;
  const Tensor y = sum(x * w * stopped.detach());
  x.set_trainable();
  for (int i = 0; i < 2; ++i)
    CHECK(message_of([&] { tape.gradient(y, {x}); }) ==
          "gradient: a tensor [3] was a constant when multiply used it; make it trainable before that");
  const std::vector<Tensor> dx = tape.gradient(y, {w, unused, stopped});
  CHECK(dx[0].item() == 30);
  CHECK(dx[1].item() == 0);
  CHECK(dx[2].to_vector<double>() == Values(3, 0));
}

TEST_CASE("a closure's gradient is summed over what was broadcast in y, and over nothing else") {
  const Tensor x = leaf(zeros({1}, Dtype::f64)), pair = leaf(zeros({2}, Dtype::f64));
  const auto message = [](const Tensor& input, const Shape& y, const Shape& dx) {
    Tape tape;
    const Tensor result =
        record("mine", zeros(y, Dtype::f64), {input}, [dx](const Tensor&) { return ones(dx, Dtype::f64); });
    return message_of([&] { tape.backward(sum(result)); });
  };
  CHECK(message(x, {4}, {4}).empty());
  CHECK(message(x, {3, 4}, {3, 1}).empty());
  CHECK(message(pair, {3, 2}, {3, 2}).empty());
  CHECK(x.grad().item() == 7);
  CHECK(message(x, {2}, {8}) ==
        "backward of mine: the gradient of input 0 must be [1], got [8]; sum it with sum_to_size()");
  CHECK(message(x, {}, {8}).starts_with("backward of mine: the gradient of input 0 must be [1], got [8]"));
  CHECK(message(pair, {2}, {4, 2})
            .starts_with("backward of mine: the gradient of input 0 must be [2], got [4, 2]"));
}

}  // namespace isobar::silent_tapes_test
