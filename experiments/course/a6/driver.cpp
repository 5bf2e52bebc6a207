#include "driver.h"

#include <cmath>

#include <isobar/core/rng.h>

#include "a6.h"

namespace {

// A real net: weights by PyTorch's default or He's, from a key; measured, and over predicted.
void study(const Request& in, Answer& out) {
  const int64_t depth = in.integer("depth"), width = in.integer("width"), batch = in.integer("batch");
  const isobar::Rng rng(in.integer("seed"));
  const bool he = in.number("he") != 0;
  const double bound = 1 / std::sqrt(width);
  const Shape shape{depth, width, width};
  const Tensor weights = he ? rng.split("w").normal(shape, 0, std::sqrt(2.0 / width), Dtype::f64)
                            : rng.split("w").uniform(shape, -bound, bound, Dtype::f64);
  const Tensor biases = he ? isobar::zeros({depth, width}, Dtype::f64)
                           : rng.split("b").uniform({depth, width}, -bound, bound, Dtype::f64);
  const Signals signals = measure(rng.split("x").normal({batch, width}, 0, 1, Dtype::f64), weights, biases,
                                  rng.split("dy").normal({batch, width}, 0, 1, Dtype::f64));
  const Variances known = variances_of(he ? Init::he : Init::torch_default, width);
  const Tensor std = predict_std(depth, width, known),
               norm = predict_gradient_norm(depth, width, batch, known);
  out("std", signals.std)("gradient_norm", signals.gradient_norm);
  out("std_ratio", signals.std / std)("norm_ratio", signals.gradient_norm / norm);
}

// How far apart two inputs are after each layer of one net: the root mean square of the difference.
void apart(const Request& in, Answer& out) {
  const int64_t depth = in.integer("depth"), width = in.integer("width"), batch = in.integer("batch");
  const isobar::Rng rng(in.integer("seed"));
  const Variances known = variances_of(in.number("he") != 0 ? Init::he : Init::torch_default, width);
  const Tensor x = rng.split("x").normal({batch, 2 * width}, 0, 1, Dtype::f64);
  const Tensor w = rng.split("w").normal({depth, width, width}, 0, std::sqrt(known.weight), Dtype::f64),
               b = rng.split("b").normal({depth, width}, 0, std::sqrt(known.bias), Dtype::f64);
  Tensor one = isobar::slice(x, 1, 0, width), two = isobar::slice(x, 1, width, 2 * width);
  std::vector<double> distance;
  for (int64_t l = 0; l < depth; ++l) {
    const Tensor weight = isobar::reshape(isobar::slice(w, 0, l, l + 1), {width, width}),
                 bias = isobar::reshape(isobar::slice(b, 0, l, l + 1), {width});
    one = isobar::relu(isobar::linear(one, weight, bias));
    two = isobar::relu(isobar::linear(two, weight, bias));
    distance.push_back(std::sqrt(isobar::mean(isobar::square(one - two)).item()));
  }
  out("distance", distance);
}

}  // namespace

int main() {
  return serve({
      {"variances", of(variances_of, {"init", "width"}, {"weight", "bias"})},
      {"predict_std", of(predict_std, {"depth", "width", "weight,bias"}, {"std"})},
      {"plateau", of(plateau_std, {"width", "weight,bias"}, {"std"})},
      {"predict_gradient", of(predict_gradient_norm, {"depth", "width", "batch", "weight,bias"}, {"norm"})},
      {"predict_two",  // nets of one depth, one after the other
       [](const Request& in, Answer& out) {
         const int64_t depth = in.integer("depth"), width = in.integer("width");
         for (const std::string name : {"first", "second"}) {
           const auto v = in.as<Variances>(name + "_weight," + name + "_bias");
           out(name + "_std", predict_std(depth, width, v));
           out(name + "_norm", predict_gradient_norm(depth, width, 8, v));
         }
       }},
      {"measure",
       [](const Request& in, Answer& out) {
         // Another net before: nothing of it may be left.
         measure(in["dy"], in["weights"], in["biases"], in["x"]);
         const Signals s = measure(in["x"], in["weights"], in["biases"], in["dy"]);
         out("std", s.std)("gradient_norm", s.gradient_norm);
       }},
      {"study", study},
      {"apart", apart},
      {"judge", of(judge, {"printed", "measured", "rounding"}, {"verdicts"})},
  });
}
