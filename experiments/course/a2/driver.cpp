#include "driver.h"

#include <cmath>

#include "a2.h"

namespace {

void two(Answer& out, const Two& gradients) {
  out("da", gradients.da);
  out("db", gradients.db);
}

// Functions for task 5, of x (…): 0 is x³, 1 is sin x, 2 is yᵢ = xᵢ · Σ x.
Function function_of(double number) {
  return [number](const Tensor& x) {
    const std::vector<double> in = x.to_vector<double>();
    double sum = 0;
    for (const double v : in) sum += v;
    std::vector<double> y;
    for (const double v : in) y.push_back(number == 0 ? v * v * v : number == 1 ? std::sin(v) : v * sum);
    return isobar::tensor(x.shape(), y);
  };
}

}  // namespace

int main() {
  return serve({
      {"sum_to",
       [](const Request& in, Answer& out) {
         std::vector<int64_t> shape;
         for (const double extent : in["shape"].to_vector<double>()) shape.push_back(extent);
         out("y", sum_to(in["x"], Shape(std::span<const int64_t>(shape))));
       }},
      {"multiply_backward",
       [](const Request& in, Answer& out) { two(out, multiply_backward(in["dy"], in["a"], in["b"])); }},
      {"divide_backward",
       [](const Request& in, Answer& out) { two(out, divide_backward(in["dy"], in["a"], in["b"])); }},
      {"matmul", [](const Request& in, Answer& out) { out("y", matmul(in["a"], in["b"])); }},
      {"matmul_backward",
       [](const Request& in, Answer& out) { two(out, matmul_backward(in["dy"], in["a"], in["b"])); }},
      {"softmax", [](const Request& in, Answer& out) { out("y", softmax(in["x"])); }},
      {"softmax_backward",
       [](const Request& in, Answer& out) { out("dx", softmax_backward(in["dy"], in["y"])); }},
      {"max_backward", [](const Request& in, Answer& out) { out("dx", max_backward(in["dy"], in["x"])); }},
      {"numeric_gradient",
       [](const Request& in, Answer& out) {
         const Tensor x = raw::clone(in["x"]);
         out("dx", numeric_gradient(function_of(in.number("function")), x, in["dy"], in.number("h")));
         out("x", x);
       }},
      {"gradient_error",
       [](const Request& in, Answer& out) { out("error", gradient_error(in["analytic"], in["numeric"])); }},
  });
}
