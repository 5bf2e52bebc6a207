// The ops that random programs are made of, each as a call and as its text.
#include <algorithm>
#include <cmath>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "program.h"

namespace isobar::random_programs {
namespace {

using In = const std::vector<Tensor>&;
using Num = const Numbers&;
using Draw = const std::function<int64_t(int64_t)>&;

Shape shape(Num numbers) { return Shape(std::span<const int64_t>(numbers)); }
std::vector<int> dims(Num numbers) { return {numbers.begin(), numbers.end()}; }
Tensor positions(Num numbers) { return tensor({static_cast<int64_t>(numbers.size())}, numbers); }

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

// Differences are no slope at a kink: of relu at zero, of max where two are equal.
constexpr double off_kink = 1e-3;
bool off_zero(In x, Draw, Numbers&) {
  const std::vector<double> values = x[0].to_vector<double>();
  return std::none_of(values.begin(), values.end(), [](double v) { return std::abs(v) < off_kink; });
}
bool distinct_along_a_dim(In x, Draw draw, Numbers& numbers) {
  std::vector<double> values = x[0].to_vector<double>();
  std::sort(values.begin(), values.end());
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] - values[i - 1] < off_kink) return false;
  return one_dim(x, draw, numbers);
}

// One row a line reads best.
// clang-format off
std::vector<Op> elementwise_ops() {
  return {
      {"tanh", 1, "tanh($0)", [](In x, Num) { return tanh(x[0]); }},
      {"sigmoid", 1, "sigmoid($0)", [](In x, Num) { return sigmoid(x[0]); }},
      {"exp", 1, "exp(-square($0))", [](In x, Num) { return exp(-square(x[0])); }},
      {"log", 1, "log(square($0) + 0.5)", [](In x, Num) { return log(square(x[0]) + 0.5); }},
      {"sqrt", 1, "sqrt(square($0) + 0.5)", [](In x, Num) { return sqrt(square(x[0]) + 0.5); }},
      {"reciprocal", 1, "reciprocal(square($0) + 1)", [](In x, Num) { return reciprocal(square(x[0]) + 1); }},
      {"erf", 1, "erf($0)", [](In x, Num) { return erf(x[0]); }},
      {"gelu", 1, "gelu($0)", [](In x, Num) { return gelu(x[0]); }},
      {"gelu_tanh", 1, "gelu_tanh($0)", [](In x, Num) { return gelu_tanh(x[0]); }},
      {"silu", 1, "silu($0)", [](In x, Num) { return silu(x[0]); }},
      {"relu", 1, "relu($0)", [](In x, Num) { return relu(x[0]); }, off_zero},
      {"squared_relu", 1, "squared_relu($0)", [](In x, Num) { return squared_relu(x[0]); }},
      {"softcap", 1, "softcap($0, 2)", [](In x, Num) { return softcap(x[0], 2); }},
      {"affine", 1, "1.5 - $0 * 0.75", [](In x, Num) { return 1.5 - x[0] * 0.75; }},
      {"dropout", 1, "dropout($0, 0.3, Rng(5))", [](In x, Num) { return dropout(x[0], 0.3, Rng(5)); }},
      {"add", 2, "$0 + $1", [](In x, Num) { return x[0] + x[1]; }},
      {"subtract", 2, "$0 - $1", [](In x, Num) { return x[0] - x[1]; }},
      {"multiply", 2, "$0 * $1", [](In x, Num) { return x[0] * x[1]; }},
      {"divide", 2, "$0 / (square($1) + 1)", [](In x, Num) { return x[0] / (square(x[1]) + 1); }},
      {"swiglu", 2, "swiglu($0, $1)", [](In x, Num) { return swiglu(x[0], x[1]); }},
  };
}

std::vector<Op> layout_ops() {
  return {
      {"reshape", 1, "reshape($0, {#*})", [](In x, Num n) { return reshape(x[0], shape(n)); }, other_shape},
      {"permute", 1, "permute($0, {#*})", [](In x, Num n) { return permute(x[0], dims(n)); }, any_order},
      {"transpose", 1, "transpose($0)", [](In x, Num) { return transpose(x[0]); }},
      {"broadcast_to", 1, "broadcast_to($0, {#*})",
       [](In x, Num n) { return broadcast_to(x[0], shape(n)); }, more_rows},
      {"slice", 1, "slice($0, #0, #1, #2)",
       [](In x, Num n) { return slice(x[0], static_cast<int>(n[0]), n[1], n[2]); }, a_range},
      {"concat", 2, "concat({$0, $1}, 0)", [](In x, Num) { return concat({x[0], x[1]}, 0); }},
      {"index_select", 1, "index_select($0, 0, tensor({#n}, std::vector<int64_t>{#*}))",
       [](In x, Num n) { return index_select(x[0], 0, positions(n)); }, some_rows},
      {"clone", 1, "clone($0)", [](In x, Num) { return clone(x[0]); }},
      {"contiguous", 1, "contiguous($0)", [](In x, Num) { return contiguous(x[0]); }},
      {"rounded", 1, "rounded($0)", [](In x, Num) { return cast(cast(x[0], Dtype::f32), Dtype::f64); }},
  };
}

std::vector<Op> joining_ops() {
  return {
      {"sum", 1, "sum($0, {#0})", [](In x, Num n) { return sum(x[0], dims(n)); }, one_dim},
      {"mean", 1, "mean($0, {#0}, true)", [](In x, Num n) { return mean(x[0], dims(n), true); }, one_dim},
      {"mean of all", 1, "mean($0)", [](In x, Num) { return mean(x[0]); }},
      {"max", 1, "max($0, {#0})", [](In x, Num n) { return max(x[0], dims(n)); },
       distinct_along_a_dim},
      {"var", 1, "var($0, {#0}, true, 0)", [](In x, Num n) { return var(x[0], dims(n), true, 0); }, one_dim},
      {"matmul", 2, "matmul($0, $1)", [](In x, Num) { return matmul(x[0], x[1]); }},
      {"linear", 2, "linear($0, $1)", [](In x, Num) { return linear(x[0], x[1]); }},
      {"linear with bias", 3, "linear($0, $1, $2)", [](In x, Num) { return linear(x[0], x[1], x[2]); }},
      {"softmax", 1, "softmax($0)", [](In x, Num) { return softmax(x[0]); }},
      {"log_softmax", 1, "log_softmax($0)", [](In x, Num) { return log_softmax(x[0]); }},
      {"layer_norm", 1, "layer_norm($0, #0, {}, {}, 0.1)",
       [](In x, Num n) { return layer_norm(x[0], n[0], {}, {}, 0.1); }, last_dim},
      {"rms_norm", 2, "rms_norm($0, #0, $1, 0.1)",
       [](In x, Num n) { return rms_norm(x[0], n[0], x[1], 0.1); }, last_dim},
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

}  // namespace

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
  static const Op op{"wrong_double", 1, "wrong_double($0)", [](In x, Num) { return wrong_double(x[0]); }};
  return op;
}

}  // namespace isobar::random_programs
