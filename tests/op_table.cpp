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

// One row a line reads best: the formatter would spread each over four.
// clang-format off

std::vector<OpRow> elementwise_rows() {
  return {
      {"add", plus, {normal(3, 5), normal(3, 5)}},
      {"add of many", plus, {normal(300, 129), normal(129)}},
      {"subtract", [](In x) { return x[0] - x[1]; }, {normal(3, 5), normal(3, 5)}},
      {"multiply", times, {normal(3, 5), normal(3, 5)}},
      {"multiply by itself", [](In x) { return x[0] * x[0]; }, {normal(3, 5)}},
      {"multiply of many", times, {normal(300, 129), normal(300, 1)}},
      {"divide", [](In x) { return x[0] / x[1]; }, {normal(3, 5), positive(3, 5)}},
      {"affine", [](In x) { return affine(x[0], -2.5, 0.75); }, {normal(3, 5)}},
      {"affine by operators", [](In x) { return (1 - x[0]) / 4 + (2 * x[0] - 3) * 0.5; }, {normal(3, 5)}},

      {"reciprocal", [](In x) { return reciprocal(x[0]); }, {off_zero(3, 5)}},
      {"square", [](In x) { return square(x[0]); }, {normal(3, 5)}},
      {"sqrt", [](In x) { return sqrt(x[0]); }, {positive(3, 5)}},
      {"exp", [](In x) { return exp(x[0]); }, {normal(3, 5)}},
      {"log", [](In x) { return log(x[0]); }, {positive(3, 5)}},
      {"tanh", [](In x) { return tanh(x[0]); }, {normal(3, 5)}},
      {"tanh of many", [](In x) { return tanh(x[0]); }, {normal(300, 129)}},
      {"sigmoid", [](In x) { return sigmoid(x[0]); }, {scaled(3, 3, 5)}},
      {"erf", [](In x) { return erf(x[0]); }, {normal(3, 5)}},
      {"relu", [](In x) { return relu(x[0]); }, {off_zero(3, 5)}},
      {"relu of many", [](In x) { return relu(x[0]); }, {off_zero(513, 512)}},
      {"gelu", [](In x) { return gelu(x[0]); }, {normal(3, 5)}, fused},
      {"gelu of many", [](In x) { return gelu(x[0]); }, {normal(300, 129)}, fused},
      {"gelu_tanh", [](In x) { return gelu_tanh(x[0]); }, {normal(3, 5)}, fused},
      {"squared_relu", [](In x) { return squared_relu(x[0]); }, {off_zero(3, 5)}, fused},
      {"silu", [](In x) { return silu(x[0]); }, {normal(3, 5)}, fused},
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
      {"sum over the middle", [](In x) { return sum(x[0], {1}); }, {normal(2, 3, 5)}},
      {"sum over the outside", [](In x) { return sum(x[0], {0, -1}); }, {normal(2, 3, 5)}},
      {"sum over all by name", [](In x) { return sum(x[0], {1, 0}, true); }, {normal(3, 5)}},
      {"sum over an empty dimension", [](In x) { return sum(x[0], {0}); }, {normal(0, 5)}},
      {"sum leaving nothing", [](In x) { return sum(x[0], {1}); }, {normal(0, 5)}},
      {"sum over many rows", [](In x) { return sum(x[0], {0}); }, {normal(700, 65)}},
      {"sum over many columns", [](In x) { return sum(x[0], {1}); }, {normal(65, 700)}},
      {"sum of many", [](In x) { return sum(x[0]); }, {normal(300, 129)}},
      {"mean", [](In x) { return mean(x[0]); }, {normal(3, 5)}},
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
      {"contiguous of many", [](In x) { return contiguous(transpose(x[0])); }, {normal(300, 129)}},
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
      {"matmul batched", product, {normal(2, 3, 5), normal(2, 5, 4)}},
      {"matmul one right for all", product, {normal(2, 3, 5), normal(5, 4)}},
      {"matmul one left for all", product, {normal(3, 5), normal(2, 5, 4)}},
      {"matmul batches repeat", product, {normal(2, 1, 3, 4), normal(3, 4, 2)}},
      {"matmul of a transpose", [](In x) { return matmul(transpose(x[0]), transpose(x[1])); },
       {normal(5, 3), normal(4, 5)}},
      {"matmul with itself", [](In x) { return matmul(x[0], transpose(x[0])); }, {normal(3, 5)}},
      {"matmul of a matrix and a vector", product, {normal(3, 5), normal(5)}},
      {"matmul of a vector and a matrix", product, {normal(5), normal(5, 3)}},
      {"matmul of two vectors", product, {normal(5), normal(5)}},
      {"matmul of a batch and a vector", product, {normal(2, 3, 5), normal(5)}},
      {"matmul of a vector and a batch", product, {normal(5), normal(2, 5, 3)}},
      {"matmul over nothing", product, {normal(3, 0), normal(0, 4)}},
      {"matmul of no rows", product, {normal(0, 5), normal(5, 4)}},
      {"matmul of many", product, {normal(300, 70), normal(70, 1100)}},
      {"linear", affine_map, {normal(3, 5), normal(4, 5), normal(4)}, fused},
      {"linear without bias", [](In x) { return linear(x[0], x[1]); }, {normal(3, 5), normal(4, 5)}, fused},
      {"linear of one vector", affine_map, {normal(5), normal(4, 5), normal(4)}, fused},
      {"linear of many", affine_map, {normal(300, 70), normal(1100, 70), normal(1100)}, fused},
      {"embedding", looked_up, {normal(7, 5), indices(7, 2, 3)}},
      {"embedding of i32", looked_up, {normal(3, 4), indices_i32(3, 9)}},
      {"embedding of one index", looked_up, {normal(7, 5), indices(7)}},
      {"embedding of no indices", looked_up, {normal(7, 5), indices(7, 0)}},
      {"embedding of many", looked_up, {normal(50, 129), indices(50, 20, 20)}},
  };
}

