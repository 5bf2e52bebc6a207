#include "measure.h"

#include <cmath>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"

namespace isobar::transformer_stack {
namespace {

// Σ_{s≠t} x_s · x_t = |Σ_t x_t|² − Σ_t |x_t|², a mean over T (T − 1) pairs; NaN for a single position.
double token_cosine(const Tensor& x) {
  const double squares = sum(square(x)).item(), of_sums = sum(square(sum(x, {1}))).item();
  return (of_sums - squares) / (squares * static_cast<double>(x.size(1) - 1));
}

double gradient_norm(TransformerLayer& layer) {
  double squares = 0;
  for (const Tensor& parameter : parameters(layer)) {
    const double norm = moments_of(parameter.grad()).norm;
    squares += norm * norm;
  }
  return std::sqrt(squares);
}

}  // namespace

std::vector<LayerSignal> measure(const Config& config, const Kind& kind, int64_t depth, int64_t seed) {
  const Rng rng(static_cast<uint64_t>(seed));
  const Shape shape{config.batch, config.length, config.d_model};
  Stack stack(depth, kind.options, rng.split("stack"));
  assign_paths(stack);  // the keys of dropout's masks
  kind.training ? train(stack) : eval(stack);

  std::vector<LayerSignal> signals;
  Tape tape({.rng = rng.split("dropout")});
  Tensor x = rng.split("x").normal(shape);
  for (TransformerLayer& layer : stack.layers) {
    x = layer(x);
    const Moments moments = moments_of(x);
    const Tensor seen = cast(x.detach(), Dtype::f64);
    signals.push_back({.std = moments.std,
                       .mean = moments.mean,
                       .along_one = share_along_one(seen),
                       .token_cosine = token_cosine(seen),
                       .gradient_norm = 0});
  }
  tape.backward(sum(rng.split("cotangent").normal(shape) * x));
  for (size_t i = 0; i < signals.size(); ++i) signals[i].gradient_norm = gradient_norm(stack.layers[i]);
  return signals;
}

}  // namespace isobar::transformer_stack
