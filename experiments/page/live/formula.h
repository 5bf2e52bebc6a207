// A norm that a reader types: y = w * x / (1 + mean(abs(x))). Parsed once, computed by the definition's ops.
//
//   sum     = product {("+" | "-") product}          power = atom ["^" (2 … 9 | 0.5)]
//   product = sign {("*" | "/") sign}                atom  = number | x | w | b | function "(" sum ")" | "(" sum ")"
//   sign    = "-" sign | power
//
// x (B, C); w and b (C) start at 1 and 0. mean and sum are over a row, the other functions elementwise; x is in
// what a function or a power takes.
#pragma once

#include <string>
#include <vector>

#include "../../../core/error.h"
#include "../../../tests/spec/spec.h"

namespace isobar::live {

// A number, a name, or an operation on one or two others.
struct Formula {
  std::string what;  // "+", "-", "*", "/", "neg", "^", "number", "x", "w", "b", "mean", …
  double value = 0;  // of a number, and of an exponent
  std::vector<Formula> of = {};
};

// Throws Error with the place, from 1, and what was wanted there.
Formula parse_formula(const std::string& text);

// The header of a layer that computes it, for check_layers and the studies: "my_norm.h".
std::string header_of(const Formula& formula, const std::string& text);
// What it gives in doubles for three rows of five numbers, drawn as w, b and dy are.
struct Sample {
  std::vector<double> x, w, b, dy, y, dx, dw, db;
  double error;  // of dx against differences, the largest, over dx's largest element
};
Sample sample_of(const Formula& formula);

template <class T>
spec::Tensor<T> computed(const Formula& f, const spec::Tensor<T>& x, const spec::Tensor<T>& w,
                         const spec::Tensor<T>& b) {
  using spec::Both;
  const auto part = [&](size_t i) { return computed(f.of[i], x, w, b); };
  if (f.what == "x") return x;
  if (f.what == "w") return w;
  if (f.what == "b") return b;
  if (f.what == "number") return spec::Tensor<T>(spec::filled<T>({1}, static_cast<T>(f.value)));
  if (f.what == "+") return part(0) + part(1);
  if (f.what == "-") return part(0) - part(1);
  if (f.what == "*") return part(0) * part(1);
  if (f.what == "/") return part(0) / part(1);
  if (f.what == "neg") return part(0) * -1.0;
  if (f.what == "^" && f.value == 0.5) return sqrt(part(0));
  if (f.what == "^") {
    const spec::Tensor<T> base = part(0);
    spec::Tensor<T> y = base;
    for (int i = 1; i < static_cast<int>(f.value); ++i) y = y * base;
    return y;
  }
  const spec::Tensor<T> of = part(0);
  if (f.what == "mean") return mean(of, {-1}, true);
  if (f.what == "sum") return sum(of, {-1}, true);
  if (f.what == "abs")
    return each(of, [](T v, T dy) { return Both<T>{std::abs(v), v > 0 ? dy : v < 0 ? -dy : T(0)}; });
  if (f.what == "sqrt") return sqrt(of);
  if (f.what == "exp") return exp(of);
  if (f.what == "log") return log(of);
  if (f.what == "tanh") return tanh(of);
  if (f.what == "sigmoid") return sigmoid(of);
  if (f.what == "erf") return erf(of);
  return relu(of);
}

}  // namespace isobar::live
