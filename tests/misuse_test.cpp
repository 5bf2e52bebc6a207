// What a student reads who holds something wrongly: the op or layer, its place in the model, what was wanted,
// what came, and the repair. ops_error_test.cpp has the ops one by one; these are the mistakes of whole
// programs.
#include <doctest/doctest.h>

#include "../autograd/ops.h"
#include "../autograd/tape.h"
#include "message_of.h"
#include "misuse.h"

namespace isobar::misuse_test {

namespace {

const Rng rng(1);

Tensor x(const Shape& shape) { return ones(shape); }
Tensor integers(const Shape& shape) { return zeros(shape, Dtype::i64); }
Tensor weight(const Shape& shape) { return ones(shape).set_trainable(); }

std::vector<Misuse> of_tensors() {
  return {
      {"values that do not fill the shape",
       [] {
         tensor({2, 3}, std::vector<float>{1, 2, 3, 4, 5});
       },
       "tensor: [2, 3] needs 6 values, got 5"},
      {"a negative extent",
       [] {
         zeros({2, -3});
       },
       "shape: extents must not be negative, got 2, -3"},
      {"seven dimensions",
       [] {
         zeros({1, 1, 1, 1, 1, 1, 1});
       },
       "shape: at most 6 dimensions, got 7"},
      {"item() of many numbers",
       [] {
         x({2, 3}).item();
       },
       "item: wanted a single number, got [2, 3]"},
      {"at() with too few indices",
       [] {
         x({2, 3}).at({1});
       },
       "at: wanted 2 indices for [2, 3], got 1"},
      {"at() outside",
       [] {
         x({2, 3}).at({1, 3});
       },
       "at: index 3 is outside of dimension 1 of [2, 3]"},
      {"data<double>() of f32", [] { x({2}).data<double>(); },
       "tensor: wanted elements of f64, this tensor holds f32"},
      {"an undefined tensor", [] { Tensor().shape(); },
       "tensor: this tensor is undefined (default-constructed); give it a value first"},
      {"training integers", [] { integers({3}).set_trainable(); },
       "trainable: only f32 and f64 tensors have gradients, this one holds i64"},
      {"integers from no range", [] { rng.integers({3}, 0); }, "integers: wanted a bound above 0, got 0"},
      {"a gradient of another shape", [] { weight({3}).set_grad(x({2})); },
       "set_grad: wanted [3] f32, got [2] f32"},
      {"assign() of another shape",
       [] {
         Tensor a = x({2, 3});
         assign(a, x({3, 2}));
       },
       "assign: wanted a contiguous target of [3, 2] f32, got [2, 3] f32"},
  };
}

std::vector<Misuse> of_ops() {
  return {
      {"adding a vector of another width",
       [] {
         x({4, 5}) + x({4});
       },
       "add: shapes [4, 5] and [4] do not broadcast (dimension -1: 5 against 4)"},
      {"matmul of x and w instead of x and wᵀ",
       [] {
         matmul(x({4, 5}), x({3, 5}));
       },
       "matmul: inner dimensions must match, got [4, 5] and [3, 5] (5 against 3); did you "
       "mean matmul(a, transpose(b))?"},
      {"linear with the weight transposed",
       [] {
         linear(x({4, 5}), x({5, 3}));
       },
       "linear: the last dimension of x [4, 5] must be 3 for weight [5, 3]; weight is (out, "
       "in): is it transposed?"},
      {"linear with a bias of the input's width",
       [] {
         linear(x({4, 5}), x({3, 5}), x({5}));
       },
       "linear: bias must be [3] for weight [3, 5], got [5]"},
      {"one-hot targets",
       [] {
         cross_entropy(x({4, 5}), x({4, 5}));
       },
       "cross_entropy: targets must be [4] for logits [4, 5], got [4, 5]; give the index of "
       "the class, not a row of zeros and a one"},
      {"targets as a column",
       [] {
         cross_entropy(x({4, 5}), integers({4, 1}));
       },
       "cross_entropy: targets must be [4] for logits [4, 5], got [4, 1]; reshape() them"},
      {"logits without a batch, targets with one", [] { cross_entropy(x({5}), integers({1})); },
       "cross_entropy: targets must be [] for logits [5], got [1]; reshape() them"},
      {"a class that is not there",
       [] {
         cross_entropy(x({1, 5}), tensor({1}, std::vector<int64_t>{5}));
       },
       "cross_entropy: target 5 at position 0 is outside of [0, 5) and is not ignore_index "
       "-100"},
      {"f32 and f64", [] { x({2}) * ones({2}, Dtype::f64); },
       "multiply: operands must have one dtype, got f32 and f64; convert one with cast()"},
      {"arithmetic on indices", [] { integers({2}) * integers({2}); },
       "multiply: wanted f32 or f64, got i64"},
      {"a reshape that loses elements",
       [] {
         reshape(x({4, 5}), {3, 5});
       },
       "reshape: [4, 5] has 20 elements, [3, 5] has 15"},
      {"an axis that is not there",
       [] {
         sum(x({4, 5}), {2});
       },
       "shape: [4, 5] has no dimension 2"},
      {"a slice beyond the end",
       [] {
         slice(x({4, 5}), 1, 3, 6);
       },
       "slice: wanted 0 <= begin <= end <= 5 along dimension 1 of [4, 5], got 3 and 6"},
      {"concat along the wrong dimension",
       [] {
         concat({x({4, 5}), x({4, 6})}, 0);
       },
       "concat: along dimension 0, [4, 5] f32 and [4, 6] f32 do not join"},
      {"an embedding of floats",
       [] {
         embedding(x({2, 3}), x({7, 4}));
       },
       "embedding: wanted integer indices (i32 or i64), got f32"},
      {"a word outside of the vocabulary",
       [] {
         embedding(tensor({1}, std::vector<int64_t>{7}), x({7, 4}));
       },
       "embedding: index 7 at position 0 is outside of [0, 7)"},
      {"heads and time swapped",
       [] {
         attention(x({2, 4, 8, 16}), x({2, 4, 3, 16}), x({2, 4, 3, 16}));
       },
       "attention: 3 key/value heads do not divide 8 query heads, for q [2, 4, 8, 16] and k "
       "[2, 4, 3, 16]; both are (B, T, H, D)"},
      {"attention with keys of another width",
       [] {
         attention(x({1, 2, 1, 4}), x({1, 2, 1, 6}), x({1, 2, 1, 6}));
       },
       "attention: q [1, 2, 1, 4] and k [1, 2, 1, 6] must agree in B and D"},
      {"values of another length than keys",
       [] {
         attention(x({1, 2, 1, 4}), x({1, 2, 1, 4}), x({1, 3, 1, 4}));
       },
       "attention: k and v must have one shape, got [1, 2, 1, 4] and [1, 3, 1, 4]"},
      {"a norm over another width",
       [] {
         layer_norm(x({2, 8}), 16, x({16}), x({16}), 1e-5);
       },
       "layer_norm: normalized_shape [16] must be the last dimensions of x [2, 8]"},
      {"a probability of 50", [] { dropout(x({2}), 50, rng); },
       "dropout: wanted a probability in [0, 1), got 50"},
  };
}

std::vector<Misuse> of_tapes() {
  return {
      {"backward from a vector",
       [] {
         const Tensor w = weight({3});
         Tape tape;
         tape.backward(w * 2);
       },
       "backward: loss must be a single number, got [3]; did you mean mean(loss)?"},
      {"backward of an undefined loss",
       [] {
         Tape tape;
         tape.backward(Tensor());
       },
       "backward: loss must be a single number, got an undefined tensor; give it a value "
       "first"},
      {"backward without anything to train",
       [] {
         Tape tape;
         tape.backward(sum(x({3}) * 2));
       },
       "backward: a tensor [] was not recorded on this tape; no input of it is trainable, "
       "or it was made before the tape or after detach()"},
      {"a loss computed before the tape",
       [] {
         const Tensor w = weight({3});
         const Tensor loss = sum(w * 2);
         Tape tape;
         tape.backward(loss);
       },
       "backward: a tensor [] was not recorded on this tape; no input of it is trainable, "
       "or it was made before the tape or after detach()"},
      {"backward twice",
       [] {
         const Tensor w = weight({3});
         Tape tape;
         const Tensor loss = sum(w * w);
         tape.backward(loss);
         tape.backward(loss);
       },
       "backward: part of this tape was already used up by an earlier backward; open it as "
       "Tape tape({.higher_order = true}) to walk twice"},
      {"a hidden state carried over",
       [] {
         const Tensor w = weight({3});
         Tensor state = x({3});
         for (int step = 0; step < 2; ++step) {
           Tape tape;
           state = state * w;
           tape.backward(sum(state));
         }
       },
       "multiply: a tensor [3] belongs to a tape that has ended; call detach() or keep one "
       "tape"},
      {"a gradient from above of another shape",
       [] {
         const Tensor w = weight({3});
         Tape tape;
         tape.backward(w * 2, x({2}));
       },
       "backward: dy must be [3] f32, got [2] f32"},
      {"the gradient of a constant",
       [] {
         const Tensor w = weight({3}), c = x({3});
         Tape tape;
         tape.gradient(sum(w * c), {c});
       },
       "gradient: a tensor [3] was not recorded on this tape; no input of it is trainable, "
       "or it was made before the tape or after detach()"},
      {"a backward of one's own that gives another shape",
       [] {
         const Tensor w = weight({3, 5});
         Tape tape;
         const Tensor y = record("my_op", sum(w.detach()), {w}, [](const Tensor&) { return ones({5, 3}); });
         tape.backward(y);
       },
       "backward of my_op: the gradient of input 0 must be [3, 5], got [5, 3]; is it "
       "transposed?"},
      {"a backward of one's own that does not spread dy",
       [] {
         const Tensor w = weight({3, 5});
         Tape tape;
         const Tensor y = record("my_sum", sum(w.detach()), {w}, [](const Tensor& dy) { return dy; });
         tape.backward(y);
       },
       "backward of my_sum: the gradient of input 0 must be [3, 5], got []; spread it over "
       "the input with broadcast_to()"},
      {"a NaN, where the tape detects it",
       [] {
         const Tensor w = weight({3});
         Tape tape({.detect_anomaly = true});
         log(w * -1);
       },
       "log: the result [3] is not finite"},
  };
}

}  // namespace

TEST_CASE("every misuse says what, where, wanted, got, and the repair") {
  size_t count = 0;
  for (const auto& part : {of_tensors(), of_ops(), of_tapes(), misuse_of_models()})
    for (const Misuse& misuse : part) {
      CAPTURE(misuse.what);
      CHECK(message_of(misuse.code) == misuse.message);
      ++count;
    }
  CHECK(count >= 50);
}

}  // namespace isobar::misuse_test
