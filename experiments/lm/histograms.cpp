#include "histograms.h"

#include "../harness/lists.h"
#include "module_history.h"

namespace isobar {
namespace {

constexpr size_t bins = 64;

void append_shares(std::vector<double>& row, const Histogram& histogram) {
  const auto share = [&](int64_t count) {
    return histogram.total > 0 ? static_cast<double>(count) / static_cast<double>(histogram.total) : 0.0;
  };
  for (const int64_t count : histogram.bins) row.push_back(share(count));
  row.push_back(share(histogram.zeros));
}

Ridges ridges_of(Run& run, Ridges ridges) {
  constexpr size_t most_steps = 12;
  const Hdf5File& file = run.whole_file();
  const std::vector<std::string> paths = file.read_strings("/modules"),
                                 types = file.read_strings("/module_types");
  const std::vector<double> all = file.read("/series/" + ridges.quantity + "_histogram").to_vector<double>(),
                            steps = file.read("/series/module_step").to_vector<double>();
  ridges.edges = file.read("/series/" + ridges.quantity + "_edges").to_vector<double>();
  std::vector<size_t> modules;
  for (size_t i = 0; i < paths.size(); ++i)
    if (on_the_stream(paths[i], types[i]) && types[i] != "Dropout") modules.push_back(i);
  for (const size_t module : modules) ridges.modules.push_back(paths[module]);
  for (const size_t at : evenly_chosen(steps.size(), most_steps)) {
    ridges.steps.push_back(steps[at]);
    auto& shares = ridges.shares.emplace_back();
    auto& zeros = ridges.zeros.emplace_back();
    for (const size_t module : modules) {
      const auto row = all.begin() + static_cast<ptrdiff_t>((at * paths.size() + module) * (bins + 1));
      shares.emplace_back(row, row + bins);
      zeros.push_back(row[bins]);
    }
  }
  return ridges;
}

}  // namespace

void record_histograms(Run& run, const Probe& probe, HistogramProbe& histograms) {
  const std::vector<std::string> counts =
      run.ranks().gather(run.ranks().size() > 1 ? histograms.counts() : "");
  if (!run.ranks().first()) return;
  for (size_t rank = 1; rank < counts.size(); ++rank)
    if (!counts[rank].empty()) histograms.add(counts[rank]);
  const HistogramProbe::Signal nothing;
  if (run.rows_of("activation_edges") == 0) {
    run.record("activation_edges", nothing.output.edges());
    run.record("gradient_edges", nothing.gradient.edges());
  }
  std::vector<double> outputs, gradients;
  for (const ModuleSignal& module : probe.signals()) {
    const HistogramProbe::Signal* signal = histograms.find(module.path);
    append_shares(outputs, signal != nullptr ? signal->output : nothing.output);
    append_shares(gradients, signal != nullptr ? signal->gradient : nothing.gradient);
  }
  run.record("activation_histogram", outputs);
  run.record("gradient_histogram", gradients);
}

void plot_ridges(Run& run) {
  if (run.rows_of("activation_histogram") == 0) return;  // every step was dropped
  run.plot(ridges_of(
      run, {.title = {"values of each module's output", "各模块输出值的分布"}, .quantity = "activation"}));
  run.plot(
      ridges_of(run, {.title = {"values of the gradient of each module's output", "各模块输出梯度值的分布"},
                      .quantity = "gradient"}));
}

}  // namespace isobar
