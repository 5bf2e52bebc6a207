#include "report.h"

#include <algorithm>
#include <cmath>

#include "../harness/chart.h"
#include "../harness/table.h"

namespace isobar {
namespace {

std::string shown(const std::string& path) { return path.empty() ? "(model)" : path; }

int64_t depth_of(const std::string& path) { return std::count(path.begin(), path.end(), '.'); }

// A block, or a part of the model itself: what writes to the residual stream or reads all of it.
bool on_the_stream(const ModuleSignal& m) { return m.type == "TransformerBlock" || depth_of(m.path) == 0; }

void name_columns(Run& run, const Probe& probe) {
  std::vector<std::string> modules, weights;
  for (const ModuleSignal& m : probe.signals()) modules.push_back(shown(m.path));
  for (const WeightSignal& w : probe.weights()) weights.push_back(w.name);
  run.file().write("/modules", modules);
  run.file().write("/weights", weights);
}

}  // namespace

void record_modules(Run& run, Csv& csv, const Probe& probe, int64_t step) {
  if (!run.file().has("/modules")) name_columns(run, probe);
  std::vector<double> std, mean, rms, gradient;
  for (const ModuleSignal& m : probe.signals()) {
    std.push_back(m.output.std);
    mean.push_back(m.output.mean);
    rms.push_back(m.output.rms);
    gradient.push_back(m.gradient_norm);
    csv.row({step, shown(m.path), m.type, m.output.std, m.output.mean, m.output.rms, m.gradient_norm});
  }
  std::vector<double> weight_gradient, update;
  for (const WeightSignal& w : probe.weights()) {
    weight_gradient.push_back(w.gradient_norm);
    update.push_back(w.update_ratio);
  }
  run.record("module_step", static_cast<double>(step));
  run.record("module_std", std);
  run.record("module_mean", mean);
  run.record("module_rms", rms);
  run.record("module_grad_norm", gradient);
  run.record("weight_grad_norm", weight_gradient);
  run.record("weight_update_ratio", update);
}

void ModuleHistory::add(const Probe& probe, int64_t step) {
  std::vector<ModuleSignal> seen = probe.signals();
  std::erase_if(seen, [](const ModuleSignal& m) { return m.type == "Dropout"; });
  if (names_.empty()) {
    for (const ModuleSignal& m : seen) names_.push_back(shown(m.path));
    stds_.resize(names_.size());
    gradients_.resize(names_.size());
  }
  steps_.push_back(static_cast<double>(step));
  for (size_t i = 0; i < names_.size(); ++i) {
    stds_[i].push_back(seen[i].output.std);
    gradients_[i].push_back(seen[i].gradient_norm);
  }
}

void ModuleHistory::plot(Run& run) const {
  run.plot(Heatmap{"std of every module's output", "step", "std", true, steps_, names_, stds_});
  run.plot(Heatmap{"gradient norm of every module's output", "step", "gradient norm", true, steps_, names_,
                   gradients_});
}

Json modules_json(const Probe& probe) {
  Json modules = Json::array();
  for (const ModuleSignal& m : probe.signals())
    modules.push_back({{"path", shown(m.path)}, {"std", m.output.std}, {"grad_norm", m.gradient_norm}});
  return modules;
}

void print_modules(Run& run, const Probe& probe, int64_t step) {
  Table table({"module", "type", "std", "mean", "gradient norm"});
  std::vector<ChartRow> stds, gradients;
  for (const ModuleSignal& m : probe.signals()) {
    if (m.type == "Dropout" || depth_of(m.path) > 2) continue;
    table.row({shown(m.path), m.type, figure(m.output.std), figure(m.output.mean), figure(m.gradient_norm)});
    if (!on_the_stream(m)) continue;
    stds.push_back({shown(m.path), m.output.std, std::nan("")});
    gradients.push_back({shown(m.path), m.gradient_norm, std::nan("")});
  }
  run.say("\nOutputs of modules at step {} (layers.csv has them all, at every look)\n\n", step);
  run.say_text(table.text());
  run.say("\n{}", log_chart("std of the residual stream", stds));
  run.say("\n{}", log_chart("gradient norm of the residual stream", gradients));
}

}  // namespace isobar
