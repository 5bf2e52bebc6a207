// record(): ops of one's own, and what their closures must return.
#include <doctest/doctest.h>

#include "../../autograd/tape.h"
#include "../message_of.h"
#include "../small_tensors.h"

namespace isobar::record_test {

// The message of a backward through an op whose closure returns this.
template <class Closure>
std::string message_with(const std::vector<Tensor>& inputs, const Closure& closure) {
  Tape tape;
  std::vector<const Tensor*> pointers;
  for (const Tensor& x : inputs) pointers.push_back(&x);
  const Scope scope(Scope::intern("blocks.3.mine"));
  const Tensor y = record("mine", ones(inputs[0].shape(), inputs[0].dtype()), pointers, closure);
  const Tensor loss = sum(y);
  return message_of([&] { tape.backward(loss); });
}

TEST_CASE("a closure must return one gradient per input") {
  const Tensor a = leaf(number(1)), b = leaf(number(2));
  const auto message = [](const char* got, const char* wanted) {
    return std::string("backward of mine in blocks.3.mine: its closure returned ") + got + " for " + wanted +
           "; return one per input, undefined where there is none";
  };
  const auto many = [](size_t count) {
    return [count](const Tensor& dy) { return std::vector<Tensor>(count, dy); };
  };
  const auto three = [](const Tensor& dy) { return std::array{dy, dy, dy}; };
  CHECK(message_with({a, b}, [](Tensor dy) { return dy; }) == message("1 gradient", "2 inputs"));
  CHECK(message_with({a, b}, many(1)) == message("1 gradient", "2 inputs"));
  CHECK(message_with({a, b}, many(3)) == message("3 gradients", "2 inputs"));
  CHECK(message_with({a, b}, three) == message("3 gradients", "2 inputs"));
  CHECK(message_with({a}, many(0)) == message("0 gradients", "1 input"));
  CHECK(!a.grad().defined());
}

TEST_CASE("a closure must return the input's dtype and shape") {
  const Tensor x = leaf(f64(2, 3));
  const std::string wanted = "backward of mine in blocks.3.mine: the gradient of input 0 must be ";
  CHECK(message_with({x}, [](const Tensor& dy) { return cast(dy, Dtype::f32); }) == wanted + "f64, got f32");
  CHECK(message_with({x}, [](const Tensor& dy) { return transpose(dy); }) ==
        wanted + "[2, 3], got [3, 2]; is it transposed?");
  CHECK(message_with({x}, [](const Tensor& dy) { return sum(dy); }) ==
        wanted + "[2, 3], got []; spread it over the input with broadcast_to()");
}

TEST_CASE("a closure's gradient is summed over what was broadcast in y, and over nothing else") {
  const Tensor x = leaf(f64(1)), pair = leaf(f64(2));
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

TEST_CASE("a result that stands for something else is refused: an input, an earlier result, a weight") {
  const Tensor a = leaf(number(1)), b = leaf(number(2)), w = leaf(number(3)), cached = number(4);
  const auto op = [&](const Tensor& x, const Tensor& y) {
    return record("mine", y, {x}, [](const Tensor& dy) { return dy; });
  };
  Tape tape;
  CHECK(message_of([&] { op(a, a); }) ==
        "mine: its result is one of its inputs []; return a new tensor, such as x.detach()");
  const Tensor h = square(a);
  CHECK(!message_of([&] { op(h, h); }).empty());
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
  tape.backward(p + 10 * op(b, cached.detach()) + h);
  CHECK(a.grad().item() == 1 + 2);
  CHECK(b.grad().item() == 10);
  Tape next;  // the first use is over with its tape
  next.backward(op(b, number(1)));
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
  CHECK(dx[2].to_vector<double>() == Doubles(3, 0));
}

TEST_CASE(
    "gradient by a tensor that was frozen for a part of y is refused, and that part may be a constant") {
  Tensor x = leaf(row({1, 2, 3}));
  const Tensor w = leaf(number(3));
  for (const bool higher_order : {false, true}) {
    Tape tape({.higher_order = higher_order});
    const Tensor before = sum(square(x));
    x.set_trainable(false);
    const Tensor frozen = sum(x * w), detached = sum(x.detach() * w);
    x.set_trainable();
    const Tensor after = sum(exp(x));
    const std::string refused =
        "gradient: a tensor [3] was a constant when multiply used it; make it trainable before that";
    CHECK(message_of([&] { tape.gradient(frozen, {x}); }) == refused);
    CHECK(message_of([&] { tape.gradient(before + frozen, {w, x}); }) == refused);
    CHECK(message_of([&] { tape.gradient(after * frozen, {x, w}); }) == refused);
    // A loss without the frozen part, one with a constant, and one by other tensors.
    CHECK(tape.gradient(before + detached, {x})[0].to_vector<double>() == Doubles{2, 4, 6});
    CHECK(tape.gradient(after, {x})[0].to_vector<double>()[0] == doctest::Approx(std::exp(1.0)));
    CHECK(tape.gradient(frozen, {w})[0].item() == 6);
  }
}

}  // namespace isobar::record_test
