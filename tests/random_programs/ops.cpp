// The ops that random programs are made of.
#include <algorithm>
#include <cmath>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "program.h"

namespace isobar::random_programs {

using In = const std::vector<Tensor>&;
using Num = const Numbers&;
using Draw = const std::function<int64_t(int64_t)>&;

Shape shape(Num numbers) { return Shape(std::span<const int64_t>(numbers)); }
std::vector<int> dims(Num numbers) { return {numbers.begin(), numbers.end()}; }
Tensor positions(Num numbers) { return tensor({static_cast<int64_t>(numbers.size())}, numbers); }

Tensor flat(const Tensor& x) { return reshape(x, {x.numel()}); }

// One dimension of the first argument.
bool one_dim(In x, Draw draw, Numbers& numbers) {
  if (x[0].ndim() == 0) return false;
  numbers = {draw(x[0].ndim())};
  return true;
}
bool any_order(In x, Draw draw, Numbers& numbers) {
  for (int d = 0; d < x[0].ndim(); ++d) numbers.insert(numbers.begin() + draw(d + 1), d);
  return true;
}
// The same elements in two dimensions, or in one.
bool other_shape(In x, Draw draw, Numbers& numbers) {
  const int64_t rows = 1 + draw(4);
  if (x[0].numel() % rows != 0) return false;
  numbers = rows == 1 ? Numbers{x[0].numel()} : Numbers{rows, x[0].numel() / rows};
  return true;
}
bool more_rows(In x, Draw draw, Numbers& numbers) {
  if (x[0].ndim() > 2) return false;
  numbers = {2 + draw(2)};
  for (int64_t extent : x[0].shape()) numbers.push_back(extent);
  return true;
}
bool a_range(In x, Draw draw, Numbers& numbers) {
  if (!one_dim(x, draw, numbers)) return false;
  const int64_t extent = x[0].size(static_cast<int>(numbers[0])), begin = draw(extent);
  numbers.push_back(begin);
  numbers.push_back(begin + 1 + draw(extent - begin));
  return true;
}
bool some_rows(In x, Draw draw, Numbers& numbers) {
  if (x[0].ndim() == 0) return false;
  for (int64_t count = 1 + draw(4); count > 0; --count) numbers.push_back(draw(x[0].size(0)));
  return true;
}
bool last_dim(In x, Draw, Numbers& numbers) {
  if (x[0].ndim() == 0 || x[0].size(-1) < 2) return false;
  numbers = {x[0].size(-1)};
  return true;
}

bool some_elements(In x, Draw draw, Numbers& numbers) {
  for (int64_t count = 1 + draw(4); count > 0; --count) numbers.push_back(draw(x[0].numel()));
  return true;
}
bool a_target_per_element(In x, Draw draw, Numbers& numbers) {
  for (int64_t i = 0; i < std::min<int64_t>(x[1].numel(), 4); ++i) numbers.push_back(draw(x[0].numel()));
  return true;
}
bool a_row_per_row(In x, Draw draw, Numbers& numbers) {
  if (x[0].ndim() == 0 || x[1].ndim() == 0) return false;
  for (int64_t i = 0; i < x[1].size(0); ++i) numbers.push_back(draw(x[0].size(0)));
  return true;
}
bool a_class_per_row(In x, Draw draw, Numbers& numbers) {
  if (x[0].ndim() != 2) return false;
  for (int64_t i = 0; i < x[0].size(0); ++i) numbers.push_back(draw(x[0].size(1)));
  return true;
}
bool two_amounts(In x, Draw draw, Numbers& numbers) {
  if (x[0].ndim() == 0 || x[0].size(-1) < 3) return false;
  numbers = {draw(4) - 1, draw(4) - 1};
  return true;
}
bool a_diagonal(In, Draw draw, Numbers& numbers) {
  numbers = {draw(4) - 2};
  return true;
}

// Differences are no slope at a kink: of relu at zero, of max where two are equal, of where at its threshold.
constexpr double off_kink = 1e-3;
bool off(const Tensor& x, double kink) {
  const std::vector<double> values = x.to_vector<double>();
  return std::none_of(values.begin(), values.end(), [=](double v) { return std::abs(v - kink) < off_kink; });
}
bool off_zero(In x, Draw, Numbers&) { return off(x[0], 0); }
bool off_limits(In x, Draw, Numbers&) { return off(x[0], 0.5) && off(x[0], -0.5); }
bool off_threshold(In x, Draw, Numbers&) { return off(x[0], 0.3); }
// No element of the first argument near one of the second.
bool apart(In x, Draw, Numbers&) {
  const std::vector<double> values = x[1].to_vector<double>();
  return std::all_of(values.begin(), values.end(), [&](double v) { return off(x[0], v); });
}
// Far from the kinks of a norm at zero and of a standard deviation where all are equal.
bool spread_along_a_dim(In x, Draw draw, Numbers& numbers) {
  if (!one_dim(x, draw, numbers) || x[0].size(static_cast<int>(numbers[0])) < 2) return false;
  return min(var(x[0], dims(numbers))).item() > 0.01;
}
bool distinct_along_a_dim(In x, Draw draw, Numbers& numbers) {
  std::vector<double> values = x[0].to_vector<double>();
  std::sort(values.begin(), values.end());
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] - values[i - 1] < off_kink) return false;
  return one_dim(x, draw, numbers);
}

