#include "op_calls.h"

#include <cmath>
#include <functional>
#include <map>

namespace isobar {

using In = const std::vector<Tensor>&;
using Call = std::function<Tensor(const Json& a, In x)>;
using Ints = std::vector<int>;
using Extents = std::vector<int64_t>;

Shape shape_in(const Json& a) { return Shape(a.at("shape").get<Extents>()); }
// The tensor in this place, or undefined: an absent weight or bias.
Tensor optional(In x, size_t i) { return i < x.size() ? x[i] : Tensor(); }
Reduction reduction_in(const Json& a) {
  const std::string name = a.at("reduction");
  return name == "none" ? Reduction::none : name == "sum" ? Reduction::sum : Reduction::mean;
}

Call unary(Tensor (*f)(const Tensor&)) {
  return [f](const Json&, In x) { return f(x[0]); };
}
Call binary(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](const Json&, In x) { return f(x[0], x[1]); };
}
Call reduction(Tensor (*f)(const Tensor&, const AxisList&, KeepDim)) {
  return [f](const Json& a, In x) { return f(x[0], a.at("axes").get<Ints>(), bool(a.at("keepdim"))); };
}
Call loss(Tensor (*f)(const Tensor&, const Tensor&, Reduction)) {
  return [f](const Json& a, In x) { return f(x[0], x[1], reduction_in(a)); };
}
Call with_number(Tensor (*f)(const Tensor&, double)) {
  return [f](const Json& a, In x) { return f(x[0], a.at("number").get<double>()); };
}
Call position(Tensor (*f)(const Tensor&, std::optional<int>, KeepDim)) {
  return [f](const Json& a, In x) {
    return a.at("dim").is_null() ? f(x[0], {}, false) : f(x[0], int(a.at("dim")), bool(a.at("keepdim")));
  };
}
Call mask_reduction(Tensor (*f)(const Tensor&, const AxisList&, KeepDim)) {
  return [f](const Json& a, In x) { return f(x[0] > 0, a.at("axes").get<Ints>(), bool(a.at("keepdim"))); };
}
// The number, or none where it is null.
std::optional<double> number_or_none(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}
Call saturating(Tensor (*f)(const Tensor&, const Tensor&, const Tensor&, const Tensor&)) {
  return [f](const Json&, In x) { return f(x[0], x[1], x[2], optional(x, 3)); };
}

