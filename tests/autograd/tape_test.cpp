#include <doctest/doctest.h>

#include "../../autograd/tape.h"
#include "../message_of.h"
#include "../small_tensors.h"

namespace isobar::tape_test {
// x after `count` additions of zero: a chain of nodes.
Tensor chain(Tensor x, int count) {
  for (int i = 0; i < count; ++i) x = x + 0.0;
  return x;
}

TEST_CASE("backwards accumulate until the gradient is cleared, and change no gradient that was handed out") {
  const Tensor x = leaf(number(3));
  Tensor first;
  for (int step = 1; step <= 3; ++step) {
    Tape tape;
    tape.backward(square(x));
    CHECK(x.grad().item() == 6 * step);
    if (step == 1) first = x.grad();
  }
  CHECK(first.item() == 6);
  x.clear_grad();
  CHECK(!x.grad().defined());
}

TEST_CASE("gradient gives those of values in the middle, zero by what is no input, and leaves grad() alone") {
  const Tensor x = leaf(number(3));
  Tape tape;
  const Tensor middle = square(x), y = exp(middle * 0.1), late = exp(x);
  const std::vector<Tensor> dx = tape.gradient(y, {middle, x, y, late});
  CHECK(dx[0].item() == doctest::Approx(0.1 * std::exp(0.9)).epsilon(1e-14));
  CHECK(dx[1].item() == doctest::Approx(0.6 * std::exp(0.9)).epsilon(1e-14));
  CHECK(dx[2].item() == 1);
  CHECK(dx[3].item() == 0);
  CHECK(!x.grad().defined());
}

TEST_CASE("leaf_gradients are what backward would add to the leaves of y, in order of first use") {
  const Tensor a = leaf(number(2)), b = leaf(number(3)), unused = leaf(number(5));
  a.set_grad(number(7));
  Tape tape;
  const Tensor y = b * a * a, other = unused * a;
  const std::vector<Tensor> leaves = tape.leaves();
  REQUIRE(leaves.size() == 3);
  CHECK((leaves[0].id() == b.id() && leaves[1].id() == a.id() && leaves[2].id() == unused.id()));
  const std::vector<LeafGradient> gradients = tape.leaf_gradients(y, number(10));
  REQUIRE(gradients.size() == 2);
  CHECK(gradients[0].leaf.id() == b.id());
  CHECK(gradients[0].gradient.item() == 10 * 2 * 2);
  CHECK(gradients[1].leaf.id() == a.id());
  CHECK(gradients[1].gradient.item() == 10 * 2 * 2 * 3);
  CHECK(a.grad().item() == 7);
  CHECK(!b.grad().defined());
  CHECK(!unused.grad().defined());
}

TEST_CASE("the tape frees activations on the way down") {
  constexpr size_t block = 1 << 20;
  const Tensor x = leaf(full({block / sizeof(double)}, 0.5, Dtype::f64));
  Tape tape;
  const size_t before = memory::stats().bytes_in_use;
  Tensor y = x;
  for (int i = 0; i < 16; ++i) y = tanh(y);
  const size_t held = memory::stats().bytes_in_use;
  CHECK(held - before >= 16 * block);
  const Tensor loss = sum(y);
  y = Tensor();
  memory::reset_peak();
  tape.backward(loss);
  // Going down, activations are freed as fast as gradients are made: a few blocks of work beside those held.
  CHECK(memory::stats().peak_bytes <= held + 6 * block);
  // What is left is the leaf's gradient and the loss.
  CHECK(memory::stats().bytes_in_use <= before + block + 4096);
  CHECK(tape.nodes().empty());
}

TEST_CASE("a chain of 100000 ops does not overflow the stack") {
  const Tensor x = leaf(number(1));
  {
    Tape tape;
    tape.backward(chain(x, 100000));
    CHECK(x.grad().item() == 1);
  }
  Tape tape;
  chain(x, 100000);  // nor does a tape that ends without a backward
  CHECK(tape.recorded() == 100000);
}

TEST_CASE("a tensor from the last iteration's tape is an error, not a wrong gradient") {
  const Tensor x = leaf(number(3));
  Tensor carried = number(0);
  const auto step = [&] {
    Tape tape;  // at the same address in every iteration
    carried = carried + square(x);
    tape.backward(carried);
  };
  step();
  const std::string message = message_of(step);
  CHECK(message == "add: a tensor [] belongs to a tape that has ended; call detach() or keep one tape");
  carried = carried.detach();
  x.clear_grad();
  step();
  CHECK(x.grad().item() == 6);
}

// Nodes keep the address of a name: only a text that lives as long as the program has one to give.
static_assert(!std::is_constructible_v<Scope, const std::string*>);
static_assert(!std::is_constructible_v<OpName, std::string>);

TEST_CASE("names of modules and ops outlive the texts that they were made of") {
  const Tensor x = leaf(number(-1));
  Tape tape({.detect_anomaly = true});
  auto text = std::make_unique<std::string>("blocks.3.a long path, which no short string holds");
  std::optional<Scope> scope(std::in_place, *text);
  const Tensor y =
      record(Scope::intern(*text + " op"), number(1), {x}, [](const Tensor& dy) { return dy / 0.0; });
  scope.reset();
  *text = std::string(text->size(), '?');
  text.reset();
  CHECK(
      message_of([&] { tape.backward(y); }) ==
      "backward of blocks.3.a long path, which no short string holds op in blocks.3.a long path, which no short "
      "string holds: the gradient of input 0 [] is not finite");
}

TEST_CASE("each leaf has a gradient of its own, which can be assigned") {
  const Tensor a = leaf(number(1)), b = leaf(number(2)), w = leaf(ones({2, 3}, Dtype::f64));
  const Tensor dy = number(5);
  Tape tape;
  tape.backward(a + b + sum(w) + sum(transpose(w)), dy);
  Tensor da = a.grad(), dw = w.grad();
  assign(da, number(7));
  assign(dw, dw * 2);
  CHECK(a.grad().item() == 7);
  CHECK(b.grad().item() == 5);
  CHECK(dy.item() == 5);
  CHECK(w.grad().to_vector<double>() == Doubles(6, 20));
}

TEST_CASE("a long-lived tape forgets ops that no loss depends on") {
  const Tensor x = Rng(1).normal({8, 4}, 0, 1, Dtype::f64);
  Tensor w = leaf(ones({4}, Dtype::f64));
  Tape tape;
  size_t most = 0;
  for (int i = 0; i < 300; ++i) {
    const Tensor y = x * w, penalty = norm(w) + exp(w), squares = sum(square(y));
    tape.backward(mean(square(y - 1)));
    {
      const NoTape pause;
      assign(w, w - w.grad() * 0.01);
    }
    w.clear_grad();
    most = std::max(most, tape.nodes().size());
  }
  CHECK(most <= 20);  // of a step or two
}

TEST_CASE("an op that may still be walked back is not forgotten") {
  const Tensor x = leaf(number(3)), w = leaf(number(2));
  Tape tape;
  const Tensor kept = square(exp(x)), inner = kept * 2.0;
  std::optional<Tensor> gone = square(x);
  const Tensor of_gone = *gone * x;
  gone.reset();  // its node is needed all the same
  for (int i = 0; i < 100; ++i) tape.backward(w * w);
  CHECK(w.grad().item() == 400);
  tape.backward(of_gone);
  CHECK(x.grad().item() == 27);
  tape.backward(inner);
  CHECK(x.grad().item() == doctest::Approx(27 + 4 * std::exp(6.0)));
}

TEST_CASE("losses that share nothing are walked in any order, leaves shared or not") {
  const std::vector<std::vector<int>> orders = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const std::vector<int>& order : orders) {
    CAPTURE(order);
    const Tensor w = leaf(number(2)), v = leaf(number(3));
    Tape tape;
    const std::vector<Tensor> losses = {w * w * w, exp(v), w * v};
    for (const int i : order) tape.backward(losses[i]);
    CHECK(w.grad().item() == 12 + 3);
    CHECK(v.grad().item() == doctest::Approx(std::exp(3) + 2).epsilon(1e-15));
    CHECK(tape.nodes().empty());
    CHECK(message_of([&] { tape.backward(losses[0]); }).find("already used up by an earlier backward") !=
          std::string::npos);
  }
}