bool off_threshold_along_a_dim(In x, Draw draw, Numbers& numbers) {
  return off(x[0], 0.3) && one_dim(x, draw, numbers);
}

// (B, T, H, D) with four channels, and one number: of other sizes an op is refused, and not taken.
Tensor as_heads(const Tensor& x) { return reshape(x, {1, -1, 1, 4}); }
Tensor one_number(const Tensor& x) { return reshape(mean(x), {1}); }

// One row a line reads best.
// clang-format off
std::vector<Op> elementwise_ops() {
  return {
      {"tanh", 1, [](In x, Num) { return tanh(x[0]); }},
      {"sigmoid", 1, [](In x, Num) { return sigmoid(x[0]); }},
      {"exp", 1, [](In x, Num) { return exp(-square(x[0])); }},
      {"log", 1, [](In x, Num) { return log(square(x[0]) + 0.5); }},
      {"sqrt", 1, [](In x, Num) { return sqrt(square(x[0]) + 0.5); }},
      {"reciprocal", 1, [](In x, Num) { return reciprocal(square(x[0]) + 1); }},
      {"erf", 1, [](In x, Num) { return erf(x[0]); }},
      {"gelu", 1, [](In x, Num) { return gelu(x[0]); }},
      {"gelu_tanh", 1, [](In x, Num) { return gelu_tanh(x[0]); }},
      {"silu", 1, [](In x, Num) { return silu(x[0]); }},
      {"relu", 1, [](In x, Num) { return relu(x[0]); }, off_zero},
      {"squared_relu", 1, [](In x, Num) { return squared_relu(x[0]); }},
      {"softcap", 1, [](In x, Num) { return softcap(x[0], 2); }},
      {"sin", 1, [](In x, Num) { return sin(x[0]); }},
      {"cos", 1, [](In x, Num) { return cos(x[0]); }},
      {"softplus", 1, [](In x, Num) { return softplus(x[0]); }},
      {"expm1", 1, [](In x, Num) { return expm1(x[0]); }},
      {"log1p", 1, [](In x, Num) { return log1p(square(x[0])); }},
      {"pow cubed", 1, [](In x, Num) { return pow(x[0], 3); }},
      {"pow", 1, [](In x, Num) { return pow(square(x[0]) + 0.5, -1.5); }},
      {"pow of a number", 1, [](In x, Num) { return pow(1.5, x[0]); }},
      {"pow of two", 2, [](In x, Num) { return pow(square(x[0]) + 0.5, x[1]); }},
      {"divide by a number", 1, [](In x, Num) { return x[0] / 3.7; }},
      {"abs", 1, [](In x, Num) { return abs(x[0]); }, off_zero},
      {"sign", 1, [](In x, Num) { return sign(x[0]) * x[0]; }, off_zero},
      {"clamp", 1, [](In x, Num) { return clamp(x[0], -0.5, 0.5); }, off_limits},
      {"minimum", 2, [](In x, Num) { return minimum(x[0], x[1]); }, apart},
      {"maximum", 2, [](In x, Num) { return maximum(x[0], x[1]); }, apart},
      {"where", 3, [](In x, Num) { return where(x[0] < x[1], x[2], x[0]); }, apart},
      {"where above", 2, [](In x, Num) { return where(x[0] > 0.3, square(x[0]), x[1]); }, off_threshold},
      {"affine", 1, [](In x, Num) { return 1.5 - x[0] * 0.75; }},
      {"dropout", 1, [](In x, Num) { return dropout(x[0], 0.3, Rng(5)); }},
      {"add", 2, [](In x, Num) { return x[0] + x[1]; }},
      {"subtract", 2, [](In x, Num) { return x[0] - x[1]; }},
      {"multiply", 2, [](In x, Num) { return x[0] * x[1]; }},
      {"divide", 2, [](In x, Num) { return x[0] / (square(x[1]) + 1); }},
      {"swiglu", 2, [](In x, Num) { return swiglu(x[0], x[1]); }},
      {"mish", 1, [](In x, Num) { return mish(x[0]); }},
      {"isru", 2, [](In x, Num) { return isru(x[0], square(x[1]) + 0.5); }},
      {"masks", 2, [](In x, Num) { return where(!(x[0] <= x[1]) && x[0] != x[1], x[0] * 2, x[1]); }, apart},
      {"any and all", 1, [](In x, Num n) {
         return where(any(x[0] > 0.3, dims(n), true) || all(x[0] >= 0.3), x[0], x[0] * 2);
       }, off_threshold_along_a_dim},
  };
}