// One row a line reads best.
// clang-format off
const std::map<std::string, Call>& calls() {
  static const std::map<std::string, Call> table{
      {"add", binary(add)}, {"subtract", binary(subtract)}, {"multiply", binary(multiply)}, {"divide", binary(divide)},
      {"affine", [](auto& a, In x) { return affine(x[0], a.at("scale"), a.at("shift")); }},
      {"multiply_number", with_number(multiply)}, {"divide_number", with_number(divide)},
      {"number_divide", [](auto& a, In x) { return a.at("number").template get<double>() / x[0]; }},
      {"pow", [](auto&, In x) { return pow(x[1], x[0]); }}, {"pow_number", with_number(pow)},
      {"number_pow", [](auto& a, In x) { return pow(a.at("number").template get<double>(), x[0]); }},
      {"minimum", binary(minimum)}, {"maximum", binary(maximum)},
      {"equal", binary(equal)}, {"not_equal", binary(not_equal)}, {"less", binary(less)},
      {"less_equal", binary(less_equal)}, {"greater", binary(greater)}, {"greater_equal", binary(greater_equal)},
      {"equal_number", with_number(equal)}, {"not_equal_number", with_number(not_equal)},
      {"less_number", with_number(less)}, {"less_equal_number", with_number(less_equal)},
      {"greater_number", with_number(greater)}, {"greater_equal_number", with_number(greater_equal)},
      {"logical_and", [](auto&, In x) { return x[0] > 0 && x[1] > 0; }},
      {"logical_or", [](auto&, In x) { return x[0] > 0 || x[1] > 0; }},
      {"logical_not", [](auto&, In x) { return !(x[0] > 0); }},
      {"where", [](auto&, In x) { return where(x[0] > 0, x[1], x[2]); }},
      {"where_number", [](auto& a, In x) { return where(x[0] > 0, x[1], a.at("number").template get<double>()); }},
      {"number_where", [](auto& a, In x) { return where(x[0] > 0, a.at("number").template get<double>(), x[1]); }},
      {"abs", unary(abs)}, {"sign", unary(sign)}, {"sin", unary(sin)}, {"cos", unary(cos)},
      {"expm1", unary(expm1)}, {"log1p", unary(log1p)}, {"softplus", unary(softplus)},
      {"clamp", [](auto& a, In x) { return clamp(x[0], number_or_none(a.at("min")), number_or_none(a.at("max"))); }},
      // There and back.
      {"cast", [](auto& a, In x) {
         return cast(cast(x[0], dtype_from_name(a.at("dtype").template get<std::string>())), x[0].dtype());
       }},
      {"reciprocal", unary(reciprocal)}, {"square", unary(square)}, {"sqrt", unary(sqrt)}, {"exp", unary(exp)},
      {"log", unary(log)}, {"tanh", unary(tanh)}, {"sigmoid", unary(sigmoid)}, {"erf", unary(erf)},
      {"relu", unary(relu)}, {"squared_relu", unary(squared_relu)}, {"gelu", unary(gelu)},
      {"gelu_tanh", unary(gelu_tanh)}, {"silu", unary(silu)}, {"swiglu", binary(swiglu)},
      {"softcap", [](auto& a, In x) { return softcap(x[0], a.at("cap")); }},
      {"clone", unary(clone)}, {"contiguous", unary(contiguous)},

      {"reshape", [](auto& a, In x) { return reshape(x[0], shape_in(a)); }},
      {"permute", [](auto& a, In x) { return permute(x[0], a.at("order").template get<Ints>()); }},
      {"transpose", [](auto& a, In x) { return transpose(x[0], a.at("dim0"), a.at("dim1")); }},
      {"broadcast_to", [](auto& a, In x) { return broadcast_to(x[0], shape_in(a)); }},
      {"expand", [](auto& a, In x) { return expand(x[0], a.at("sizes").template get<Extents>()); }},
      {"slice", [](auto& a, In x) { return slice(x[0], a.at("dim"), a.at("begin"), a.at("end")); }},
      {"pad", [](auto& a, In x) { return pad(x[0], a.at("amounts").template get<Extents>(), a.at("value")); }},
      {"concat", [](auto& a, In x) { return concat(x, a.at("dim")); }},
      {"stack", [](auto& a, In x) { return stack(x, a.at("dim")); }},
      // The pieces in reverse order: they may differ in size.
      {"split", [](auto& a, In x) {
         std::vector<Tensor> y = split(x[0], a.at("size").template get<int64_t>(), a.at("dim"));
         return concat({y.rbegin(), y.rend()}, a.at("dim"));
       }},
      {"split_sizes", [](auto& a, In x) {
         std::vector<Tensor> y = split(x[0], a.at("sizes").template get<Extents>(), a.at("dim"));
         return concat({y.rbegin(), y.rend()}, a.at("dim"));
       }},
      {"flip", [](auto& a, In x) { return flip(x[0], a.at("dims").template get<Ints>()); }},
      {"tril", [](auto& a, In x) { return tril(x[0], a.at("diagonal")); }},
      {"triu", [](auto& a, In x) { return triu(x[0], a.at("diagonal")); }},
      {"index_select", [](auto& a, In x) { return index_select(x[0], a.at("dim"), x[1]); }},
      {"index_add", [](auto& a, In x) { return index_add(x[0], a.at("dim"), x[1], x[2]); }},
      {"gather", [](auto& a, In x) { return gather(x[0], a.at("dim"), x[1]); }},
      {"scatter_add", [](auto& a, In x) { return scatter_add(x[0], a.at("dim"), x[1], x[2]); }},
      {"embedding", [](auto&, In x) { return embedding(x[1], x[0]); }},

      {"sum", reduction(sum)}, {"mean", reduction(mean)}, {"max", reduction(max)}, {"min", reduction(min)},
      {"argmax", position(argmax)}, {"argmin", position(argmin)},
      {"any", mask_reduction(any)}, {"all", mask_reduction(all)}, {"logsumexp", reduction(logsumexp)},
      // JSON has no infinity: null.
      {"norm", [](auto& a, In x) {
         return norm(x[0], number_or_none(a.at("p")).value_or(INFINITY), a.at("axes").template get<Ints>(),
                     bool(a.at("keepdim")));
       }},
      {"var", [](auto& a, In x) {
         return var(x[0], a.at("axes").template get<Ints>(), bool(a.at("keepdim")), a.at("correction"));
       }},
      {"std_dev", [](auto& a, In x) {
         return std_dev(x[0], a.at("axes").template get<Ints>(), bool(a.at("keepdim")), a.at("correction"));
       }},
      {"sum_to_size", [](auto& a, In x) { return sum_to_size(x[0], shape_in(a)); }},
      {"cumsum", [](auto& a, In x) { return cumsum(x[0], a.at("dim")); }},
      {"matmul", binary(matmul)},
      {"linear", [](auto&, In x) { return linear(x[0], x[1], optional(x, 2)); }},
      {"einsum", [](auto& a, In x) { return einsum(a.at("equation").template get<std::string>(), x); }},

      {"softmax", unary(softmax)}, {"log_softmax", unary(log_softmax)},
      {"cross_entropy", [](auto& a, In x) { return cross_entropy(x[0], x[1], {.ignore_index = a.at("ignore_index")}); }},
      {"linear_cross_entropy", [](auto& a, In x) {
         return linear_cross_entropy(x[0], x[1], x[2], a.at("ignore_index"));
       }},
      {"mse_loss", loss(mse_loss)}, {"l1_loss", loss(l1_loss)},
      {"huber_loss", [](auto& a, In x) { return huber_loss(x[0], x[1], a.at("delta"), reduction_in(a)); }},
      {"binary_cross_entropy_with_logits", loss(binary_cross_entropy_with_logits)},

      {"layer_norm", [](auto& a, In x) {
         return layer_norm(x[0], shape_in(a), optional(x, 1), optional(x, 2), a.at("eps"));
       }},
      {"rms_norm", [](auto& a, In x) { return rms_norm(x[0], shape_in(a), optional(x, 1), a.at("eps")); }},
      {"rms_norm_partial", [](auto& a, In x) {
         return rms_norm(x[0], shape_in(a), optional(x, 1), a.at("eps"), a.at("partial"));
       }},
      {"batch_norm_given", [](auto& a, In x) {
         return batch_norm(x[0], {}, {}, a.at("eps"), x[1].detach(), exp(x[2].detach()));
       }},
      {"batch_norm", [](auto& a, In x) { return batch_norm(x[0], optional(x, 1), optional(x, 2), a.at("eps")); }},
      {"group_norm", [](auto& a, In x) {
         return group_norm(x[0], a.at("groups"), optional(x, 1), optional(x, 2), a.at("eps"));
       }},
      {"dyt", saturating(dyt)}, {"dyt_sqrtd", saturating(dyt_sqrtd)}, {"dyisru", saturating(dyisru)},
      {"rope", [](auto& a, In x) {
         return rope(x[0], a.at("base"), a.at("start"),
                     a.at("interleaved") ? RopeStyle::interleaved : RopeStyle::half_split);
       }},
      {"attention", [](auto& a, In x) {
         return attention(x[0], x[1], x[2], {
             .causal = a.at("causal"), .softcap = a.at("softcap"), .scale = number_or_none(a.at("scale"))});
       }},
  };
  return table;
}
// clang-format on

Tensor call_op(const std::string& name, const Json& arguments, const std::vector<Tensor>& inputs) {
  const auto found = calls().find(name);
  check(found != calls().end(), "torch_cases: no op has the name {}", name);
  return found->second(arguments, inputs);
}

}  // namespace isobar
