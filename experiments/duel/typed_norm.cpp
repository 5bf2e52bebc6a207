#include "typed_norm.h"

namespace isobar::duel {
namespace {

bool has(const live::Formula& f, const std::string& name) {
  return f.what == name || std::ranges::any_of(f.of, [&](const auto& part) { return has(part, name); });
}

}  // namespace

TypedNorm::TypedNorm(live::Formula parsed, const Shape& width) : formula(std::move(parsed)) {
  if (has(formula, "w")) weight = ones(width).set_trainable();
  if (has(formula, "b")) bias = zeros(width).set_trainable();
}

Tensor TypedNorm::forward(const Tensor& x) {
  const auto value_of = [&](const auto& self, const live::Formula& f) -> Tensor {
    const auto part = [&](size_t i) { return self(self, f.of[i]); };
    if (f.what == "x") return x;
    if (f.what == "w") return weight;
    if (f.what == "b") return bias;
    if (f.what == "number") return full({}, f.value, x.dtype());
    if (f.what == "+") return part(0) + part(1);
    if (f.what == "-") return part(0) - part(1);
    if (f.what == "*") return part(0) * part(1);
    if (f.what == "/") return part(0) / part(1);
    if (f.what == "neg") return -part(0);
    if (f.what == "^")
      return f.value == 0.5 ? sqrt(part(0)) : f.value == 2 ? square(part(0)) : pow(part(0), f.value);
    if (f.what == "mean") return mean(part(0), {-1}, true);
    if (f.what == "sum") return sum(part(0), {-1}, true);
    if (f.what == "abs") return abs(part(0));
    if (f.what == "sqrt") return sqrt(part(0));
    if (f.what == "exp") return exp(part(0));
    if (f.what == "log") return log(part(0));
    if (f.what == "tanh") return tanh(part(0));
    if (f.what == "sigmoid") return sigmoid(part(0));
    if (f.what == "erf") return erf(part(0));
    check(f.what == "relu", "formula: there is no op for '{}'", f.what);
    return relu(part(0));
  };
  return value_of(value_of, formula);
}

void TypedNorm::fields(Fields& f) {
  f("weight", weight);
  f("bias", bias);
}

}  // namespace isobar::duel
