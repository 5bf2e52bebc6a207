// Several tapes at once: within one another, paused, ended in any order, and on several threads.
#include <doctest/doctest.h>

#include <thread>

#include "../../autograd/check/tape_trace.h"
#include "../message_of.h"
#include "../small_tensors.h"

namespace isobar::nested_tapes_test {

TEST_CASE("an inner tape sees the outer tape's tensors as leaves") {
  const Tensor x = leaf(number(3));
  Tape outer;
  const Tensor y = square(x);
  Tensor dy;
  {
    Tape inner;
    const Tensor z = square(y);
    CHECK(inner.recorded() == 1);
    REQUIRE(inner.leaves().size() == 1);
    CHECK(inner.leaves()[0].id() == y.id());
    dy = inner.gradient(z, {y})[0];
  }
  CHECK(dy.item() == 18);
  CHECK(outer.recorded() == 1);
  outer.backward(y, dy);  // the chain rule by hand: d x⁴ / dx = 4 · 27
  CHECK(x.grad().item() == 108);
}

TEST_CASE("a backward of an inner tape refuses to lose the gradient of an outer tape's value") {
  const Tensor x = leaf(number(3)), w = leaf(number(5));
  const std::string lost =
      "backward: a tensor [] is recorded on an outer tape, where this backward does not continue, so its gradient "
      "would be lost; call backward on the outer tape, take gradient() by it here, or detach() it if it is meant to be "
      "a constant";
  Tape outer;
  const Tensor y = square(x);
  {
    Tape inner;
    CHECK(message_of([&] { inner.backward(y * w); }) == lost);
    CHECK(message_of([&] { inner.leaf_gradients(y * w, number(1)); }) == lost);
    CHECK(!w.grad().defined());
    const Tensor unused = y * w;
    inner.backward(y.detach() * w);  // a constant, while another value may be read and not be used
    CHECK(w.grad().item() == 9);
    Tape third;
    CHECK(message_of([&] { third.backward(y * w); }) == lost);
  }
  {
    const NoTape meant;  // the outer tape's values are constants here
    Tape inner;
    inner.backward(y * w);
    CHECK(w.grad().item() == 18);
  }
  outer.backward(y * w);
  CHECK(x.grad().item() == 30);
}

TEST_CASE("a tape that may not nest leaves the outer one active") {
  Tape outer;
  CHECK_THROWS_AS(Tape({.higher_order = true}), Error);
  CHECK(Tape::active() == &outer);
}

TEST_CASE("three tapes end in every order, paused or not, and the innermost that lives records") {
  const std::vector<std::vector<int>> orders{{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                             {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const bool paused : {false, true})
    for (const std::vector<int>& order : orders) {
      std::optional<Tape> around;
      std::optional<NoTape> pause;
      if (paused) around.emplace(), pause.emplace();
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

TEST_CASE("a paused tape that ends leaves the tapes around it paused, and those in it active") {
  const Tensor x = leaf(number(3));
  std::optional<Tape> outer(std::in_place);
  auto inner = std::make_unique<Tape>();
  {
    const NoTape pause;
    inner.reset();
    CHECK(Tape::active() == nullptr);
    square(x);
    Tape within;
    CHECK(Tape::active() == &within);
  }
  CHECK(Tape::active() == &*outer);
  CHECK(outer->recorded() == 0);
  {
    const NoTape pause;
    Tape within;
    outer.reset();
    within.backward(square(x));
  }
  CHECK(Tape::active() == nullptr);
  CHECK(x.grad().item() == 6);
}

TEST_CASE("listeners end in any order, under a pause too") {
  const Tensor x = leaf(number(3));
  std::optional<TapeTrace> outer, inner;
  outer.emplace(), inner.emplace();
  outer.reset();
  Tape tape;
  square(x);
  CHECK(inner->ops().back().name == "square");
  {
    const NoTape pause;
    inner.reset();
  }
  tape.backward(square(x));
  CHECK(x.grad().item() == 6);
}

TEST_CASE("a tape belongs to the thread that made it, which alone records on it and walks it") {
  const Tensor x = leaf(number(3));
  Tape tape;
  const Tensor loss = square(x);
  std::string message;
  std::thread([&] {
    CHECK(Tape::active() == nullptr);
    CHECK(!raw::slot(square(leaf(x))).recorded());
    message = message_of([&] { tape.backward(loss); });
  }).join();
  CHECK(message == "backward: this tape was made on another thread; walk it on the thread that made it");
  CHECK(tape.recorded() == 1);
  tape.backward(loss);
  CHECK(x.grad().item() == 6);
}

TEST_CASE("a tape and a listener that another thread ends leave the lists of the thread that made them") {
  const Tensor x = leaf(number(3));
  {
    auto tape = std::make_unique<Tape>(TapeOptions{.higher_order = true});
    auto trace = std::make_unique<TapeTrace>();
    Tape* const ended = tape.get();
    std::thread([&] { tape.reset(), trace.reset(); }).join();
    CHECK(recording.tape != ended);
    CHECK(recording.listener == nullptr);
    recording.listener = nullptr;  // where the check failed
    recording.tape = nullptr;
  }
  Tape next({.higher_order = true});
  next.backward(square(x));
  CHECK(x.grad().item() == 6);
}

TEST_CASE("a tape and a listener end after the thread that made them") {
  std::unique_ptr<Tape> outer, inner;
  std::unique_ptr<TapeTrace> trace;
  std::thread([&] {
    outer = std::make_unique<Tape>();
    trace = std::make_unique<TapeTrace>();
    inner = std::make_unique<Tape>();
    square(leaf(number(3)));
  }).join();
  const Tensor x = leaf(number(3));
  Tape tape;
  outer.reset(), inner.reset(), trace.reset();
  CHECK(Tape::active() == &tape);
  tape.backward(square(x));
  CHECK(x.grad().item() == 6);
}

}  // namespace isobar::nested_tapes_test