std::vector<Op> layout_ops() {
  return {
      {"reshape", 1, [](In x, Num n) { return reshape(x[0], shape(n)); }, other_shape},
      {"permute", 1, [](In x, Num n) { return permute(x[0], dims(n)); }, any_order},
      {"transpose", 1, [](In x, Num) { return transpose(x[0]); }},
      {"broadcast_to", 1, [](In x, Num n) { return broadcast_to(x[0], shape(n)); }, more_rows},
      {"slice", 1, [](In x, Num n) { return slice(x[0], static_cast<int>(n[0]), n[1], n[2]); }, a_range},
      {"concat", 2, [](In x, Num) { return concat({x[0], x[1]}, 0); }},
      {"index_select", 1, [](In x, Num n) { return index_select(x[0], 0, positions(n)); }, some_rows},
      {"expand", 1, [](In x, Num n) { return expand(x[0], n); }, more_rows},
      {"stack", 2, [](In x, Num) { return stack({x[0], x[1]}, -1); }},
      {"split", 1, [](In x, Num n) { return split(x[0], 2, static_cast<int>(n[0])).back(); }, one_dim},
      {"pad", 1, [](In x, Num n) { return pad(x[0], n, 0.5); }, two_amounts},
      {"flip", 1, [](In x, Num n) { return flip(x[0], dims(n)); }, one_dim},
      {"tril", 1, [](In x, Num n) { return tril(x[0], n[0]); }, a_diagonal},
      {"triu", 1, [](In x, Num n) { return triu(x[0], n[0]); }, a_diagonal},
      {"embedding", 1, [](In x, Num n) { return embedding(positions(n), x[0]); }, some_rows},
      {"index_add", 2, [](In x, Num n) { return index_add(x[0], 0, positions(n), x[1]); }, a_row_per_row},
      {"gather", 1, [](In x, Num n) { return gather(flat(x[0]), 0, positions(n)); }, some_elements},
      {"scatter_add", 2, [](In x, Num n) { return scatter_add(flat(x[0]), 0, positions(n), flat(x[1])); },
       a_target_per_element},
      {"clone", 1, [](In x, Num) { return clone(x[0]); }},
      {"contiguous", 1, [](In x, Num) { return contiguous(x[0]); }},
      {"rounded", 1, [](In x, Num) { return cast(cast(x[0], Dtype::f32), Dtype::f64); }},
  };
}