TEST_CASE("backward refuses a tensor of another tape, ended or not") {
  const Tensor x = leaf(number(3));
  Tensor carried;
  {
    Tape ended;
    carried = square(x);
  }
  Tape tape;
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

TEST_CASE("a higher-order tape keeps its nodes, and every derivative of exp is exp") {
  const Tensor x = leaf(number(0.7));
  Tape tape({.higher_order = true});
  Tensor y = exp(x);
  tape.gradient(y, {x});
  for (int order = 1; order <= 4; ++order) {
    y = tape.gradient(y, {x})[0];
    CHECK(y.item() == doctest::Approx(std::exp(0.7)).epsilon(1e-14));
  }
  CHECK(tape.nodes().size() == tape.recorded());
}

TEST_CASE("a gradient that depends on nothing has the gradient 0 on a higher-order tape") {
  const Tensor x = leaf(row({1, 2})), w = leaf(row({3, 4}));
  Tape tape({.higher_order = true});
  // The Hessian of a linear function, by x and by w, and by a value in the middle.
  const Tensor middle = x * 2.0;
  for (const Tensor& slope : tape.gradient(sum(middle) - sum(w), {x, w, middle}))
    for (const Tensor& second : tape.gradient(sum(slope), {x, w, middle}))
      CHECK(second.to_vector<double>() == Doubles{0, 0});
  Tensor y = sum(maximum(x, 0) * x);
  for (const double wanted : {2.0, 2.0, 0.0, 0.0}) {
    const Tensor slope = tape.gradient(y, {x})[0];
    CHECK(select(slope, 0, 0).item() == wanted);
    y = sum(slope);
  }
  tape.backward(y + sum(w));
  CHECK(w.grad().to_vector<double>() == Doubles{1, 1});
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("a gradient penalty can be trained: backward through a gradient") {
  // y = w x², dy/dx = 2 w x, penalty (2 w x)², its slope by w is 8 w x².
  const Tensor x = leaf(number(3)), w = leaf(number(0.5));
  Tape tape({.higher_order = true});
  const Tensor slope = tape.gradient(w * square(x), {x})[0];
  tape.backward(square(slope));
  CHECK(w.grad().item() == 8 * 0.5 * 9);
}

}  // namespace isobar::tape_test
