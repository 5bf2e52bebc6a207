// What ops and tapes say when they are used wrongly: the op, what was wanted, what came, and the repair.
#include <doctest/doctest.h>

#include "../autograd/gradcheck.h"
#include "../autograd/jacobian.h"
#include "../autograd/ops.h"
#include "../autograd/tape.h"
#include "../core/parallel.h"
#include "../core/raw.h"
#include "message_of.h"

namespace isobar::ops_error_test {
namespace {

Tensor f32(const Shape& shape) { return ones(shape); }
Tensor f64(const Shape& shape) { return ones(shape, Dtype::f64); }
Tensor integers(const std::vector<int64_t>& values) {
  return tensor(Shape{static_cast<int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("arithmetic names both shapes and the dimension that does not fit") {
  CHECK(message_of([] {
          add(f32({3, 5}), f32({4}));
        }) == "add: shapes [3, 5] and [4] do not broadcast (dimension -1: 5 against 4)");
  CHECK(message_of([] {
          f32({2, 3}) * f32({3, 3});
        }) == "multiply: shapes [2, 3] and [3, 3] do not broadcast (dimension -2: 2 against 3)");
}

TEST_CASE("mixed dtypes are refused, never promoted") {
  CHECK(message_of([] { f32({2}) - f64({2}); }) ==
        "subtract: operands must have one dtype, got f32 and f64; convert one with cast()");
  CHECK(message_of([] {
          matmul(f32({2, 2}), f64({2, 2}));
        }) == "matmul: operands must have one dtype, got f32 and f64; convert one with cast()");
  CHECK(message_of([] {
          linear(f32({2, 2}), f64({2, 2}));
        }) == "linear: x is f32 but weight is f64; convert one with cast()");
  CHECK(message_of([] {
          linear(f32({2, 2}), f32({2, 2}), f64({2}));
        }) == "linear: x is f32 but bias is f64; convert one with cast()");
  CHECK(message_of([] {
          layer_norm(f32({2, 4}), 4, f32({4}), f64({4}), 1e-5);
        }) == "layer_norm: x is f32 but bias is f64; convert one with cast()");
  CHECK(message_of([] {
          batch_norm(f32({2, 4}), f64({4}), {}, 1e-5);
        }) == "batch_norm: x is f32 but weight is f64; convert one with cast()");
  CHECK(message_of([] {
          group_norm(f32({2, 4}), 2, f32({4}), f64({4}), 1e-5);
        }) == "group_norm: x is f32 but bias is f64; convert one with cast()");
  CHECK(message_of([] {
          dyt(f32({2, 4}), f32({1}), f64({4}), {});
        }) == "dyt: x is f32 but weight is f64; convert one with cast()");
  CHECK(message_of([] {
          attention(f32({1, 2, 1, 2}), f32({1, 2, 1, 2}), f64({1, 2, 1, 2}));
        }) == "attention: q, k, v must have one dtype, got f32, f32, f64; convert with cast()");
  CHECK(message_of([] { swiglu(f32({2}), f64({2})); }) ==
        "swiglu: wanted tensors of one shape and dtype, got [2] f32 and [2] f64");
  CHECK(message_of([] {
          concat({f32({2}), f64({2})}, 0);
        }) == "concat: along dimension 0, [2] f32 and [2] f64 do not join");
}

TEST_CASE("integers are refused where numbers are wanted, and numbers where indices are") {
  CHECK(message_of([] { tanh(arange(3)); }) == "tanh: wanted f32 or f64, got i64");
  CHECK(message_of([] { arange(3) + arange(3); }) == "add: wanted f32 or f64, got i64");
  CHECK(message_of([] { softmax(arange(3)); }) == "softmax: wanted f32 or f64, got i64");
  CHECK(message_of([] { index_select(f32({3}), 0, f32({2})); }) ==
        "index_select: wanted integer indices (i32 or i64), got f32");
  CHECK(message_of([] {
          embedding(f32({2}), f32({3, 4}));
        }) == "embedding: wanted integer indices (i32 or i64), got f32");
  CHECK(message_of([] {
          cross_entropy(f32({2, 3}), f32({2}));
        }) == "cross_entropy: targets must be class indices (i32 or i64), got f32");
}

TEST_CASE("products name both shapes") {
  CHECK(message_of([] {
          matmul(f32({3, 5}), f32({4, 5}));
        }) ==
        "matmul: inner dimensions must match, got [3, 5] and [4, 5] (5 against 4); did you mean matmul(a, "
        "transpose(b))?");
  CHECK(message_of([] {
          matmul(f32({5}), f32({5, 4}));
        }) == "matmul: both must have at least 2 dimensions, got [5] and [5, 4]");
  CHECK(message_of([] {
          matmul(f32({2, 3, 5}), f32({3, 5, 4}));
        }) == "matmul: shapes [2] and [3] do not broadcast (dimension -1: 2 against 3)");
  CHECK(message_of([] {
          linear(f32({2, 5}), f32({3, 4}));
        }) == "linear: the last dimension of x [2, 5] must be 4 for weight [3, 4]");
  CHECK(message_of([] {
          linear(f32({2, 4}), f32({3, 4}), f32({4}));
        }) == "linear: bias must be [3] for weight [3, 4], got [4]");
  CHECK(message_of([] { linear(f32({2, 4}), f32({4})); }) == "linear: weight must be (out, in), got [4]");
  CHECK(message_of([] { embedding(integers({0}), f32({4})); }) ==
        "embedding: weight must be (V, C), got [4]");
}

TEST_CASE("an index out of range is named with its position") {
  CHECK(message_of([] {
          index_select(f32({4, 2}), 0, integers({0, 4}));
        }) == "index_select: index 4 at position 1 is outside of [0, 4)");
  CHECK(message_of([] {
          index_add(f32({4, 2}), 0, integers({-1}), f32({1, 2}));
        }) == "index_add: index -1 at position 0 is outside of [0, 4)");
  CHECK(message_of([] {
          embedding(integers({2, 7}), f32({7, 2}));
        }) == "embedding: index 7 at position 1 is outside of [0, 7)");
  CHECK(message_of([] {
          cross_entropy(f32({2, 3}), integers({1, 3}));
        }) == "cross_entropy: target 3 at position 1 is outside of [0, 3) and is not ignore_index -100");
}

TEST_CASE("losses name the shape that the targets should have") {
  CHECK(message_of([] {
          cross_entropy(f32({2, 3}), integers({1, 2, 0}));
        }) == "cross_entropy: targets must be [2] for logits [2, 3], got [3]");
  CHECK(message_of([] {
          linear_cross_entropy(f32({2, 4}), f32({3, 4}), integers({1, 2, 0}));
        }) == "linear_cross_entropy: targets must be [2] for x [2, 4], got [3]");
  CHECK(message_of([] {
          linear_cross_entropy(f32({2, 5}), f32({3, 4}), integers({1, 2}));
        }) == "linear_cross_entropy: the last dimension of x [2, 5] must be 4 for weight [3, 4]");
  CHECK(message_of([] {
          linear_cross_entropy(f32({2, 4}), f32({4}), integers({1, 2}));
        }) == "linear_cross_entropy: weight must be (classes, channels), got [4]");
  CHECK(message_of([] {
          linear_cross_entropy(f32({2, 4}), f64({3, 4}), integers({1, 2}));
        }) == "linear_cross_entropy: x is f32 but weight is f64; convert one with cast()");
  CHECK(message_of([] {
          linear_cross_entropy(f32({2, 4}), f32({3, 4}), integers({1, 3}));
        }) ==
        "linear_cross_entropy: target 3 at position 1 is outside of [0, 3) and is not ignore_index -100");
}

TEST_CASE("layouts name what does not fit") {
  CHECK(message_of([] { reshape(f32({2, 3}), {4}); }) == "reshape: [2, 3] has 6 elements, [4] has 4");
  CHECK(message_of([] { permute(f32({2, 3}), {0}); }) == "permute: 1 dimensions named for [2, 3]");
  CHECK(message_of([] { permute(f32({2, 3}), {0, -2}); }) == "permute: dimension 0 of [2, 3] is named twice");
  CHECK(message_of([] { transpose(f32({2, 3}), 0, 2); }) == "shape: [2, 3] has no dimension 2");
  CHECK(message_of([] {
          broadcast_to(f32({2, 3}), {2, 1});
        }) == "broadcast_to: [2, 3] does not broadcast to [2, 1]");
  CHECK(message_of([] {
          broadcast_to(f32({2, 3}), {2, 4});
        }) == "broadcast_to: shapes [2, 3] and [2, 4] do not broadcast (dimension -1: 3 against 4)");
  CHECK(message_of([] {
          sum_to_size(f32({2, 3}), {2});
        }) == "sum_to_size: shapes [2, 3] and [2] do not broadcast (dimension -1: 3 against 2)");
  CHECK(message_of([] {
          slice(f32({2, 3}), 1, 2, 4);
        }) == "slice: wanted 0 <= begin <= end <= 3 along dimension 1 of [2, 3], got 2 and 4");
  CHECK(message_of([] { concat({}, 0); }) == "concat: wanted at least one tensor");
  CHECK(message_of([] {
          concat({f32({2, 3}), f32({2, 4})}, 0);
        }) == "concat: along dimension 0, [2, 3] f32 and [2, 4] f32 do not join");
}

TEST_CASE("reductions name the axis") {
  CHECK(message_of([] { sum(f32({2, 3}), {2}); }) == "shape: [2, 3] has no dimension 2");
  CHECK(message_of([] { mean(f32({2, 3}), {1, -1}); }) == "reduction: axis 1 of [2, 3] is named twice");
  CHECK(message_of([] { max(f32({0, 3}), {0}); }) == "max: nothing to take the maximum of in [0, 3]");
}

TEST_CASE("norms name the shape that a parameter should have") {
  CHECK(message_of([] {
          layer_norm(f32({32, 128, 256}), 256, f32({128}), {}, 1e-5);
        }) == "layer_norm: weight must be [256] for x [32, 128, 256], got [128]");
  CHECK(message_of([] {
          layer_norm(f32({2, 4}), 4, f32({4}), f32({2}), 1e-5);
        }) == "layer_norm: bias must be [4] for x [2, 4], got [2]");
  CHECK(message_of([] {
          rms_norm(f32({2, 4}), 2, {}, 1e-5);
        }) == "rms_norm: normalized_shape [2] must be the last dimensions of x [2, 4]");
  CHECK(message_of([] {
          rms_norm(f32({2, 4}), 4, {}, 1e-5, 5);
        }) == "rms_norm: partial must be 0 to 4 for normalized_shape [4], got 5");
  CHECK(message_of([] { batch_norm(f32({4}), {}, {}, 1e-5); }) ==
        "batch_norm: wanted (N, C) or (N, C, L), got [4]");
  CHECK(message_of([] {
          batch_norm(f32({2, 4}), f32({2}), {}, 1e-5);
        }) == "batch_norm: weight must be [4] for x [2, 4], got [2]");
  CHECK(message_of([] {
          batch_norm(f32({2, 4}), {}, {}, 1e-5, f32({4}));
        }) == "batch_norm: give both mean and variance, or neither");
  CHECK(message_of([] {
          group_norm(f32({2, 4}), 3, {}, {}, 1e-5);
        }) == "group_norm: 3 groups do not divide 4 channels of x [2, 4]");
  CHECK(message_of([] {
          group_norm(f32({2, 4}), 2, f32({2}), {}, 1e-5);
        }) == "group_norm: weight must be [4] for x [2, 4], got [2]");
  CHECK(message_of([] {
          group_norm(f32({2, 4}), 2, {}, f32({1}), 1e-5);
        }) == "group_norm: bias must be [4] for x [2, 4], got [1]");
  CHECK(message_of([] { dyt(f32({2, 4}), f32({2}), f32({4}), {}); }) == "dyt: alpha must be [1], got [2]");
  CHECK(message_of([] {
          dyisru(f32({2, 4}), f32({1}), f32({2}), {});
        }) == "dyisru: weight [2] must have the last dimensions of x [2, 4]");
  CHECK(message_of([] {
          dyt(f32({2, 4}), f32({1}), f32({4}), f32({1}));
        }) == "dyt: bias must be [4] for x [2, 4], got [1]");
}

TEST_CASE("attention and rope name the shapes that do not fit") {
  CHECK(message_of([] {
          attention(f32({2, 4}), f32({2, 4}), f32({2, 4}));
        }) == "attention: wanted q (B, T, H, D) and k, v (B, S, K, D), got [2, 4] and [2, 4]");
  CHECK(message_of([] {
          attention(f32({1, 5, 3, 2}), f32({5, 2}), f32({5, 2}));
        }) == "attention: wanted q (B, T, H, D) and k, v (B, S, K, D), got [1, 5, 3, 2] and [5, 2]");
  CHECK(message_of([] {
          attention(f32({1, 5, 3, 2}), f32({1, 5, 3, 2}), f32({1, 5, 1, 2}));
        }) == "attention: k and v must have one shape, got [1, 5, 3, 2] and [1, 5, 1, 2]");
  CHECK(message_of([] {
          attention(f32({1, 5, 3, 2}), f32({1, 5, 2, 2}), f32({1, 5, 2, 2}));
        }) ==
        "attention: 2 key/value heads do not divide 3 query heads, for q [1, 5, 3, 2] and k [1, 5, 2, 2]; "
        "both are "
        "(B, T, H, D)");
  CHECK(message_of([] {
          attention(f32({1, 5, 1, 2}), f32({1, 3, 1, 2}), f32({1, 3, 1, 2}), {.causal = true});
        }) == "attention: causal needs at least as many keys as queries, got 3 and 5");
  CHECK(message_of([] { rope(f32({1, 2, 1, 3}), 1e4); }) == "rope: D must be even, got 3 in [1, 2, 1, 3]");
  CHECK(message_of([] { rope(f32({2, 4}), 1e4); }) == "rope: wanted (B, T, H, D), got [2, 4]");
  CHECK(message_of([] { rope(f32({1, 2, 1, 4}), 0); }) == "rope: wanted a base above 0, got 0");
}

TEST_CASE("numbers outside of their range are named") {
  CHECK(message_of([] { dropout(f32({2}), 1, Rng(1)); }) == "dropout: wanted a probability in [0, 1), got 1");
  CHECK(message_of([] { norm(f32({2}), 0); }) == "norm: wanted p > 0, got 0");
  CHECK(message_of([] { norm(f32({2}), -1, {0}); }) == "norm: wanted p > 0, got -1");
  CHECK(message_of([] { softcap(f32({2}), 0); }) == "softcap: wanted a cap above 0, got 0");
}

TEST_CASE("an undefined tensor says so") {
  CHECK(message_of([] { tanh(Tensor()); }) ==
        "tensor: this tensor is undefined (default-constructed); give it a value first");
}

TEST_CASE("backward wants a single number and offers the repair") {
  const Tensor x = f32({32}).set_trainable();
  Tape tape;
  CHECK(message_of([&] { tape.backward(tanh(x)); }) ==
        "backward: loss must be a single number, got [32]; did you mean mean(loss)?");
  CHECK(message_of([&] { tape.backward(tanh(x), f32({31})); }) ==
        "backward: dy must be [32] f32, got [31] f32");
}

TEST_CASE("backward of a loss that needs no gradient says why") {
  const Tensor x = f32({2});
  Tape tape;
  CHECK(message_of([&] { tape.backward(sum(x)); }) ==
        "backward: a tensor [] was not recorded on this tape; no input of it is trainable, or it was made "
        "before the tape or after detach()");
}

TEST_CASE("a tensor of an ended tape is refused in a new one") {
  const Tensor x = f32({2}).set_trainable();
  Tensor y;
  {
    Tape tape;
    y = tanh(x);
  }
  Tape tape;
  CHECK(message_of([&] { tanh(y); }) ==
        "tanh: a tensor [2] belongs to a tape that has ended; call detach() or keep one tape");
}

TEST_CASE("walking twice over one tape offers the repair") {
  const Tensor x = f32({}).set_trainable();
  Tape tape;
  const Tensor loss = square(x);
  tape.backward(loss);
  CHECK(message_of([&] { tape.backward(loss); }) ==
        "backward: part of this tape was already used up by an earlier backward; open it as Tape "
        "tape({.higher_order = true}) to walk twice");
}

TEST_CASE("tapes do not nest around or inside a higher-order one") {
  const std::string refusal =
      "tape: a higher-order tape cannot be nested (the inner tape would see the outer one's tensors as "
      "constants); take both gradients on one tape";
  Tape outer;
  CHECK(message_of([] { Tape inner({.higher_order = true}); }) == refusal);
  CHECK(Tape::active() == &outer);
}

TEST_CASE("a plain tape does not nest in a higher-order one") {
  Tape outer({.higher_order = true});
  CHECK(message_of([] { Tape inner; }).find("cannot be nested") != std::string::npos);
  CHECK(Tape::active() == &outer);
}

TEST_CASE("gradient on an outer tape is refused while an inner one records") {
  const Tensor x = f32({}).set_trainable();
  Tape outer;
  const Tensor y = square(x);
  Tape inner;
  CHECK(message_of([&] { outer.gradient(y, {x}); }) == "gradient: this tape is not the active one");
}

TEST_CASE("random ops on a tape without a key offer the repair") {
  Tape tape;
  CHECK(
      message_of([&] { tape.next_rng(); }) ==
      "tape: a random op, such as dropout, needs an Rng; open the tape as Tape tape({.rng = rng.split(step)}) "
      "so that every step draws other masks, and the same ones again on the next run");
}

TEST_CASE("an op inside parallel_for is refused on every thread") {
  const Tensor x = f32({2});
  CHECK(message_of([&] { parallel_for(8, 1, [&](int64_t, int64_t) { tanh(x); }); }) ==
        "tensor: ops may not be called inside parallel_for; call kernels there");
  CHECK(!inside_parallel());
}

TEST_CASE("an overwritten value is refused by the name of its op") {
  Tensor x = f32({2}).set_trainable();
  Tape tape;
  const Tensor loss = sum(square(x));
  raw::write<float>(x)[0] = 5;
  CHECK(message_of([&] { tape.backward(loss); }) ==
        "backward: input 0 [2] of square was overwritten after it was recorded; call backward before step()");
}

TEST_CASE("gradcheck refuses inputs that it could not check sharply") {
  const TensorFunction f = [](const std::vector<Tensor>& x) { return tanh(x[0]); };
  CHECK(message_of([&] { gradcheck(f, {f32({2})}); }) ==
        "gradcheck: input 0 must be f64 (differences of f32 numbers are too coarse), got f32; use "
        "cast(x, Dtype::f64)");
  CHECK(message_of([&] { gradcheck(f, {f64({2})}, {.order = 3}); }) ==
        "gradcheck: order must be 1 or 2, got 3");
  CHECK(message_of([&] { gradcheck(f, {}); }) == "gradcheck: none of the 0 inputs is f64");
}

TEST_CASE("jacobians names the input that is not f64") {
  CHECK(message_of([] {
          jacobians([](const std::vector<Tensor>& x) { return exp(x[0]); }, {{"x", f32({2})}});
        }) ==
        "jacobians: x must be f64 (differences of f32 numbers are too coarse); use cast(x, Dtype::f64)");
}

}  // namespace isobar::ops_error_test
