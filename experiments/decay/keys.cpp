#include "keys.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace isobar::decay {
namespace {

// One value per seed.
template <class Value>
Spread over_seeds(const Result& result, Value value) {
  std::vector<double> values;
  for (const Signals& signals : result.runs) values.push_back(value(signals.layers));
  return spread_of(values);
}

double finite_or_none(double theory) { return std::isfinite(theory) ? theory : Run::no_theory; }

// std of one layer over that of the layer below.
double std_ratio(const std::vector<LayerSignal>& layers, size_t layer) {
  return layers[layer].output_std / layers[layer - 1].output_std;
}
double std_ratio(const std::vector<LayerTheory>& layers, size_t layer) {
  return layers[layer].output_std.median / layers[layer - 1].output_std.median;
}

// Of the squared gradient at the outputs, per layer going down: the geometric mean over the middle half of the layers.
double squared_growth(const std::vector<LayerSignal>& layers) {
  const size_t top = layers.size() - 1, low = top / 4, high = top - top / 4;
  return std::pow(layers[low].output_gradient_norm / layers[high].output_gradient_norm,
                  2 / static_cast<double>(high - low));
}

// The same in theory, of relu(BatchNorm(W x)) with B rows, wide and far from both ends (Yang et al. 2019 find its
// limit π/(π − 1) for many rows). A feature's B values y are a random direction orthogonal to (1, …, 1), times √B, so
// two rows' correlation is c = −1/(B − 1); so is that of two rows of a gradient that came down through a
// BatchNorm. With κ as in theory.h, E relu(y_a) relu(y_b) = κ(c)/2, E relu'(y_a) relu'(y_b) = κ'(c)/2:
//   up    W relu(y) has B − 1 free values of variance s = v (1 − κ)/2, and 1/σ² of them the mean B/(B − 3)/s;
//   down  the ReLU leaves 1/2 of the squared gradient; of that BatchNorm's two projections take (1 − κ')/B along
//         (1, …, 1) and (1 − κ)/B along y; it divides by σ², and Wᵀ multiplies by v.
double batch_norm_growth(int64_t batch) {
  const auto rows = static_cast<double>(batch);
  if (rows <= 3) return Run::no_theory;  // 1/σ² has no mean
  const double c = -1 / (rows - 1), theta = std::acos(c), slope = 1 - theta * std::numbers::inv_pi;
  const double kappa = std::sin(theta) * std::numbers::inv_pi + slope * c;
  return (rows - 2 + kappa + slope) / ((1 - kappa) * (rows - 3));
}

double growth_theory(const Config& config) {
  if (config.topology != "plain" || config.order != "norm_relu" || config.norm != "batchnorm")
    return Run::no_theory;
  return batch_norm_growth(config.batch);
}

// The least and the greatest mean among the layers of each seed's net, with their signs, and how far they lie apart.
void measured_range(Run& run, const std::string& key, const Result& result, double LayerSignal::*mean) {
  const auto less = [mean](const LayerSignal& a, const LayerSignal& b) { return a.*mean < b.*mean; };
  const auto lowest = [&](const std::vector<LayerSignal>& layers) {
    return (*std::min_element(layers.begin(), layers.end(), less)).*mean;
  };
  const auto highest = [&](const std::vector<LayerSignal>& layers) {
    return (*std::max_element(layers.begin(), layers.end(), less)).*mean;
  };
  run.measured(key + ".lowest", over_seeds(result, lowest));
  run.measured(key + ".highest", over_seeds(result, highest));
  const auto length = [&](const std::vector<LayerSignal>& layers) {
    return highest(layers) - lowest(layers);
  };
  run.measured(key + ".range", over_seeds(result, length));
}

}  // namespace

void measured_layer(Run& run, const std::string& prefix, const Result& result, size_t layer) {
  const std::string key = fmt::format("{}layer{}", prefix, layer + 1);
  const LayerTheory& theory = result.theory[layer];
  const auto measured = [&](const char* name, double LayerSignal::*value, double predicted) {
    run.measured(key + name, layer_spread(result.runs, layer, value), predicted);
  };
  measured(".std", &LayerSignal::output_std, theory.output_std.median);
  measured(".grad_norm", &LayerSignal::weight_gradient_norm, theory.weight_gradient_norm.median);
  if (result.config.norm != "none") measured(".std_norm", &LayerSignal::norm_std, Run::no_theory);
  measured(".along_one", &LayerSignal::output_along_one, theory.along_one);
  measured(".linear_along_one", &LayerSignal::linear_along_one, Run::no_theory);

  const auto mean_over_std = [&](double LayerSignal::*mean, double LayerSignal::*std) {
    return over_seeds(result, [=](const std::vector<LayerSignal>& layers) {
      return std::abs(layers[layer].*mean) / layers[layer].*std;
    });
  };
  run.measured(key + ".output_mean_over_std",
               mean_over_std(&LayerSignal::output_mean, &LayerSignal::output_std));
  run.measured(key + ".linear_mean_over_std",
               mean_over_std(&LayerSignal::linear_mean, &LayerSignal::linear_std));
  if (layer == 0) return;
  const auto ratio = [&](const std::vector<LayerSignal>& layers) { return std_ratio(layers, layer); };
  run.measured(key + ".ratio", over_seeds(result, ratio), finite_or_none(std_ratio(result.theory, layer)));
}

void measured_net(Run& run, const std::string& prefix, const Result& result) {
  using Layers = std::vector<LayerSignal>;
  const LayerTheory &first = result.theory.front(), &last = result.theory.back();
  const double gradients = last.weight_gradient_norm.median / first.weight_gradient_norm.median;
  const auto gradient_ratio = [](const Layers& layers) {
    return layers.back().weight_gradient_norm / layers.front().weight_gradient_norm;
  };
  const auto gradient_inverse = [&](const Layers& layers) { return 1 / gradient_ratio(layers); };
  const auto std_growth = [](const Layers& layers) {
    return layers.back().output_std / layers.front().output_std;
  };
  run.measured(prefix + "grad_norm.last_over_first", over_seeds(result, gradient_ratio),
               finite_or_none(gradients));
  run.measured(prefix + "grad_norm.first_over_last", over_seeds(result, gradient_inverse),
               finite_or_none(1 / gradients));
  run.measured(prefix + "std.last_over_first", over_seeds(result, std_growth),
               finite_or_none(last.output_std.median / first.output_std.median));
  measured_range(run, prefix + "output_mean", result, &LayerSignal::output_mean);
  measured_range(run, prefix + "linear_mean", result, &LayerSignal::linear_mean);

  const size_t top = result.theory.size() - 1;
  if (top < 2) return;  // two ratios at least
  run.measured(prefix + "grad_norm.squared_growth", over_seeds(result, squared_growth),
               growth_theory(result.config));
  const auto ratios = [&](const Layers& layers) { return std_ratio(layers, top) / std_ratio(layers, 1); };
  run.measured(prefix + "ratio.last_over_second", over_seeds(result, ratios),
               finite_or_none(std_ratio(result.theory, top) / std_ratio(result.theory, 1)));
}

}  // namespace isobar::decay
