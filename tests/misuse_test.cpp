// What a student reads who holds something wrongly: the op or layer, its place in the model, what was wanted,
// what came, and the repair. Here are tensors, ops and tapes; misuse_of_models.cpp has layers and training.
#include "misuse.h"

#include <doctest/doctest.h>

#include "../autograd/check/jacobian.h"
#include "../autograd/tape.h"
#include "../core/parallel.h"
#include "message_of.h"

namespace isobar::misuse_test {

using Floats = std::vector<float>;
using In = const Tensor&;

const Rng rng(1);

Tensor mask() { return zeros({2}, Dtype::boolean); }
std::vector<int> axes() { return {}; }
Tensor identity(const std::vector<Tensor>& x) { return x[0] * 1; }

// One row a line reads best: the formatter would spread each over four.
// clang-format off

std::vector<Misuse> of_tensors() {
  return {
      {[] { tensor({2, 3}, Floats(5)); }, "tensor: [2, 3] needs 6 values, got 5"},
      {[] { f32(2, 3).item(); }, "item: wanted a single number, got [2, 3]"},
      {[] { f32(0).item(); }, "item: wanted a single number, got [0]"},
      {[] { f32(2, 3).size(-3); }, "size: [2, 3] has no dimension -3; wanted -2 to 1"},
      {[] { f32(2, 3).at({1}); }, "at: wanted 2 indices for [2, 3], got 1"},
      {[] { f32(2, 3).at({1, 3}); }, "at: index 3 is outside of dimension 1 of [2, 3]"},
      {[] { f32(2, 3).at({-3, 0}); }, "at: index -3 is outside of dimension 0 of [2, 3]"},
      {[] { reshape(f32(2, 3), {-1, -1}); }, "reshape: wanted at most one −1, got [-1, -1]"},
      {[] { unsqueeze(f32(2, 3), -4); }, "unsqueeze: wanted -3 to 2 for [2, 3], got -4"},
      {[] { reshape(f32(2, 3), {4, -1}); }, "reshape: [2, 3] has 6 elements, no multiple of [4, -1]"},
      {[] { tensor({2, 0.5}, Dtype::i32); },
       "tensor: no i32 is 0.5; give an integer, or cast() to f32 or f64"},
      {[] { i64(3) + 0.5; }, "add: no i64 is 0.5; give an integer, or cast() the tensor to f32 or f64"},
      {[] { i64(3) * 0.5; }, "multiply: no i64 is 0.5; give an integer, or cast() the tensor to f32 or f64"},
      {[] { full({}, 65536, Dtype::i32) * 65536; },
       "multiply: no i32 is the result of 65536 and 65536"},
      {[] { -(full({}, -0x1p53, Dtype::i64) * 1024); },
       "multiply: no i64 is the result of -9223372036854775808 and -1"},
      {[] { f32(2).data<double>(); }, "tensor: wanted elements of f64, this tensor holds f32"},
      {[] { Tensor x = f32(2); raw::write<int32_t>(x); },
       "tensor: wanted elements of i32, this tensor holds f32"},
      {[] { dtype_from_name("f16"); }, "dtype: wanted f32, f64, i32, i64 or bool, got 'f16'"},
      {[] { dispatch_float("relu", Dtype::i32, []<class T>() {}); }, "relu: wanted f32 or f64, got i32"},
      {[] { Tensor().shape(); },
       "tensor: this tensor is undefined (default-constructed); give it a value first"},
      {[] { tanh(Tensor()); },
       "tensor: this tensor is undefined (default-constructed); give it a value first"},
      {[] { i64(3).set_trainable(); },
       "trainable: only f32 and f64 tensors have gradients, this one holds i64"},
      {[] { weight(3).set_grad(f32(2)); }, "set_grad: wanted [3] f32, got [2] f32"},
      {[] { weight(2).set_grad(f64(2)); }, "set_grad: wanted [2] f32, got [2] f64"},
      {[] { Tensor x = f32(2, 3); assign(x, f32(3, 2)); },
       "assign: wanted a contiguous target of [3, 2] f32, got [2, 3] f32"},
      {[] { Tensor x = f32(3, 2); assign(x, f64(3, 2)); },
       "assign: wanted a contiguous target of [3, 2] f64, got [3, 2] f32"},
      {[] { Tensor x = transpose(f32(2, 3)); assign(x, f32(3, 2)); },
       "assign: wanted a contiguous target of …"},
      {[] { arange(-1); }, "arange: wanted a count of at least 0, got -1"},
      {[] { arange((1 << 24) + 1, Dtype::f32); }, "arange: f32 counts to 16777216 exactly, got 16777217"},
      {[] { full({1}, 0.5, Dtype::i64); },
       "full: no i64 is 0.5; give an integer, or cast() to f32 or f64"},
      {[] { full({1}, 2, Dtype::boolean); }, "full: an element of a mask is 0 or 1, not 2"},
      {[] { raw::as_strided(f32(2), {4}, {1000}); },
       "as_strided: [4] with strides [1000] at offset 0 reaches outside of a storage of 2 elements"},
      {[] { rng.integers({3}, 0); }, "integers: wanted a bound above 0, got 0"},
      {[] { rng.integers({3}, -4); }, "integers: wanted a bound above 0, got -4"},
      {[] { rng.below(0, 0); }, "rng: wanted a bound above 0"},
      {[] { std::vector<double> draws(2); rng.uniforms(3, draws); },
       "rng: uniforms wants an even first draw, got 3"},
      {[] { rng.normal({3}, 0, 1, Dtype::i64); }, "normal: wanted f32 or f64, got i64"},
      {[] { set_threads(0); }, "threads: wanted 1 to 1024, got 0"},
      {[] { set_threads(1025); }, "threads: wanted 1 to 1024, got 1025"},
      {[] { parallel_for(4, 0, [](int64_t, int64_t) {}); }, "parallel_for: wanted a grain above 0, got 0"},
  };
}

std::vector<Misuse> of_elementwise_ops() {
  return {
      {[] { f32(3, 5) + f32(4); }, "add: shapes [3, 5] and [4] do not broadcast (dimension -1: 5 against 4)"},
      {[] { f32(2, 3) * f32(3, 3); },
       "multiply: shapes [2, 3] and [3, 3] do not broadcast (dimension -2: 2 against 3)"},
      {[] { f32(3, 5) / norm(f32(3, 5), 2, -1); },
       "divide: shapes [3, 5] and [3] do not broadcast (dimension -1: 5 against 3); is one the mean, sum or norm of "
       "the other? Then keep its dimensions: keepdim = true"},
      {[] { f32(3) + f32(3, 4, 5); },
       "add: shapes [3] and [3, 4, 5] do not broadcast (dimension -1: 3 against 5); is one the mean, sum or norm of "
       "the other? Then keep its dimensions: keepdim = true"},
      {[] { repeat(f32(2, 3), {2}); },
       "repeat: wanted a size for each of the 2 dimensions of [2, 3], and at most 6 in all, got [2]"},
      {[] { repeat(f32(3), {-1}); }, "repeat: wanted sizes of at least 0, got [-1]"},
      {[] { nonzero(f32()); }, "nonzero: wanted at least one dimension, got a single number; reshape() it to {1}"},
      {[] { linspace(0, 1, -1); }, "linspace: wanted at least 0 steps, got -1"},
      {[] { linspace(0, 1, 3, Dtype::i64); }, "linspace: wanted f32 or f64, got i64"},
      {[] { arange(3, 2); }, "arange: wanted begin <= end, less than 2^63 apart, got 3 and 2"},
      {[] { (void)fmt::format("{:d}", f32(3)); },
       "print: the format 'd' does not fit an element of f32: …"},
      {[] { f32(2) - f64(2); },
       "subtract: operands must have one dtype, got f32 and f64; convert one with cast()"},
      {[] { i64(3) + cast(i64(3), Dtype::i32); },
       "add: operands must have one dtype, got i64 and i32; convert one with cast()"},
      {[] { i64(3) / i64(3); },
       "divide: wanted f32 or f64, got i64; cast() it, and take floor() of the quotient where that is meant"},
      {[] { divide(i64(3), 2); },
       "divide: wanted f32 or f64, got i64; cast() it, and take floor() of the quotient where that is meant"},
      {[] { tanh(i64(3)); }, "tanh: wanted f32 or f64, got i64"},
      {[] { exp(mask()); }, "exp: wanted f32 or f64, got bool; convert the mask with cast()"},
      {[] { mask() + mask(); }, "add: wanted f32 or f64, got bool; convert the mask with cast()"},
      {[] { any(f64(2)); }, "any: wanted a mask (bool), got f64; compare first, as in any(x != 0)"},
      {[] { where(f64(2), f64(2), f64(2)); },
       "where: wanted a mask (bool), got f64; compare first, as in x != 0"},
      {[] { (void)(Operand(1) < Operand(2)); }, "less: wanted a tensor and a number, got two numbers"},
      {[] { static_cast<void>(f64(2) == mask()); },
       "equal: operands must have one dtype, got f64 and bool; convert one with cast()"},
      {[] { swiglu(f32(2), f64(2)); },
       "swiglu: wanted tensors of one shape and dtype, got [2] f32 and [2] f64"},
      {[] { dropout(f32(2), 1, rng); }, "dropout: wanted a probability in [0, 1), got 1"},
      {[] { dropout(f32(2), 50, rng); }, "dropout: wanted a probability in [0, 1), got 50"},
      {[] { softcap(f32(2), 0); }, "softcap: wanted a cap above 0, got 0"},
      {[] { clamp(f32(1), {}); }, "clamp: wanted min, max or both, got neither"},
      {[] { clamp(f32(1), NAN); }, "clamp: wanted numbers as bounds, got min nan and max inf"},
      {[] { clamp(f32(1), 0, NAN); }, "clamp: wanted numbers as bounds, got min 0 and max nan"},
      {[] { dyt_sqrtd(f32(2), f32(1), {}, {}); },
       "dyt_sqrtd: weight is undefined, and must have the last dimensions of x [2]"},
      {[] { maximum(1, 2); }, "maximum: wanted a tensor and a number, got two numbers"},
  };
}

std::vector<Misuse> of_products() {
  return {
      {[] { matmul(f32(2, 2), f64(2, 2)); },
       "matmul: operands must have one dtype, got f32 and f64; convert one with cast()"},
      {[] { matmul(f32(3, 5), f32(4, 5)); },
       "matmul: inner dimensions must match, got [3, 5] and [4, 5] (5 against 4); did you mean matmul(a, "
       "transpose(b))?"},
      {[] { matmul(f32(), f32(5, 4)); },
       "matmul: both must have at least 1 dimension, got [] and [5, 4]; multiply by a single number with *"},
      {[] { matmul(f32(4), f32(5, 4)); }, "matmul: inner dimensions must match, got [4] and [5, 4] (4 against 5)"},
      {[] { matmul(f32(3, 5), f32(4)); }, "matmul: inner dimensions must match, got [3, 5] and [4] (5 against 4)"},
      {[] { matmul(f32(2, 3, 5), f32(3, 5, 4)); },
       "matmul: shapes [2] and [3] do not broadcast (dimension -1: 2 against 3)"},
      {[] { linear(f32(4, 5), f32(5, 3)); },
       "linear: the last dimension of x [4, 5] must be 3 for weight [5, 3]; weight is (out, in): is it "
       "transposed?"},
      {[] { linear(f32(2, 5), f32(3, 4)); },
       "linear: the last dimension of x [2, 5] must be 4 for weight [3, 4]"},
      {[] { linear(f32(4, 5), f32(3, 5), f32(5)); }, "linear: bias must be [3] for weight [3, 5], got [5]"},
      {[] { linear(f32(2, 4), f32(4)); }, "linear: weight must be (out, in), got [4]"},
      {[] { linear(f32(2, 2), f64(2, 2)); }, "linear: x is f32 but weight is f64; convert one with cast()"},
      {[] { linear(f32(2, 2), f32(2, 2), f64(2)); },
       "linear: x is f32 but bias is f64; convert one with cast()"},
      {[] { einsum("ii->i", {f64(2, 2)}); },
       "einsum: cannot read \"ii->i\": 'i' occurs twice in \"ii\"; wanted one or two operands of distinct "
       "letters, as in \"bij,bjk->bik\""},
      {[] { einsum("...ij->...ji", {f64(2, 2)}); },
       "einsum: cannot read \"...ij->...ji\": '.' is not a letter; wanted one or two operands of distinct "
       "letters, as in \"bij,bjk->bik\""},
      {[] { einsum("ij,jk,kl->il", {f64(2, 2), f64(2, 2), f64(2, 2)}); },
       "einsum: cannot read \"ij,jk,kl->il\" with 3 operands; wanted one or two operands of distinct "
       "letters, as in \"bij,bjk->bik\""},
      {[] { einsum("ij,jk->ik", {f64(2, 2)}); }, "einsum: \"ij,jk->ik\" names 2 operands, got 1 tensors"},
      {[] { einsum("ijk->i", {f64(2, 2)}); }, "einsum: \"ijk\" of \"ijk->i\" needs 3 dimensions, got [2, 2]"},
      {[] { einsum("ij->ik", {f64(2, 2)}); },
       "einsum: the output of \"ij->ik\" has the letter 'k', which no operand has"},
      {[] { einsum("ij,jk->ik", {f64(2, 2), f64(3, 2)}); },
       "einsum: 'j' is 2 in \"ij\" [2, 2] and 3 in \"jk\" [3, 2]"},
  };
}

std::vector<Misuse> of_indices() {
  return {
      {[] { embedding(f32(2, 3), f32(7, 4)); }, "embedding: wanted integer indices (i32 or i64), got f32; make them so, tensor({0, 2}, Dtype::i64), or "
       "cast() them"},
      {[] { embedding(i64(1), f32(4)); }, "embedding: weight must be (V, C), got [4]"},
      {[] { embedding(integers(2, 7), f32(7, 2)); }, "embedding: index 7 at position 1 is outside of [0, 7)"},
      {[] { index_select(f32(3), 0, f32(2)); }, "index_select: wanted integer indices (i32 or i64), got f32; make them so, tensor({0, 2}, Dtype::i64), or "
       "cast() them"},
      {[] { index_select(f32(2), 0, mask()); },
       "index_select: wanted integer indices (i32 or i64), got bool; make them so, tensor({0, 2}, Dtype::i64), or "
       "cast() them"},
      {[] { index_select(f32(4, 2), 0, integers(0, 4)); },
       "index_select: index 4 at position 1 is outside of [0, 4)"},
      {[] { index_add(f32(4, 2), 0, integers(-1), f32(1, 2)); },
       "index_add: index -1 at position 0 is outside of [0, 4)"},
      {[] { index_add(f32(3, 4), 0, i64(2), f32(1, 4)); },
       "index_add: src must be x [3, 4] with one row for each index along dimension 0, got [1, 4] for "
       "indices [2]"},
      {[] { gather(f32(3, 4), 0, i64(2)); },
       "gather: index must have 2 dimensions, none but dimension 0 longer than those of x [3, 4], got [2]"},
      {[] { gather(f32(3, 4), 1, i64(4, 1)); },
       "gather: index must have 2 dimensions, none but dimension 1 longer than those of x [3, 4], got [4, "
       "1]"},
      {[] { gather(f32(3, 4), 1, reshape(integers(4), {1, 1})); },
       "gather: index 4 at position 0 is outside of [0, 4)"},
      {[] { scatter_add(f32(3, 4), 0, reshape(integers(0, 1, 0, -1), {2, 2}), f32(2, 2)); },
       "scatter_add: index -1 at position 3 is outside of [0, 3)"},
      {[] { scatter_add(f32(3, 4), 0, i64(2, 2), f32(1, 2)); },
       "scatter_add: src must be at least as large as index [2, 2] in every dimension, got [1, 2]"},
      {[] { scatter_add(i64(3), 0, i64(2), i64(2)); },
       "scatter_add: wanted x and src of f32 or f64, got i64; cast() both: counts in Dtype::f64 are exact below 2^53"},
      {[] { index_add(i64(3), 0, i64(2), i64(2)); },
       "index_add: wanted x and src of f32 or f64, got i64; cast() both: counts in Dtype::f64 are exact below 2^53"},
      {[] { one_hot(i64(1) + 3, 3); }, "one_hot: index 3 at position 0 is outside of [0, 3)"},
      {[] { select(f32(2, 3), 0, -3); }, "select: index -3 is outside of dimension 0 of [2, 3]"},
      {[] { topk(f32(2, 3), 4); }, "topk: wanted 0 <= k <= 3 along dimension 1 of [2, 3], got 4"},
  };
}

std::vector<Misuse> of_losses() {
  return {
      {[] { cross_entropy(f32(2, 3), f32(2)); },
       "cross_entropy: targets must be class indices (i32 or i64), got f32"},
      {[] { cross_entropy(f32(4, 5), f32(4, 5)); },
       "cross_entropy: targets must be [4] for logits [4, 5], got [4, 5]; give the index of the class, not "
       "a row of zeros and a one"},
      {[] { cross_entropy(f32(4, 5), i64(4, 1)); },
       "cross_entropy: targets must be [4] for logits [4, 5], got [4, 1]; reshape() them"},
      {[] { cross_entropy(f32(2, 3, 4), i64(2, 4)); },
       "cross_entropy: targets must be [2, 3] for logits [2, 3, 4], got [2, 4]; give .dim = 1"},
      {[] { cross_entropy(f32(5), i64(), {.dim = 7}); }, "cross_entropy: [5] has no dimension 7; wanted -1 to 0"},
      {[] { cross_entropy(f32(5), i64(1)); },
       "cross_entropy: targets must be [] for logits [5], got [1]; reshape() them"},
      {[] { cross_entropy(f32(2, 3), i64(3)); },
       "cross_entropy: targets must be [2] for logits [2, 3], got [3]"},
      {[] { cross_entropy(f32(2, 3), integers(1, 3)); },
       "cross_entropy: target 3 at position 1 is outside of [0, 3) and is not ignore_index -100"},
      {[] { cross_entropy(f32(2, 3), i64(2), {.label_smoothing = 1}); },
       "cross_entropy: wanted a label_smoothing in [0, 1), got 1"},
      {[] { cross_entropy(f32(2, 3), i64(2), {.weight = f32(2)}); },
       "cross_entropy: weight must be [3] for logits [2, 3], got [2]"},
      {[] { cross_entropy(f32(2, 3), i64(2), {.weight = weight(3)}); },
       "cross_entropy: a weight of the classes is a constant, and this one wants a gradient; detach() it"},
      {[] { linear_cross_entropy(f32(2, 4), f32(3, 4), i64(3)); },
       "linear_cross_entropy: targets must be [2] for x [2, 4], got [3]"},
      {[] { linear_cross_entropy(f32(2, 5), f32(3, 4), i64(2)); },
       "linear_cross_entropy: the last dimension of x [2, 5] must be 4 for weight [3, 4]"},
      {[] { linear_cross_entropy(f32(), f32(3, 4), i64()); },
       "linear_cross_entropy: the last dimension of x [] must be 4 for weight [3, 4]"},
      {[] { linear_cross_entropy(f32(2, 4), f32(4), i64(2)); },
       "linear_cross_entropy: weight must be (classes, channels), got [4]"},
      {[] { linear_cross_entropy(f32(2, 4), f64(3, 4), i64(2)); },
       "linear_cross_entropy: x is f32 but weight is f64; convert one with cast()"},
      {[] { linear_cross_entropy(f32(2, 4), f32(3, 4), integers(1, 3)); },
       "linear_cross_entropy: target 3 at position 1 is outside of [0, 3) and is not ignore_index -100"},
      {[] { huber_loss(f32(2), f32(2), 0); }, "huber_loss: wanted a delta above 0, got 0"},
  };
}

std::vector<Misuse> of_layouts() {
  return {
      {[] { reshape(f32(2), {1, 1, 1, 1, 1, 1, 2}); },
       "reshape: wanted at most 6 dimensions for [2], got [1, 1, 1, 1, 1, 1, 2]"},
      {[] { reshape(f32(2), {-2, -1}); }, "reshape: wanted extents of at least 0, or one -1, for [2], got [-2, -1]"},
      {[] { unsqueeze(f32(1, 1, 1, 1, 1, 1), 0); },
       "unsqueeze: [1, 1, 1, 1, 1, 1] has no room for a new dimension; a tensor has at most 6"},
      {[] { reshape(f32(4, 5), {3, 5}); }, "reshape: [4, 5] has 20 elements, [3, 5] has 15"},
      {[] { permute(f32(2, 3), {0}); }, "permute: 1 dimensions named for [2, 3]"},
      {[] { permute(f32(2, 3), {0, -2}); }, "permute: dimension 0 of [2, 3] is named twice"},
      {[] { transpose(f32(2, 3), 0, 2); }, "transpose: [2, 3] has no dimension 2; wanted -2 to 1"},
      {[] { broadcast_to(f32(2, 3), {2, 1}); }, "broadcast_to: [2, 3] does not broadcast to [2, 1]"},
      {[] { broadcast_to(f32(2, 3), {2, 4}); },
       "broadcast_to: shapes [2, 3] and [2, 4] do not broadcast (dimension -1: 3 against 4)"},
      {[] { sum_to_size(f32(2, 3), {2}); },
       "sum_to_size: shapes [2, 3] and [2] do not broadcast (dimension -1: 3 against 2); is one the mean, sum or norm "
       "of the other? Then keep its dimensions: keepdim = true"},
      {[] { slice(f32(2, 3), 1, 2, 4); },
       "slice: wanted 0 <= begin <= end <= 3 along dimension 1 of [2, 3], got 2 and 4"},
      {[] { concat({}, 0); }, "concat: wanted at least one tensor"},
      {[] { concat({f32(2, 3), f32(2, 4)}, 0); },
       "concat: along dimension 0, [2, 3] f32 and [2, 4] f32 do not join"},
      {[] { concat({f32(2), f64(2)}, 0); }, "concat: along dimension 0, [2] f32 and [2] f64 do not join"},
      {[] { stack({}); }, "stack: wanted at least one tensor"},
      {[] { stack({f64(2)}, 3); }, "stack: [2] has no room for a new dimension 3"},
      {[] { stack({f64(2), f64(3)}); },
       "stack: wanted tensors of one shape and dtype, got [2] f64 and [3] f64"},
      {[] { split(f32(5), 0); }, "split: cannot cut 5 rows into pieces of 0"},
      {[] { split(f32(5), {2, 2}); }, "split: the sizes 2, 2 must add up to 5, dimension 0 of [5]"},
      {[] { split(f32(5), {7, -2}); }, "split: the sizes 7, -2 must add up to 5, dimension 0 of [5]"},
      {[] { flip(f32(2, 3), {0, -2}); }, "flip: dimension 0 of [2, 3] is named twice"},
      {[] { tril(f32(3)); }, "tril: wanted matrices in the last two dimensions, got [3]"},
      {[] { triu(f32()); }, "triu: wanted matrices in the last two dimensions, got []"},
      {[] { pad(f32(2, 3), {-2, -2}); },
       "pad: -2 and -2 do not fit dimension 1 of [2, 3]; a negative amount may take away up to 3 in all"},
      {[] { pad(f32(2, 3), {0, 0, 5, -3}); },
       "pad: 5 and -3 do not fit dimension 0 of [2, 3]; a negative amount may take away up to 2 in all"},
      {[] { pad(f32(3), {-5, 10}); },
       "pad: -5 and 10 do not fit dimension 0 of [3]; a negative amount may take away up to 3 in all"},
      {[] { pad(f32(2), {1}); },
       "pad: wanted two numbers for each of the last dimensions of [2], got 1 numbers"},
  };
}

// Every op that takes a dimension, on one that its tensor does not have: the sentence begins with the op.
std::vector<Misuse> of_dimensions() {
  const std::vector<std::pair<std::string, std::function<void(const Tensor& x, int dim)>>> ops{
      {"size", [](In x, int dim) { x.size(dim); }},
      {"squeeze", [](In x, int dim) { squeeze(x, dim); }},
      {"permute", [](In x, int dim) { permute(x, {0, dim}); }},
      {"transpose", [](In x, int dim) { transpose(x, 0, dim); }},
      {"flip", [](In x, int dim) { flip(x, {dim}); }},
      {"slice", [](In x, int dim) { slice(x, dim, 0, 1); }},
      {"select", [](In x, int dim) { select(x, dim, 0); }},
      {"concat", [](In x, int dim) { concat({x, x}, dim); }},
      {"split", [](In x, int dim) { split(x, 1, dim); }},
      {"split", [](In x, int dim) { split(x, {1, 1}, dim); }},
      {"roll", [](In x, int dim) { roll(x, 1, dim); }},
      {"index_select", [](In x, int dim) { index_select(x, dim, i64(1)); }},
      {"index_add", [](In x, int dim) { index_add(x, dim, i64(1), x); }},
      {"gather", [](In x, int dim) { gather(x, dim, i64(1, 1)); }},
      {"scatter_add", [](In x, int dim) { scatter_add(x, dim, i64(1, 1), x); }},
      {"sort", [](In x, int dim) { sort(x, dim); }},
      {"topk", [](In x, int dim) { topk(x, 1, dim); }},
      {"sum", [](In x, int dim) { sum(x, dim); }},
      {"mean", [](In x, int dim) { mean(x, dim); }},
      {"max", [](In x, int dim) { max(x, dim); }},
      {"min", [](In x, int dim) { min(x, dim); }},
      {"argmax", [](In x, int dim) { argmax(x, dim); }},
      {"argmin", [](In x, int dim) { argmin(x, dim); }},
      {"max_with_indices", [](In x, int dim) { max_with_indices(x, dim); }},
      {"min_with_indices", [](In x, int dim) { min_with_indices(x, dim); }},
      {"var", [](In x, int dim) { var(x, dim); }},
      {"std_dev", [](In x, int dim) { std_dev(x, dim); }},
      {"norm", [](In x, int dim) { norm(x, 2, dim); }},
      {"norm", [](In x, int dim) { norm(x, 1, dim); }},
      {"norm", [](In x, int dim) { norm(x, INFINITY, dim); }},
      {"logsumexp", [](In x, int dim) { logsumexp(x, dim); }},
      {"any", [](In x, int dim) { any(x > 0, dim); }},
      {"all", [](In x, int dim) { all(x > 0, dim); }},
      {"cumsum", [](In x, int dim) { cumsum(x, dim); }},
      {"softmax", [](In x, int dim) { softmax(x, dim); }},
      {"log_softmax", [](In x, int dim) { log_softmax(x, dim); }},
      {"cross_entropy", [](In x, int dim) { cross_entropy(x, i64(2), {.dim = dim}); }},
  };
  std::vector<Misuse> all{{[] { softmax(number(3), 0); }, "softmax: [] has no dimension 0; it is a single number"},
                          {[] { sum(number(3), 0); }, "sum: [] has no dimension 0; it is a single number"},
                          {[] { max_pool2d(f32(1, 1, 4, 4), {2, 2, 2}); },
                           "max_pool2d: kernel_size must be one number, or one for each of 2 dimensions, got 3"}};
  for (const auto& [name, op] : ops)
    for (const int dim : {2, -3})
      all.push_back({[op = op, dim] { op(f32(2, 3), dim); },
                     fmt::format("{}: [2, 3] has no dimension {}; wanted -2 to 1", name, dim)});
  return all;
}

std::vector<Misuse> of_reductions() {
  return {
      {[] { sum(f32(2, 3), {2}); }, "sum: [2, 3] has no dimension 2; wanted -2 to 1"},
      {[] { sum(f32(2), {0, 0, 0, 0, 0, 0, 0}); },
       "sum: 7 dimensions of [2] are named, and a tensor has at most 6"},
      {[] { mean(f32(2, 3), {1, -1}); }, "mean: dimension 1 of [2, 3] is named twice"},
      {[] { max(f32(0, 3), {0}); }, "max: nothing to take the maximum of in [0, 3]"},
      {[] { sum(f32(2, 3), 2); }, "sum: [2, 3] has no dimension 2; wanted -2 to 1"},
      {[] { mean(f32(2, 3), int64_t{1} << 40); }, "dims: a tensor has no dimension 1099511627776"},
      {[] { sum(full({2}, -0x1p62, Dtype::i64) * 2); }, "sum: a sum of i64 [2] does not fit in an i64; cast() it to f64 first"},
      {[] { cumsum(i64(3), 0); },
       "cumsum: wanted f32 or f64, got i64; cast() it: cumsum(cast(x, Dtype::f64), 0) is exact below 2^53"},
      {[] { argmax(f32(2, 3), {0, 1}); }, "argmax: wanted one dimension of [2, 3], got 2"},
      {[] { sort(f32(2, 3), std::nullopt); }, "sort: wanted one dimension of [2, 3], got all"},
      {[] { argmax(f32(2, 0), 1); }, "argmax: nothing to choose from in [2, 0]"},
      {[] { max_with_indices(f32(2, 0), 1); }, "max_with_indices: nothing to choose from in [2, 0]"},
      {[] { norm(f32(2), 0); }, "norm: wanted p > 0, got 0"},
      {[] { norm(f32(2), -1, {0}); }, "norm: wanted p > 0, got -1"},
      {[] { softmax(number(3)); }, "softmax: wanted at least one dimension, got []"},
      {[] { softmax(i64(3)); }, "softmax: wanted f32 or f64, got i64"},
      {[] { sum(f32(2), axes()); }, "sum: the list of dimensions of [2] is empty; leave it out to reduce all of them"},
      {[] { var(f32(2), axes()); }, "var: the list of dimensions of [2] is empty; leave it out to reduce all of them"},
      {[] { norm(f32(2), 2, axes()); }, "norm: the list of dimensions of [2] is empty; leave it out to reduce all of them"},
      {[] { norm(f32(2), 1, axes()); }, "norm: the list of dimensions of [2] is empty; leave it out to reduce all of them"},
      {[] { sort(f32(2), axes()); }, "sort: wanted one dimension of [2], got 0"},
      {[] { argmin(f32(2), {0, 0, 0, 0, 0, 0, 0}); }, "argmin: wanted one dimension of [2], got 7"},
  };
}

std::vector<Misuse> of_norms() {
  return {
      {[] { layer_norm(f32(32, 128, 256), 256, f32(128), {}, 1e-5); },
       "layer_norm: weight must be [256] for x [32, 128, 256], got [128]"},
      {[] { layer_norm(f32(2, 4), 4, f32(4), f32(2), 1e-5); },
       "layer_norm: bias must be [4] for x [2, 4], got [2]"},
      {[] { layer_norm(f32(2, 4), 4, f32(4), f64(4), 1e-5); },
       "layer_norm: x is f32 but bias is f64; convert one with cast()"},
      {[] { layer_norm(f32(2, 4), 4, {}, {}, -1e-5); }, "layer_norm: eps must not be negative, got -1e-05"},
      {[] { rms_norm(f32(2, 4), 4, {}, NAN); }, "rms_norm: eps must not be negative, got nan"},
      {[] { batch_norm(f32(2, 4), {}, {}, -1); }, "batch_norm: eps must not be negative, got -1"},
      {[] { group_norm(f32(2, 4), 2, {}, {}, -1); }, "group_norm: eps must not be negative, got -1"},
      {[] { layer_norm(f32(2, 8), 16, f32(16), f32(16), 1e-5); },
       "layer_norm: normalized_shape [16] must be the last dimensions of x [2, 8]"},
      {[] { rms_norm(f32(2, 4), 2, {}, 1e-5); },
       "rms_norm: normalized_shape [2] must be the last dimensions of x [2, 4]"},
      {[] { rms_norm(f32(2, 4), 4, {}, 1e-5, 5); },
       "rms_norm: partial must be 0 to 4 for normalized_shape [4], got 5"},
      {[] { conv2d(f32(3, 8, 8), f32(4, 3, 3, 3)); },
       "conv2d: wanted x (N, C, H, W), got [3, 8, 8]; add the dimension that is missing with unsqueeze()"},
      {[] { conv1d(f32(2, 3, 8, 8), f32(4, 3, 3)); }, "conv1d: wanted x (N, C, L), got [2, 3, 8, 8]"},
      {[] { conv2d(f32(2, 3, 0, 8), f32(4, 3, 3, 3)); },
       "conv2d: wanted channels and images with elements (N alone may be 0), got x [2, 3, 0, 8]"},
      {[] { conv2d(f32(2, 3, 8, 8), f32(4, 3, 3)); },
       "conv2d: wanted a weight (O, C / groups, KH, KW) with elements, got [4, 3, 3]"},
      {[] { conv2d(f32(2, 3, 8, 8), f32(4, 5, 3, 3)); },
       "conv2d: weight [4, 5, 3, 3] with 1 group is for 5 channels, but x [2, 3, 8, 8] has 3; weight is "
       "(O, C / groups, KH, KW)"},
      {[] { conv2d(f32(2, 3, 8, 8), f32(4, 3, 3, 3), {}, {.groups = 2}); },
       "conv2d: 2 groups must divide the 3 channels of x [2, 3, 8, 8] and the 4 filters of weight [4, 3, 3, 3]"},
      {[] { conv2d(f32(2, 3, 4, 4), f32(4, 3, 3, 3), {}, {.dilation = 2}); },
       "conv2d: the window covers 5 × 5 elements, more than the 4 × 4 of x [2, 3, 4, 4] with its padding, so there is "
       "no output; add padding, or take a smaller kernel_size or dilation"},
      {[] { conv2d(f32(2, 3, 8, 8), f32(4, 3, 3, 3), f32(3)); },
       "conv2d: bias must be [4] for weight [4, 3, 3, 3], got [3]"},
      {[] { conv2d(f32(2, 3, 8, 8), f64(4, 3, 3, 3)); },
       "conv2d: x is f32 but weight is f64; convert one with cast()"},
      {[] { conv2d(f32(2, 3, 8, 8), f32(4, 3, 3, 3), {}, {.stride = 0}); },
       "conv2d: stride must be between 1 and 16777216, got 0"},
      {[] { conv1d(f32(2, 3, 8), f32(4, 3, 3), {}, {.stride = {1, 2}}); },
       "conv1d: stride must be one number, or a list of one, got 2"},
      {[] { unfold(f32(3, 8), 2); }, "unfold: wanted x (N, C, L) or (N, C, H, W), got [3, 8]"},
      {[] { fold(f32(2, 12, 5), {4, 5}, 2); },
       "fold: wanted x (N, C · 4, 12) for output_size [4, 5], got [2, 12, 5]"},
      {[] { max_pool2d(f32(2, 3, 8, 8), 2, {.padding = 2}); },
       "max_pool2d: padding must be at most half of what the window covers, 1 of 2 elements, got 2; pad() x itself for "
       "more"},
      {[] { max_pool1d(f32(2, 3, 1), 2, {.padding = 1, .dilation = 2}); },
       "max_pool1d: the window at position 0 lies in the padding alone; take less padding or dilation"},
      {[] { avg_pool2d(f32(2, 3, 8, 8), 2, {.divisor_override = 0}); },
       "avg_pool2d: divisor_override must be at least 1, got 0"},
      {[] { adaptive_avg_pool2d(f32(2, 3, 8, 8), 0); },
       "adaptive_avg_pool2d: output_size must be between 1 and 16777216, got 0"},
      {[] { batch_norm(f32(4), {}, {}, 1e-5); }, "batch_norm: wanted (N, C, …), got [4]"},
      {[] { batch_norm(f32(2, 4), f32(2), {}, 1e-5); },
       "batch_norm: weight must be [4] for x [2, 4], got [2]"},
      {[] { batch_norm(f32(2, 4), f64(4), {}, 1e-5); },
       "batch_norm: x is f32 but weight is f64; convert one with cast()"},
      {[] { batch_norm(f32(2, 4), {}, {}, 1e-5, f32(4)); },
       "batch_norm: give both mean and variance, or neither"},
      {[] { group_norm(f32(2, 4), 3, {}, {}, 1e-5); },
       "group_norm: 3 groups do not divide 4 channels of x [2, 4]"},
      {[] { group_norm(f32(2, 4), 2, f32(2), {}, 1e-5); },
       "group_norm: weight must be [4] for x [2, 4], got [2]"},
      {[] { group_norm(f32(2, 4), 2, {}, f32(1), 1e-5); },
       "group_norm: bias must be [4] for x [2, 4], got [1]"},
      {[] { group_norm(f32(2, 4), 2, f32(4), f64(4), 1e-5); },
       "group_norm: x is f32 but bias is f64; convert one with cast()"},
      {[] { dyt(f32(2, 4), f32(2), f32(4), {}); }, "dyt: alpha must be [1], got [2]"},
      {[] { dyt(f32(2, 4), f32(1), f32(4), f32(1)); }, "dyt: bias must be [4] for x [2, 4], got [1]"},
      {[] { dyt(f32(2, 4), f32(1), f64(4), {}); },
       "dyt: x is f32 but weight is f64; convert one with cast()"},
      {[] { dyisru(f32(2, 4), f32(1), f32(2), {}); },
       "dyisru: weight [2] must have the last dimensions of x [2, 4]"},
  };
}

std::vector<Misuse> of_attention() {
  return {
      {[] { attention(f32(2, 4), f32(2, 4), f32(2, 4)); },
       "attention: wanted q (B, T, H, D) and k, v (B, S, K, D), got [2, 4] and [2, 4]"},
      {[] { attention(f32(1, 5, 3, 2), f32(5, 2), f32(5, 2)); },
       "attention: wanted q (B, T, H, D) and k, v (B, S, K, D), got [1, 5, 3, 2] and [5, 2]"},
      {[] { attention(f32(1, 2, 1, 4), f32(1, 2, 1, 6), f32(1, 2, 1, 6)); },
       "attention: q [1, 2, 1, 4] and k [1, 2, 1, 6] must agree in B and D"},
      {[] { attention(f32(1, 5, 3, 2), f32(1, 5, 3, 2), f32(1, 5, 1, 2)); },
       "attention: k and v must have one shape, got [1, 5, 3, 2] and [1, 5, 1, 2]"},
      {[] { attention(f32(1, 2, 1, 2), f32(1, 2, 1, 2), f64(1, 2, 1, 2)); },
       "attention: q, k, v must have one dtype, got f32, f32, f64; convert with cast()"},
      {[] { attention(f32(2, 4, 8, 16), f32(2, 4, 3, 16), f32(2, 4, 3, 16)); },
       "attention: 3 key/value heads do not divide 8 query heads, for q [2, 4, 8, 16] and k [2, 4, 3, 16]; "
       "both are (B, T, H, D)"},
      {[] { attention(f32(1, 5, 1, 2), f32(1, 3, 1, 2), f32(1, 3, 1, 2), {.causal = true}); },
       "attention: causal needs at least as many keys as queries, got 3 and 5"},
      {[] { attention(f32(1, 2, 1, 4), f32(1, 2, 1, 4), f32(1, 2, 1, 4), {.softcap = -1}); },
       "attention: wanted a softcap of at least 0, got -1"},
      {[] { attention(f32(2, 3, 1, 4), f32(2, 5, 1, 4), f32(2, 5, 1, 4), {.attn_mask = f64(3, 5)}); },
       "attention: attn_mask must be bool, true where a query sees a key, or f32 to be added to the logits, got f64; "
       "convert it with cast()"},
      {[] { attention(f32(2, 3, 1, 4), f32(2, 5, 1, 4), f32(2, 5, 1, 4), {.attn_mask = f32(2, 5)}); },
       "attention: attn_mask must broadcast to (B, H, T, S) = [2, 1, 3, 5] for q [2, 3, 1, 4] and k [2, 5, 1, 4], got "
       "[2, 5]; one of the keys, (B, S), is reshape(mask, {B, 1, 1, S})"},
      {[] { attention(f32(1, 2, 1, 4), f32(1, 2, 1, 4), f32(1, 2, 1, 4), {.dropout_p = 0.5}); },
       "attention: dropout_p needs dropout_rng, the key of its masks, such as Tape::active()->next_rng()"},
      {[] { attention(f32(1, 2, 1, 4), f32(1, 2, 1, 4), f32(1, 2, 1, 4), {.dropout_p = 1}); },
       "attention: wanted a dropout_p in [0, 1), got 1"},
      {[] { rope(f32(1, 2, 1, 3), 1e4); }, "rope: D must be even, got 3 in [1, 2, 1, 3]"},
      {[] { rope(f32(2, 4), 1e4); }, "rope: wanted (B, T, H, D), got [2, 4]"},
      {[] { rope(f32(1, 2, 1, 4), 0); }, "rope: wanted a base above 0, got 0"},
  };
}

std::vector<Misuse> of_tapes() {
  return {
      {[] { Tape tape; tape.backward(weight(3) * 2); },
       "backward: loss must be a single number, got [3]; did you mean mean(loss)?"},
      {[] { Tape tape; tape.backward(Tensor()); },
       "backward: loss must be a single number, got an undefined tensor; give it a value first"},
      {[] { Tape tape; tape.backward(sum(f32(3) * 2)); },
       "backward: a tensor [] was not recorded on this tape; no input of it is trainable, or it was made "
       "before the tape or after detach()"},
      {[] { const Tensor loss = sum(weight(3)); Tape tape; tape.backward(loss); },
       "backward: a tensor [] was not recorded on this tape; no input of it is trainable, or it was made "
       "before the tape or after detach()"},
      {[] { Tape tape; tape.backward(weight(3) * 2, f32(2)); }, "backward: dy must be [3] f32, got [2] f32"},
      {[] { const Tensor w = weight(3); Tape tape; tape.gradient(w * 2, {w}, f32(2)); },
       "gradient: dy must be [3] f32, got [2] f32"},
      {[] { const Tensor w = weight(3); Tape tape; tape.gradient(w * 2, {w}, f64(3)); },
       "gradient: dy must be [3] f32, got [3] f64"},
      {[] { const Tensor c = f32(3); Tape tape; tape.gradient(sum(weight(3) * c), {c}); },
       "gradient: a tensor [3] was not recorded on this tape; no input of it is trainable, or it was made "
       "before the tape or after detach()"},
      {[] { Tape outer; Tape inner({.higher_order = true}); },
       "tape: a higher-order tape cannot be nested (the inner tape would see the outer one's tensors as "
       "constants); take both gradients on one tape"},
      {[] { Tape outer({.higher_order = true}); Tape inner; },
       "tape: a higher-order tape cannot be nested (the inner tape would see the outer one's tensors as "
       "constants); take both gradients on one tape"},
      {[] { const Tensor x = weight(); Tape outer; const Tensor y = square(x); Tape inner;
         outer.gradient(y, {x}); },
       "gradient: this tape is not the active one"},
      {[] { const Tensor x = weight(3); Tape tape; Tensor y = square(x); y.set_trainable(); },
       "trainable: this tensor [3] was computed by an op on a tape, and gradients are kept for leaves only; "
       "call detach() first"},
      {[] { Tape tape; tape.next_rng(); },
       "tape: a random op, such as dropout, needs an Rng; open the tape as Tape tape({.rng = "
       "rng.split(step)}) so that every step draws other masks, and the same ones again on the next run"},
      {[] { Tape tape({.detect_anomaly = true}); log(weight(3) * -1); }, "log: the result [3] is not finite"},
      {[] { Tape tape({.detect_anomaly = true});
         tape.backward(linear_cross_entropy(weight(3, 4), f32(5, 4), i64(3)), full({}, INFINITY)); },
       "backward of linear_cross_entropy: the gradient of input 0 [3, 4] is not finite"},
      {[] { gradcheck(identity, {f32(2)}); },
       "gradcheck: input 0 must be f64 (differences of f32 numbers are too coarse), got f32; use cast(x, "
       "Dtype::f64)"},
      {[] { gradcheck(identity, {f64(2)}, {.order = 3}); }, "gradcheck: order must be 1 or 2, got 3"},
      {[] { gradcheck(identity, {}); }, "gradcheck: none of the 0 inputs is f64"},
      {[] { jacobians(identity, {{"x", f32(2)}}); },
       "jacobians: x must be f64 (differences of f32 numbers are too coarse); use cast(x, Dtype::f64)"},
  };
}

// clang-format on

TEST_CASE("every misuse says what, where, wanted, got, and the repair") {
  for (const auto& part : {of_tensors, of_elementwise_ops, of_products, of_indices, of_losses, of_layouts,
                           of_dimensions, of_reductions, of_norms, of_attention, of_tapes, misuse_of_layers,
                           misuse_of_models, misuse_of_training})
    for (const Misuse& misuse : part()) {
      const std::string message = message_of(misuse.code), wanted = misuse.message;
      if (wanted.ends_with("…"))
        CHECK(message.substr(0, wanted.size() - 3) + "…" == wanted);
      else
        CHECK(message == wanted);
    }
}

}  // namespace isobar::misuse_test
