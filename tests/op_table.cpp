#include "op_table.h"

#include "../autograd/ops.h"

namespace isobar {
namespace {

constexpr OpFlags fused{.fused = true};

// What many rows compute.
const TensorFunction plus = [](In x) { return x[0] + x[1]; };
const TensorFunction times = [](In x) { return x[0] * x[1]; };
const TensorFunction product = [](In x) { return matmul(x[0], x[1]); };
const TensorFunction affine_map = [](In x) { return linear(x[0], x[1], x[2]); };
const TensorFunction looked_up = [](In x) { return embedding(x[1], x[0]); };
const TensorFunction entropy = [](In x) { return cross_entropy(x[0], x[1]); };
const TensorFunction linear_entropy = [](In x) { return linear_cross_entropy(x[0], x[1], x[2]); };
TensorFunction layer_norm_of(const Shape& shape) {
  return [=](In x) { return layer_norm(x[0], shape, x[1], x[2], 1e-5); };
}
TensorFunction rms_norm_of(const Shape& shape, int64_t partial = 0) {
  return [=](In x) { return rms_norm(x[0], shape, x[1], 1e-5, partial); };
}
TensorFunction group_norm_of(int64_t groups) {
  return [=](In x) { return group_norm(x[0], groups, x[1], x[2], 1e-5); };
}
const TensorFunction batch = [](In x) { return batch_norm(x[0], x[1], x[2], 1e-5); };

// One row a line reads best: the formatter would spread each over four.
// clang-format off

std::vector<OpRow> elementwise_rows() {
  return {
      {"add", plus, {normal(3, 5), normal(3, 5)}},
      {"add a row", plus, {normal(3, 5), normal(5)}},
      {"add a column", plus, {normal(3, 1), normal(3, 5)}},
      {"add both repeated", plus, {normal(4, 1, 5), normal(3, 1)}},
      {"add a single number", plus, {normal(), normal(2, 3)}},
      {"add nothing", plus, {normal(0, 5), normal(5)}},
      {"add of many", plus, {normal(300, 129), normal(129)}},
      {"subtract", [](In x) { return x[0] - x[1]; }, {normal(3, 5), normal(3, 5)}},
      {"subtract a column", [](In x) { return x[0] - x[1]; }, {normal(3, 5), normal(3, 1)}},
      {"subtract from a row", [](In x) { return x[0] - x[1]; }, {normal(5), normal(3, 5)}},
      {"multiply", times, {normal(3, 5), normal(3, 5)}},
      {"multiply by itself", [](In x) { return x[0] * x[0]; }, {normal(3, 5)}},
      {"multiply outer product", times, {normal(17, 1), normal(1, 33)}},
      {"multiply six dimensions", times, {normal(2, 1, 2, 1, 3, 1), normal(2, 2, 1, 2, 1, 2)}},
      {"multiply of many", times, {normal(300, 129), normal(300, 1)}},
      {"divide", [](In x) { return x[0] / x[1]; }, {normal(3, 5), positive(3, 5)}},
      {"divide by a row", [](In x) { return x[0] / x[1]; }, {normal(3, 5), positive(5)}},
      {"divide a row", [](In x) { return x[0] / x[1]; }, {normal(5), off_zero(3, 5)}},
      {"affine", [](In x) { return affine(x[0], -2.5, 0.75); }, {normal(3, 5)}},
      {"affine by operators", [](In x) { return (1 - x[0]) / 4 + (2 * x[0] - 3) * 0.5; }, {normal(3, 5)}},
      {"affine of nothing", [](In x) { return affine(x[0], 2, 1); }, {normal(3, 0)}},

      {"reciprocal", [](In x) { return reciprocal(x[0]); }, {off_zero(3, 5)}},
      {"square", [](In x) { return square(x[0]); }, {normal(3, 5)}},
      {"sqrt", [](In x) { return sqrt(x[0]); }, {positive(3, 5)}},
      {"exp", [](In x) { return exp(x[0]); }, {normal(3, 5)}},
      {"log", [](In x) { return log(x[0]); }, {positive(3, 5)}},
      {"tanh", [](In x) { return tanh(x[0]); }, {normal(3, 5)}},
      {"tanh of a single number", [](In x) { return tanh(x[0]); }, {normal()}},
      {"tanh of nothing", [](In x) { return tanh(x[0]); }, {normal(0)}},
      {"tanh beyond one register", [](In x) { return tanh(x[0]); }, {normal(33)}},
      {"tanh of many", [](In x) { return tanh(x[0]); }, {normal(300, 129)}},
      {"sigmoid", [](In x) { return sigmoid(x[0]); }, {scaled(3, 3, 5)}},
      {"erf", [](In x) { return erf(x[0]); }, {normal(3, 5)}},
      {"relu", [](In x) { return relu(x[0]); }, {off_zero(3, 5)}},
      {"relu of many", [](In x) { return relu(x[0]); }, {off_zero(300, 129)}},
      {"gelu", [](In x) { return gelu(x[0]); }, {normal(3, 5)}, fused},
      {"gelu far out", [](In x) { return gelu(x[0]); }, {scaled(4, 17)}, fused},
      {"gelu of many", [](In x) { return gelu(x[0]); }, {normal(300, 129)}, fused},
      {"gelu_tanh", [](In x) { return gelu_tanh(x[0]); }, {normal(3, 5)}, fused},
      {"gelu_tanh far out", [](In x) { return gelu_tanh(x[0]); }, {scaled(4, 17)}, fused},
      {"squared_relu", [](In x) { return squared_relu(x[0]); }, {off_zero(3, 5)}, fused},
      {"squared_relu of many", [](In x) { return squared_relu(x[0]); }, {off_zero(300, 129)}, fused},
      {"silu", [](In x) { return silu(x[0]); }, {normal(3, 5)}, fused},
      {"silu far out", [](In x) { return silu(x[0]); }, {scaled(10, 17)}, fused},
      {"swiglu", [](In x) { return swiglu(x[0], x[1]); }, {normal(3, 5), normal(3, 5)}, fused},
      {"swiglu of itself", [](In x) { return swiglu(x[0], x[0]); }, {normal(17)}, fused},
      {"swiglu of many", [](In x) { return swiglu(x[0], x[1]); },
       {normal(300, 129), normal(300, 129)}, fused},
      {"softcap", [](In x) { return softcap(x[0], 2); }, {scaled(3, 3, 5)}, fused},
      {"softcap barely felt", [](In x) { return softcap(x[0], 50); }, {normal(17)}, fused},
      {"dropout", [](In x) { return dropout(x[0], 0.3, Rng(5)); }, {normal(3, 17)}},
      {"dropout of none", [](In x) { return dropout(x[0], 0, Rng(5)); }, {normal(3, 5)}},
      {"dropout of many", [](In x) { return dropout(x[0], 0.5, Rng(5)); }, {normal(300, 129)}},
  };
}

std::vector<OpRow> layout_rows() {
  return {
      {"reshape", [](In x) { return reshape(x[0], {5, 6}); }, {normal(2, 3, 5)}},
      {"reshape to a single number", [](In x) { return reshape(x[0], Shape{}); }, {normal(1, 1)}},
      {"reshape of nothing", [](In x) { return reshape(x[0], {5, 0, 2}); }, {normal(0, 7)}},
      {"reshape of a transpose", [](In x) { return reshape(transpose(x[0]), {15}); }, {normal(3, 5)}},
      {"permute", [](In x) { return permute(x[0], {2, 0, 1}); }, {normal(2, 3, 5)}},
      {"permute from the back", [](In x) { return permute(x[0], {-1, 1, 0, -2}); }, {normal(2, 3, 4, 2)}},
      {"permute six dimensions", [](In x) { return permute(x[0], {5, 3, 1, 0, 2, 4}); },
       {normal(2, 1, 3, 2, 1, 2)}},
      {"transpose", [](In x) { return transpose(x[0]); }, {normal(3, 5)}},
      {"transpose outer dimensions", [](In x) { return transpose(x[0], 0, -1); }, {normal(2, 3, 5)}},
      {"transpose of nothing", [](In x) { return transpose(x[0]); }, {normal(0, 5)}},
      {"broadcast_to", [](In x) { return broadcast_to(x[0], {3, 4, 5}); }, {normal(4, 1)}},
      {"broadcast_to the same", [](In x) { return broadcast_to(x[0], {3, 5}); }, {normal(3, 5)}},
      {"broadcast_to more dimensions", [](In x) { return broadcast_to(x[0], {1, 1, 5}); }, {normal(5)}},
      {"broadcast_to nothing", [](In x) { return broadcast_to(x[0], {0, 5}); }, {normal(1, 5)}},
      {"slice rows", [](In x) { return slice(x[0], 0, 1, 3); }, {normal(4, 5)}},
      {"slice columns", [](In x) { return slice(x[0], -1, 1, 4); }, {normal(4, 5)}},
      {"slice the middle", [](In x) { return slice(x[0], 1, 2, 3); }, {normal(2, 4, 3)}},
      {"slice nothing", [](In x) { return slice(x[0], 0, 2, 2); }, {normal(4, 5)}},
      {"slice all", [](In x) { return slice(x[0], 0, 0, 4); }, {normal(4, 5)}},
      {"concat rows", [](In x) { return concat({x[0], x[1]}, 0); }, {normal(2, 5), normal(3, 5)}},
      {"concat columns", [](In x) { return concat({x[0], x[1], x[2]}, -1); },
       {normal(3, 2), normal(3, 1), normal(3, 4)}},
      {"concat with nothing", [](In x) { return concat({x[0], x[1]}, 0); }, {normal(0, 5), normal(3, 5)}},
      {"concat of one", [](In x) { return concat({x[0]}, 1); }, {normal(3, 5)}},
      {"concat with itself", [](In x) { return concat({x[0], x[0]}, 1); }, {normal(3, 2)}},
      {"index_select rows", [](In x) { return index_select(x[0], 0, x[1]); }, {normal(4, 5), indices(4, 7)}},
      {"index_select columns", [](In x) { return index_select(x[0], -1, x[1]); }, {normal(4, 5), indices_i32(5, 3)}},
      {"index_select the middle", [](In x) { return index_select(x[0], 1, x[1]); }, {normal(2, 4, 3), indices(4, 6)}},
      {"index_select with no indices", [](In x) { return index_select(x[0], 0, x[1]); }, {normal(4, 5), indices(4, 0)}},
      {"index_select of many", [](In x) { return index_select(x[0], 0, x[1]); }, {normal(50, 129), indices(50, 400)}},
  };
}

std::vector<OpRow> reduction_rows() {
  return {
      {"sum", [](In x) { return sum(x[0]); }, {normal(3, 5)}},
      {"sum of a single number", [](In x) { return sum(x[0]); }, {normal()}},
      {"sum over rows", [](In x) { return sum(x[0], {0}); }, {normal(3, 5)}},
      {"sum over columns", [](In x) { return sum(x[0], {-1}, true); }, {normal(3, 17)}},
      {"sum over the middle", [](In x) { return sum(x[0], {1}); }, {normal(2, 3, 5)}},
      {"sum over the outside", [](In x) { return sum(x[0], {0, -1}); }, {normal(2, 3, 5)}},
      {"sum over all by name", [](In x) { return sum(x[0], {1, 0}, true); }, {normal(3, 5)}},
      {"sum over an empty dimension", [](In x) { return sum(x[0], {0}); }, {normal(0, 5)}},
      {"sum leaving nothing", [](In x) { return sum(x[0], {1}); }, {normal(0, 5)}},
      {"sum over many rows", [](In x) { return sum(x[0], {0}); }, {normal(700, 65)}},
      {"sum over many columns", [](In x) { return sum(x[0], {1}); }, {normal(65, 700)}},
      {"sum of many", [](In x) { return sum(x[0]); }, {normal(300, 129)}},
      {"mean", [](In x) { return mean(x[0]); }, {normal(3, 5)}},
      {"mean over rows", [](In x) { return mean(x[0], {0}, true); }, {normal(3, 5)}},
      {"mean over two", [](In x) { return mean(x[0], {-1, -2}); }, {normal(2, 3, 5)}},
      {"mean of many", [](In x) { return mean(x[0], {0}); }, {normal(700, 65)}},
      {"max", [](In x) { return max(x[0]); }, {distinct(3, 5)}},
      {"max over rows", [](In x) { return max(x[0], {0}); }, {distinct(3, 5)}},
      {"max over columns", [](In x) { return max(x[0], {1}, true); }, {distinct(3, 33)}},
      {"max over the middle", [](In x) { return max(x[0], {1}); }, {distinct(2, 3, 5)}},
      {"max over a single one", [](In x) { return max(x[0], {1}); }, {distinct(3, 1)}},
      {"max leaving nothing", [](In x) { return max(x[0], {1}); }, {distinct(0, 5)}},
      {"max of many", [](In x) { return max(x[0], {1}); }, {distinct(300, 129)}},
      {"clone", [](In x) { return clone(x[0]); }, {normal(3, 5)}},
      {"clone of a transpose", [](In x) { return clone(transpose(x[0])); }, {normal(3, 5)}},
      {"contiguous", [](In x) { return contiguous(x[0]); }, {normal(3, 5)}},
      {"contiguous of a transpose", [](In x) { return contiguous(transpose(x[0])); }, {normal(3, 5)}},
      {"contiguous of nothing", [](In x) { return contiguous(transpose(x[0])); }, {normal(0, 5)}},
      {"cast to the same", [](In x) { return cast(x[0], x[0].dtype()); }, {normal(3, 5)}},
      {"sum_to_size", [](In x) { return sum_to_size(x[0], {4, 1}); }, {normal(3, 4, 5)}},
      {"sum_to_size the same", [](In x) { return sum_to_size(x[0], {3, 5}); }, {normal(3, 5)}},
      {"sum_to_size a single number", [](In x) { return sum_to_size(x[0], Shape{}); }, {normal(3, 5)}},
      {"sum_to_size from one", [](In x) { return sum_to_size(x[0], Shape{5}); }, {normal(1, 1, 5)}},
      {"sum_to_size from nothing", [](In x) { return sum_to_size(x[0], {1, 5}); }, {normal(0, 5)}},
  };
}

std::vector<OpRow> product_rows() {
  return {
      {"matmul", product, {normal(3, 5), normal(5, 4)}},
      {"matmul of single numbers", product, {normal(1, 1), normal(1, 1)}},
      {"matmul odd sizes", product, {normal(17, 33), normal(33, 3)}},
      {"matmul batched", product, {normal(2, 3, 5), normal(2, 5, 4)}},
      {"matmul one right for all", product, {normal(2, 3, 5), normal(5, 4)}},
      {"matmul one left for all", product, {normal(3, 5), normal(2, 5, 4)}},
      {"matmul batches repeat", product, {normal(2, 1, 3, 4), normal(3, 4, 2)}},
      {"matmul of a transpose", [](In x) { return matmul(transpose(x[0]), transpose(x[1])); },
       {normal(5, 3), normal(4, 5)}},
      {"matmul with itself", [](In x) { return matmul(x[0], transpose(x[0])); }, {normal(3, 5)}},
      {"matmul over nothing", product, {normal(3, 0), normal(0, 4)}},
      {"matmul of no rows", product, {normal(0, 5), normal(5, 4)}},
      {"matmul of many", product, {normal(300, 70), normal(70, 1100)}},
      {"linear", affine_map, {normal(3, 5), normal(4, 5), normal(4)}, fused},
      {"linear without bias", [](In x) { return linear(x[0], x[1]); }, {normal(3, 5), normal(4, 5)}, fused},
      {"linear of one vector", affine_map, {normal(5), normal(4, 5), normal(4)}, fused},
      {"linear of a batch", affine_map, {normal(2, 3, 5), normal(4, 5), normal(4)}, fused},
      {"linear odd sizes", affine_map, {normal(17, 33), normal(3, 33), normal(3)}, fused},
      {"linear of no rows", affine_map, {normal(0, 5), normal(4, 5), normal(4)}, fused},
      {"linear of many", affine_map, {normal(300, 70), normal(1100, 70), normal(1100)}, fused},
      {"embedding", looked_up, {normal(7, 5), indices(7, 2, 3)}},
      {"embedding of i32", looked_up, {normal(3, 4), indices_i32(3, 9)}},
      {"embedding of one index", looked_up, {normal(7, 5), indices(7)}},
      {"embedding of no indices", looked_up, {normal(7, 5), indices(7, 0)}},
      {"embedding of many", looked_up, {normal(50, 129), indices(50, 20, 20)}},
  };
}

std::vector<OpRow> softmax_rows() {
  return {
      {"softmax", [](In x) { return softmax(x[0]); }, {normal(3, 5)}, fused},
      {"softmax odd sizes", [](In x) { return softmax(x[0]); }, {normal(2, 3, 17)}, fused},
      {"softmax of one", [](In x) { return softmax(x[0]); }, {normal(3, 1)}, fused},
      {"softmax of no rows", [](In x) { return softmax(x[0]); }, {normal(0, 5)}},
      {"softmax sharp", [](In x) { return softmax(x[0]); }, {scaled(20, 3, 33)}, fused},
      {"softmax far from zero",
       [](In x) { return softmax(x[0] + 1000); },
       {normal(3, 5)},
       // 1000 + x is rounded to 1000 · 6·10⁻⁸ in f32.
       {.fused = true, .f32_tolerance = 1e-3}},
      {"softmax of many", [](In x) { return softmax(x[0]); }, {normal(300, 129)}, fused},
      {"log_softmax", [](In x) { return log_softmax(x[0]); }, {normal(3, 5)}, fused},
      {"log_softmax of one", [](In x) { return log_softmax(x[0]); }, {normal(3, 1)}, fused},
      {"log_softmax sharp", [](In x) { return log_softmax(x[0]); }, {scaled(20, 3, 33)}, fused},
      {"log_softmax of many", [](In x) { return log_softmax(x[0]); }, {normal(300, 129)}, fused},
      {"cross_entropy", entropy, {normal(3, 5), indices(5, 3)}, fused},
      {"cross_entropy of i32", entropy, {normal(3, 5), indices_i32(5, 3)}, fused},
      {"cross_entropy of a batch", entropy, {normal(2, 3, 17), indices(17, 2, 3)}, fused},
      {"cross_entropy of one row", entropy, {normal(5), indices(5)}, fused},
      {"cross_entropy some ignored", entropy, {normal(7, 5), targets(5, -100, 7)}, fused},
      {"cross_entropy padding ignored", [](In x) { return cross_entropy(x[0], x[1], {.ignore_index = 0}); },
       {normal(7, 5), targets(5, 0, 7)}, fused},
      {"cross_entropy sharp", entropy, {scaled(20, 4, 33), indices(33, 4)}, fused},
      {"cross_entropy of many", entropy, {normal(300, 129), targets(129, -100, 300)}, fused},
      {"linear_cross_entropy", linear_entropy, {normal(4, 5), normal(7, 5), indices(7, 4)}, fused},
      {"linear_cross_entropy of a batch", linear_entropy,
       {normal(2, 3, 5), normal(17, 5), indices_i32(17, 2, 3)}, fused},
      {"linear_cross_entropy of one row", linear_entropy, {normal(5), normal(3, 5), indices(3)}, fused},
      {"linear_cross_entropy some ignored", linear_entropy,
       {normal(7, 3), normal(5, 3), targets(5, -100, 7)}, fused},
      {"linear_cross_entropy padding ignored", [](In x) { return linear_cross_entropy(x[0], x[1], x[2], 0); },
       {normal(7, 3), normal(5, 3), targets(5, 0, 7)}, fused},
      {"linear_cross_entropy sharp", linear_entropy,
       {scaled(20, 4, 5), normal(33, 5), indices(33, 4)}, fused},
      {"linear_cross_entropy of many", linear_entropy,
       {normal(600, 9), normal(65, 9), targets(65, -100, 600)}, fused},
  };
}

Tensor no_tensor() { return {}; }

std::vector<OpRow> norm_rows() {
  const Tensor mean = Rng(8).normal({3}, 0, 1, Dtype::f64);
  const Tensor variance = Rng(9).uniform({3}, 0.5, 2, Dtype::f64);
  return {
      {"layer_norm", layer_norm_of(5), {normal(3, 5), normal(5), normal(5)}, fused},
      {"layer_norm without bias", [](In x) { return layer_norm(x[0], 5, x[1], no_tensor(), 1e-5); },
       {normal(3, 5), normal(5)}, fused},
      {"layer_norm without weight", [](In x) { return layer_norm(x[0], 5, no_tensor(), x[1], 1e-5); },
       {normal(3, 5), normal(5)}, fused},
      {"layer_norm bare", [](In x) { return layer_norm(x[0], 17, no_tensor(), no_tensor(), 1e-5); },
       {normal(2, 3, 17)}, fused},
      {"layer_norm over two dimensions", layer_norm_of({3, 5}),
       {normal(2, 3, 5), normal(3, 5), normal(3, 5)}, fused},
      {"layer_norm over everything", layer_norm_of({3, 5}),
       {normal(3, 5), normal(3, 5), normal(3, 5)}, fused},
      {"layer_norm of one element", layer_norm_of(1), {normal(3, 1), normal(1), normal(1)}, fused},
      {"layer_norm of no rows", layer_norm_of(5), {normal(0, 5), normal(5), normal(5)}, fused},
      {"layer_norm ruled by eps", layer_norm_of(17), {scaled(1e-3, 3, 17), normal(17), normal(17)}, fused},
      {"layer_norm of many", layer_norm_of(129), {normal(300, 129), normal(129), normal(129)}, fused},
      {"rms_norm", rms_norm_of(5), {normal(3, 5), normal(5)}, fused},
      {"rms_norm without weight", [](In x) { return rms_norm(x[0], 17, no_tensor(), 1e-5); },
       {normal(2, 3, 17)}, fused},
      {"rms_norm over two dimensions", rms_norm_of({3, 5}), {normal(2, 3, 5), normal(3, 5)}, fused},
      {"rms_norm of one element", rms_norm_of(1),
       // dx is zero but for eps: what is left of 1 − 1 is rounding.
       {off_zero(3, 1), normal(1)}, {.fused = true, .f32_tolerance = 1e-4}},
      {"rms_norm of no rows", rms_norm_of(5), {normal(0, 5), normal(5)}, fused},
      {"rms_norm ruled by eps", rms_norm_of(17), {scaled(1e-3, 3, 17), normal(17)}, fused},
      {"rms_norm partial", rms_norm_of(17, 5), {normal(3, 17), normal(17)}, fused},
      {"rms_norm partial of one", rms_norm_of(5, 1), {off_zero(3, 5), normal(5)}, fused},
      {"rms_norm partial over two dimensions", rms_norm_of({3, 5}, 7),
       {normal(2, 3, 5), normal(3, 5)}, fused},
      {"rms_norm partial of all", rms_norm_of(5, 5), {normal(3, 5), normal(5)}, fused},
      {"rms_norm of many", rms_norm_of(129), {normal(300, 129), normal(129)}, fused},
      {"batch_norm", batch, {normal(7, 3), normal(3), normal(3)}, fused},
      {"batch_norm with length", batch, {normal(2, 3, 5), normal(3), normal(3)}, fused},
      {"batch_norm bare", [](In x) { return batch_norm(x[0], no_tensor(), no_tensor(), 1e-5); },
       {normal(7, 3)}, fused},
      {"batch_norm without bias", [](In x) { return batch_norm(x[0], x[1], no_tensor(), 1e-5); },
       {normal(7, 3), normal(3)}, fused},
      {"batch_norm by given statistics",
       [mean, variance](In x) {
         return batch_norm(x[0], x[1], x[2], 1e-5, cast(mean, x[0].dtype()), cast(variance, x[0].dtype()));
       },
       {normal(2, 3, 5), normal(3), normal(3)}, {}, {mean, variance}},
      {"batch_norm ruled by eps", batch, {scaled(1e-3, 17, 3), normal(3), normal(3)}, fused},
      {"batch_norm of many", batch, {normal(300, 33, 5), normal(33), normal(33)}, fused},
      {"group_norm", group_norm_of(3), {normal(2, 6, 5), normal(6), normal(6)}, fused},
      {"group_norm without length", group_norm_of(2), {normal(3, 6), normal(6), normal(6)}, fused},
      {"group_norm of one group", group_norm_of(1), {normal(2, 3, 5), normal(3), normal(3)}, fused},
      {"group_norm of single channels", group_norm_of(3), {normal(2, 3, 5), normal(3), normal(3)}, fused},
      {"group_norm of images", group_norm_of(2), {normal(2, 4, 3, 5), normal(4), normal(4)}, fused},
      {"group_norm bare", [](In x) { return group_norm(x[0], 2, no_tensor(), no_tensor(), 1e-5); },
       {normal(2, 4, 3)}, fused},
      {"group_norm of many", group_norm_of(3), {normal(64, 33, 20), normal(33), normal(33)}, fused},
  };
}

// clang-format on

// The three share their signature: x, one number, weight, bias.
std::vector<OpRow> saturating_rows() {
  using Op = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Tensor&);
  std::vector<OpRow> rows;
  for (const auto& [name, op] :
       {std::pair<std::string, Op>{"dyt", dyt}, {"dyt_sqrtd", dyt_sqrtd}, {"dyisru", dyisru}}) {
    const TensorFunction full = [op = op](In x) { return op(x[0], x[1], x[2], x[3]); };
    rows.push_back({name, full, {normal(3, 5), uniform(0.3, 1, 1), normal(5), normal(5)}, fused});
    rows.push_back({name + " without bias",
                    [op = op](In x) { return op(x[0], x[1], x[2], {}); },
                    {normal(3, 5), uniform(0.3, 1, 1), normal(5)},
                    fused});
    rows.push_back({name + " over two dimensions",
                    full,
                    {normal(2, 3, 5), uniform(0.3, 1, 1), normal(3, 5), normal(3, 5)},
                    fused});
    rows.push_back(
        {name + " odd sizes", full, {scaled(3, 17, 33), uniform(0.3, 1, 1), normal(33), normal(33)}, fused});
    rows.push_back(
        {name + " of no rows", full, {normal(0, 5), uniform(0.3, 1, 1), normal(5), normal(5)}, fused});
    rows.push_back(
        {name + " of many", full, {normal(300, 129), uniform(0.3, 1, 1), normal(129), normal(129)}, fused});
  }
  const TensorFunction shifted = [](In x) { return derf(x[0], x[1], x[2], x[3], x[4]); };
  const auto number = uniform(0.3, 1, 1);
  rows.push_back({"derf", shifted, {normal(3, 5), number, number, normal(5), normal(5)}, fused});
  rows.push_back({"derf without bias",
                  [](In x) { return derf(x[0], x[1], x[2], x[3], {}); },
                  {normal(3, 5), number, number, normal(5)},
                  fused});
  rows.push_back(
      {"derf of many", shifted, {normal(300, 129), number, number, normal(129), normal(129)}, fused});
  return rows;
}

// clang-format off
std::vector<OpRow> attention_rows() {
  const std::vector<InputMaker> plain{normal(2, 5, 3, 4), normal(2, 5, 3, 4), normal(2, 5, 3, 4)};
  const auto with = [](AttentionOptions options) {
    return [options](In x) { return attention(x[0], x[1], x[2], options); };
  };
  return {
      {"rope", [](In x) { return rope(x[0], 1e4); }, {normal(2, 5, 3, 8)}},
      {"rope from a start", [](In x) { return rope(x[0], 1e4, 7); }, {normal(1, 3, 2, 4)}},
      {"rope interleaved", [](In x) { return rope(x[0], 1e4, 0, RopeStyle::interleaved); },
       {normal(2, 5, 3, 8)}},
      {"rope interleaved from a start", [](In x) { return rope(x[0], 100, 3, RopeStyle::interleaved); },
       {normal(1, 3, 2, 6)}},
      {"rope of one pair", [](In x) { return rope(x[0], 1e4); }, {normal(1, 4, 1, 2)}},
      {"rope of no tokens", [](In x) { return rope(x[0], 1e4); }, {normal(1, 0, 2, 4)}},
      {"rope of many", [](In x) { return rope(x[0], 1e6); }, {normal(2, 65, 5, 64)}},
      {"attention", with({.causal = true}), plain, fused},
      {"attention both ways", with({}), plain, fused},
      {"attention with softcap", with({.causal = true, .softcap = 0.7}), plain, fused},
      {"attention with scale", with({.causal = true, .scale = 1.5}), plain, fused},
      {"attention of grouped heads", with({.causal = true}),
       {normal(2, 5, 4, 3), normal(2, 5, 2, 3), normal(2, 5, 2, 3)}, fused},
      {"attention of one key head", with({.causal = true}),
       {normal(1, 5, 3, 4), normal(1, 5, 1, 4), normal(1, 5, 1, 4)}, fused},
      {"attention of grouped heads with softcap", with({.causal = true, .softcap = 0.7}),
       {normal(1, 4, 4, 3), normal(1, 4, 2, 3), normal(1, 4, 2, 3)}, fused},
      {"attention with earlier keys", with({.causal = true}),
       {normal(1, 3, 2, 4), normal(1, 7, 2, 4), normal(1, 7, 2, 4)}, fused},
      {"attention both ways to other keys", with({}),
       {normal(1, 5, 2, 4), normal(1, 3, 2, 4), normal(1, 3, 2, 4)}, fused},
      {"attention of one token", with({.causal = true}),
       // A softmax of one is constant: dq and dk are the rounding that is left of zero.
       {normal(2, 1, 2, 4), normal(2, 1, 2, 4), normal(2, 1, 2, 4)}, {.fused = true, .f32_tolerance = 1e-3}},
      {"attention odd sizes", with({.causal = true}),
       {normal(1, 33, 1, 17), normal(1, 33, 1, 17), normal(1, 33, 1, 17)}, fused},
      {"attention to itself", [](In x) { return attention(x[0], x[0], x[0], {.causal = true}); }, {normal(1, 5, 2, 4)}, fused},
      {"attention of many", with({.causal = true}),
       {normal(2, 130, 4, 32), normal(2, 130, 2, 32), normal(2, 130, 2, 32)}, fused},
      {"attention of many with softcap", with({.causal = true, .softcap = 5}),
       {normal(1, 130, 2, 32), normal(1, 200, 2, 32), normal(1, 200, 2, 32)}, fused},
  };
}
// clang-format on

}  // namespace

const std::vector<OpRow>& op_rows() {
  static const std::vector<OpRow> rows = [] {
    std::vector<OpRow> all;
    for (auto part : {elementwise_rows, layout_rows, reduction_rows, product_rows, softmax_rows, norm_rows,
                      saturating_rows, attention_rows, vocabulary_rows, layout_and_loss_rows})
      for (OpRow& row : part()) all.push_back(std::move(row));
    return all;
  }();
  return rows;
}

std::string function_of(const OpRow& row) { return row.name.substr(0, row.name.find(' ')); }

std::vector<Tensor> inputs_of(const OpRow& row) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < row.inputs.size(); ++i)
    inputs.push_back(row.inputs[i](Rng(1).split(row.name).split(i)));
  return inputs;
}

}  // namespace isobar