std::vector<OpRow> softmax_rows() {
  const Tensor weight = tensor({5}, {0.5, 2, 0, 1, 3}, Dtype::f64);
  const auto entropy_with = [](CrossEntropyOptions options) {
    return [options](In x) {
      CrossEntropyOptions own = options;
      if (own.weight.defined() && own.weight.dtype() != x[0].dtype()) own.weight = cast(own.weight, x[0].dtype());
      return cross_entropy(x[0], x[1], own);
    };
  };
  return {
      {"cross_entropy summed, some ignored", entropy_with({.reduction = Reduction::sum}), {normal(7, 5), targets(5, -100, 7)}, fused},
      {"cross_entropy of each, some ignored", entropy_with({.reduction = Reduction::none}), {normal(2, 7, 5), targets(5, -100, 2, 7)}, fused},
      {"cross_entropy smoothed, some ignored", entropy_with({.label_smoothing = 0.1}), {normal(7, 5), targets(5, -100, 7)}, fused},
      {"cross_entropy smoothed along the middle, some ignored", entropy_with({.dim = 1, .label_smoothing = 0.3}),
       {normal(2, 5, 3), targets(5, -100, 2, 3)}, fused},
      {"cross_entropy weighted, some ignored", entropy_with({.weight = weight}), {normal(7, 5), targets(5, -100, 7)}, fused, {weight}},
      {"cross_entropy weighted, smoothed, summed",
       entropy_with({.weight = weight, .label_smoothing = 0.2, .reduction = Reduction::sum}),
       {normal(7, 5), indices(5, 7)}, fused, {weight}},
      {"cross_entropy weighted and smoothed, some ignored", entropy_with({.weight = weight, .label_smoothing = 0.2}),
       {normal(7, 5), targets(5, -100, 7)}, fused, {weight}},
      {"softmax", [](In x) { return softmax(x[0]); }, {normal(3, 5)}, fused},
      {"softmax of one", [](In x) { return softmax(x[0]); }, {normal(3, 1)}, fused},
      {"softmax of no rows", [](In x) { return softmax(x[0]); }, {normal(0, 5)}},
      {"softmax of no columns", [](In x) { return softmax(x[0]); }, {normal(3, 0)}},
      {"log_softmax of no columns", [](In x) { return log_softmax(x[0]); }, {normal(3, 0)}},
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
      {"attention odd sizes", with({.causal = true}),
       {normal(1, 33, 1, 17), normal(1, 33, 1, 17), normal(1, 33, 1, 17)}, fused},
      {"attention with a mask", [](In x) { return attention(x[0], x[1], x[2], {.attn_mask = x[3]}); },
       {normal(2, 5, 3, 4), normal(2, 6, 3, 4), normal(2, 6, 3, 4), mask(2, 1, 5, 6)}, fused},
      {"attention with a mask of keys, causal",
       [](In x) { return attention(x[0], x[1], x[2], {.causal = true, .attn_mask = x[3]}); },
       {normal(2, 5, 4, 3), normal(2, 5, 2, 3), normal(2, 5, 2, 3), mask(2, 1, 1, 5)}, fused},
      {"attention with an added mask",
       [](In x) { return attention(x[0], x[1], x[2], {.softcap = 2, .attn_mask = x[3]}); },
       {normal(2, 5, 3, 4), normal(2, 6, 3, 4), normal(2, 6, 3, 4), normal(3, 5, 6)}, fused},
      {"attention with dropout", with({.dropout_p = 0.3, .dropout_rng = Rng(5)}), plain, fused},
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
    for (auto part :
         {elementwise_rows, layout_rows, reduction_rows, product_rows, softmax_rows, attention_rows,
          broadcast_rows, norm_rows, saturating_rows, vocabulary_rows, layout_and_loss_rows, window_rows})
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