std::vector<Op> joining_ops() {
  return {
      {"sum", 1, [](In x, Num n) { return sum(x[0], dims(n)); }, one_dim},
      {"mean", 1, [](In x, Num n) { return mean(x[0], dims(n), true); }, one_dim},
      {"mean of all", 1, [](In x, Num) { return mean(x[0]); }},
      {"max", 1, [](In x, Num n) { return max(x[0], dims(n)); }, distinct_along_a_dim},
      {"min", 1, [](In x, Num n) { return min(x[0], dims(n)); }, distinct_along_a_dim},
      {"cumsum", 1, [](In x, Num n) { return cumsum(x[0], static_cast<int>(n[0])); }, one_dim},
      {"logsumexp", 1, [](In x, Num n) { return logsumexp(x[0], dims(n)); }, one_dim},
      {"norm", 1, [](In x, Num n) { return norm(x[0], 2, dims(n), true); }, spread_along_a_dim},
      {"norm of cubes", 1, [](In x, Num) { return norm(x[0] + 4, 3); }},
      {"std_dev", 1, [](In x, Num n) { return std_dev(x[0], dims(n)); }, spread_along_a_dim},
      {"einsum", 2, [](In x, Num) { return einsum("ij,kj->ki", {x[0], x[1]}); }},
      {"einsum of one", 1, [](In x, Num) { return einsum("abc->ca", {x[0]}); }},
      {"mse_loss", 2, [](In x, Num) { return mse_loss(x[0], x[1]); }},
      {"l1_loss", 2, [](In x, Num) { return l1_loss(x[0], x[1], Reduction::none); }, apart},
      {"binary_cross_entropy_with_logits", 2,
       [](In x, Num) { return binary_cross_entropy_with_logits(x[0], sigmoid(x[1])); }},
      {"cross_entropy", 1, [](In x, Num n) { return cross_entropy(x[0], positions(n)); }, a_class_per_row},
      {"var", 1, [](In x, Num n) { return var(x[0], dims(n), true, 0); }, one_dim},
      {"matmul", 2, [](In x, Num) { return matmul(x[0], x[1]); }},
      {"linear", 2, [](In x, Num) { return linear(x[0], x[1]); }},
      {"linear with bias", 3, [](In x, Num) { return linear(x[0], x[1], x[2]); }},
      {"softmax", 1, [](In x, Num) { return softmax(x[0]); }},
      {"log_softmax", 1, [](In x, Num) { return log_softmax(x[0]); }},
      {"layer_norm", 1, [](In x, Num n) { return layer_norm(x[0], n[0], {}, {}, 0.1); }, last_dim},
      {"rms_norm", 2, [](In x, Num n) { return rms_norm(x[0], n[0], x[1], 0.1); }, last_dim},
      {"rms_norm of a part", 1, [](In x, Num n) { return rms_norm(x[0], n[0], {}, 0.1, 1); }, last_dim},
      {"batch_norm", 1, [](In x, Num) { return batch_norm(x[0], {}, {}, 0.1); }},
      {"group_norm", 1, [](In x, Num) { return group_norm(x[0], 2, {}, {}, 0.1); }},
      {"dyt", 2, [](In x, Num) { return dyt(x[0], one_number(x[1]), x[1], {}); }},
      {"dyt_sqrtd", 2, [](In x, Num) { return dyt_sqrtd(x[0], one_number(x[1]), x[1], x[1]); }},
      {"dyisru", 2, [](In x, Num) { return dyisru(x[0], one_number(x[1]), x[1], {}); }},
      {"derf", 2, [](In x, Num) { return derf(x[0], one_number(x[1]), one_number(x[0]), x[1], {}); }},
      {"rope", 1, [](In x, Num) { return rope(as_heads(x[0]), 10); }},
      {"rope interleaved", 1, [](In x, Num) { return rope(as_heads(x[0]), 10, 2, RopeStyle::interleaved); }},
      {"attention", 3, [](In x, Num) {
         return attention(as_heads(x[0]), as_heads(x[1]), as_heads(x[2]), {.causal = true});
       }},
      {"attention with softcap", 2, [](In x, Num) {
         return attention(as_heads(x[0]), as_heads(x[1]), as_heads(x[1]), {.softcap = 2, .scale = 0.7});
       }},
      {"linear_cross_entropy", 2,
       [](In x, Num n) { return linear_cross_entropy(x[1], x[0], positions(n)); }, a_row_per_row},
      {"huber_loss", 2, [](In x, Num) { return huber_loss(x[0], x[1], 0.5); }},
      {"sort", 1, [](In x, Num n) { return sort(x[0], static_cast<int>(n[0])).values; }, distinct_along_a_dim},
      {"topk", 1, [](In x, Num n) { return topk(x[0], 1, static_cast<int>(n[0])).values; },
       distinct_along_a_dim},
      {"argmax", 1, [](In x, Num) { return index_select(flat(x[0]), 0, reshape(argmax(x[0]), {1})); },
       distinct_along_a_dim},
  };
}
// clang-format on

Tensor wrong_double(const Tensor& x) {
  const Tensor y = [&] {
    const NoTape pause;
    return x * 2;
  }();
  return record("wrong_double", y, {x}, [](const Tensor& dy) { return dy * 3; });
}

const std::vector<Op>& ops() {
  static const std::vector<Op> all = [] {
    std::vector<Op> rows;
    for (auto part : {elementwise_ops, layout_ops, joining_ops})
      for (Op& op : part()) rows.push_back(std::move(op));
    return rows;
  }();
  return all;
}

const Op& op_named(std::string_view name) {
  return *std::find_if(ops().begin(), ops().end(), [name](const Op& op) { return op.name == name; });
}

const Op& wrong_op() {
  static const Op op{"wrong_double", 1, [](In x, Num) { return wrong_double(x[0]); }};
  return op;
}

}  // namespace isobar::random_programs
