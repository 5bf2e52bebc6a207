#include "norm_plots.h"

#include <algorithm>
#include <numeric>

namespace isobar {
namespace {

void plot_losses(Run& run, const NormResults& results, const std::string& size) {
  Plot plot{.title = Phrase{"val loss of each net, ", "各网络的验证损失，"} + size,
            .x = {"net", "网络"},
            .y = {"nats a token", "纳特/词元"},
            .curves = {},
            .key = "val_loss." + size,
            .figures = {"val_loss", "minus"},  // of the first size, whose keys have no size
            .ticks = results.nets(size)};
  if (const std::string prefix = results.prefix(size); !prefix.empty()) plot.figures = {prefix};
  const auto nets = static_cast<double>(plot.ticks.size());
  double highest = 0;
  for (size_t net = 0; net < plot.ticks.size(); ++net)
    for (const TrialRuns* runs : results.rates(size, plot.ticks[net])) {
      const Phrase label = Phrase{"learning rate ", "学习率 "} + fmt::format("{}", runs->trial.learning_rate);
      const auto same = std::find_if(plot.curves.begin(), plot.curves.end(),
                                     [&](const PlotCurve& curve) { return curve.label == label; });
      PlotCurve& curve = same != plot.curves.end() ? *same : plot.curves.emplace_back(PlotCurve{label});
      const Spread losses = spread_of(runs->val_losses());
      curve.add(static_cast<double>(net), losses);
      highest = std::max(highest, losses.max);
    }
  if (highest > 0.9 * results.unigram_loss)  // else it would only press the others together
    plot.curves.push_back({{"the letters' frequencies", "字母频率"},
                           Role::theory,
                           {-0.4, nets - 0.6},
                           {results.unigram_loss, results.unigram_loss}});
  run.plot(plot);
}

void plot_streams(Run& run, const NormResults& results, const std::string& size) {
  Plot plot{.title = Phrase{"std of each block's output after training, ", "训练后各块输出的标准差，"} + size,
            .x = {"block", "块"},
            .y = {"std", "标准差"},
            .log = true,
            .curves = {},
            .key = "block_std." + size,
            .figures = {"block_std", "first_block"}};
  for (const std::string& net : results.nets(size)) {
    const TrialRuns* best = results.best(size, net);
    if (best == nullptr) continue;
    PlotCurve curve{net};
    for (size_t block = 0; block < best->outcomes.front().end.std.size(); ++block) {
      const auto std = [&](const TrialOutcome& outcome) { return outcome.end.std[block]; };
      curve.add(static_cast<double>(block + 1), spread_over(best->outcomes, std));
    }
    plot.curves.push_back(std::move(curve));
  }
  run.plot(plot);
}

// The mean of `window` losses that end before `end`.
double mean_before(const std::vector<double>& losses, size_t end, size_t window) {
  return std::accumulate(losses.begin() + static_cast<std::ptrdiff_t>(end - window),
                         losses.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
         static_cast<double>(window);
}

void plot_training(Run& run, const NormResults& results, const std::string& size) {
  Plot plot{
      .title =
          Phrase{"training loss of each net, mean of ten steps, ", "各网络的训练损失（十步平均），"} + size,
      .x = {"step", "步"},
      .y = {"nats a token", "纳特/词元"},
      .curves = {},
      .key = "loss." + size,
      .figures = {"start_loss"}};
  for (const std::string& net : results.nets(size)) {
    const TrialRuns* best = results.best(size, net);
    if (best == nullptr) continue;
    const auto steps = static_cast<size_t>(best->trial.steps), window = std::min<size_t>(steps, 10);
    PlotCurve curve{net};
    for (size_t end = window; window > 0 && end <= steps; end += window) {
      std::vector<double> means;
      for (const TrialOutcome& outcome : best->outcomes)
        if (outcome.losses.size() >= end) means.push_back(mean_before(outcome.losses, end, window));
      curve.add(static_cast<double>(end), spread_of(means));
    }
    plot.curves.push_back(std::move(curve));
  }
  run.plot(plot);
}

}  // namespace

void plot_trials(Run& run, const NormResults& results) {
  for (const std::string& size : results.sizes()) {
    plot_losses(run, results, size);
    plot_training(run, results, size);
    plot_streams(run, results, size);
  }
}

}  // namespace isobar
