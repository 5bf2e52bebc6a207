#include "plots.h"

#include <cmath>

namespace isobar::decay {
namespace {

// `plot` has the words.
Plot filled(Plot plot, const Config& config, const std::vector<Spread>& measured,
            const std::vector<LayerTheory>& theory, Prediction LayerTheory::*predicted,
            const std::vector<double>& printed) {
  std::vector<double> layers;
  for (size_t layer = 0; layer < theory.size(); ++layer) layers.push_back(static_cast<double>(layer + 1));
  PlotCurve over_seeds{{"median [min, max]", "中位数 [最小, 最大]"}},
      closed{{"theory", "理论"}, Role::theory, layers};
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    over_seeds.add(layers[layer], measured[layer]);
    const Prediction& prediction = theory[layer].*predicted;
    closed.y.push_back(prediction.median);
    if (std::isnan(prediction.log_sd)) continue;
    closed.low.push_back(prediction.median * std::exp(-prediction.log_sd));
    closed.high.push_back(prediction.median * std::exp(prediction.log_sd));
  }
  plot.title += ", " + config.net_name();
  plot.curves = {over_seeds, closed};
  if (!printed.empty()) plot.curves.push_back({{"printed", "印出"}, Role::printed, layers, printed});
  return plot;
}

}  // namespace

Plot std_plot(const Config& config, const std::vector<Spread>& measured,
              const std::vector<LayerTheory>& theory, const std::vector<double>& printed) {
  return filled({.title = {"std of each layer's output", "各层输出的标准差"},
                 .x = {"layer", "层"},
                 .y = {"std", "标准差"},
                 .log = true,
                 .key = "std",
                 .figures = {".std", ".ratio"}},
                config, measured, theory, &LayerTheory::output_std, printed);
}

Plot gradient_plot(const Config& config, const std::vector<Spread>& measured,
                   const std::vector<LayerTheory>& theory, const std::vector<double>& printed) {
  return filled({.title = {"gradient norm of each layer's weight", "各层权重的梯度范数"},
                 .x = {"layer", "层"},
                 .y = {"gradient norm", "梯度范数"},
                 .log = true,
                 .key = "grad_norm",
                 .figures = {"grad_norm"}},
                config, measured, theory, &LayerTheory::weight_gradient_norm, printed);
}

}  // namespace isobar::decay
