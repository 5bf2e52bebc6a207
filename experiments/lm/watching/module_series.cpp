#include "module_series.h"

#include <bit>

#include "../../harness/lists.h"
#include "../../harness/table.h"
#include "../../harness/text_chart.h"

namespace isobar {
namespace {

std::string shown(const std::string& path) { return path.empty() ? "(model)" : path; }

void name_columns(Run& run, const Probe& probe) {
  std::vector<std::string> modules, types, weights;
  for (const ModuleSignal& m : probe.signals()) {
    modules.push_back(shown(m.path));
    types.push_back(m.type);
  }
  for (const WeightSignal& w : probe.weights()) weights.push_back(w.name);
  run.file().write("/modules", modules);
  run.file().write("/module_types", types);
  run.file().write("/weights", weights);
}

std::vector<double> series(Run& run, const std::string& name) {
  return run.whole_file().read("/series/" + name).to_vector<double>();
}

void plot_history(Run& run, const std::vector<ModuleHistory>& modules, const Phrase& title,
                  const Phrase& value, std::vector<double> ModuleHistory::*history) {
  Heatmap map{title, {"step", "步"}, value, true, series(run, "module_step")};
  for (const ModuleHistory& m : modules) {
    if (m.type == "Dropout") continue;
    map.rows.push_back(m.path);
    map.values.push_back(m.*history);
  }
  run.plot(map);
}

// A row of a series that a run begun by an older isobar does not have: its earlier log steps get rows of NaN.
void record_since_added(Run& run, const std::string& name, const std::vector<double>& row) {
  while (run.rows_of(name) + 1 < run.rows_of("module_step"))
    run.record(name, std::vector<double>(row.size(), std::nan("")));
  run.record(name, row);
}

// A number of bytes of each rank, in MiB.
std::vector<double> of_ranks(Run& run, size_t bytes) {
  std::vector<double> all;
  for (const std::string& text : run.ranks().gather(std::to_string(bytes)))
    all.push_back(std::stod(text) / (1 << 20));
  return all;
}

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

void record_modules(Run& run, const Probe& probe, const SaturationProbe& all_shares, int64_t step) {
  if (!run.ranks().first()) return;  // it has the last piece, which is what a probe keeps
  if (!run.file().has("/modules")) name_columns(run, probe);
  std::vector<double> zeros, saturated;
  std::string lines;  // of run.log
  for (const ModuleSignal& m : probe.signals()) {
    const SaturatedShares* const found = all_shares.find(m.path);
    const SaturatedShares shares = found != nullptr ? *found : SaturatedShares{std::nan(""), std::nan("")};
    zeros.push_back(shares.zeros);
    saturated.push_back(shares.saturated);
    lines += fmt::format("{}step {} {}: std {}, gradient norm {}", lines.empty() ? "" : "\n", step,
                         shown(m.path), number_text(m.output.std), number_text(m.gradient_norm));
  }
  run.note(lines);
  run.record("module_step", static_cast<double>(step));
  const auto record = [&](const char* name, const auto& signals, const auto& value) {
    run.record(name, values_of(signals, value));
  };
  record("module_std", probe.signals(), [](const ModuleSignal& m) { return m.output.std; });
  record("module_mean", probe.signals(), [](const ModuleSignal& m) { return m.output.mean; });
  record("module_rms", probe.signals(), [](const ModuleSignal& m) { return m.output.rms; });
  record("module_grad_norm", probe.signals(), &ModuleSignal::gradient_norm);
  record_since_added(run, "module_zeros", zeros);
  record_since_added(run, "module_saturated", saturated);
  record("weight_grad_norm", probe.weights(), &WeightSignal::gradient_norm);
  record("weight_update_ratio", probe.weights(), &WeightSignal::update_ratio);
}

void report_modules(Run& run) {
  if (!run.file().has("/modules")) return;  // every step was dropped
  const std::vector<ModuleHistory> modules = module_histories(run.whole_file());
  plot_history(run, modules, {"std of every module's output", "各模块输出的标准差"}, {"std", "标准差"},
               &ModuleHistory::std);
  plot_history(run, modules, {"gradient norm of every module's output", "各模块输出的梯度范数"},
               {"gradient norm", "梯度范数"}, &ModuleHistory::gradient);
  Json last = Json::array();
  Table table({"module", "type", "std", "mean", "gradient norm", "zeros", "saturated"}, "llrrrrr");
  std::vector<ChartRow> stds, gradients;
  for (const ModuleHistory& m : modules) {
    const double std = m.std.back(), gradient = m.gradient.back();
    const double zeros = m.zeros.back(), saturated = m.saturated.back();
    last.push_back({{"path", m.path}, {"std", std}, {"grad_norm", gradient}, {"zeros", zeros}});
    if (!std::isnan(saturated)) last.back()["saturated"] = saturated;
    if (m.type == "Dropout" || depth_of(m.path) > 2) continue;
    table.row({m.path, m.type, number_text(std), number_text(m.mean.back()), number_text(gradient),
               percent_text(zeros), percent_text(saturated)});
    if (!on_the_stream(m.path, m.type)) continue;
    stds.push_back({m.path, std, std::nan("")});
    gradients.push_back({m.path, gradient, std::nan("")});
  }
  run.summary()["modules"] = last;
  run.say("\nOutputs of modules at step {} (layers.csv has them all, at every log step)\n\n",
          series(run, "module_step").back());
  run.say_text(table.text());
  run.say("\n{}", log_chart("std of the residual stream", stds));
  run.say("\n{}", log_chart("gradient norm of the residual stream", gradients));
}

void write_tables(Run& run) {
  const std::vector<double> loss = series(run, "loss"), rate = series(run, "learning_rate"),
                            norm = series(run, "grad_norm"), val_loss = series(run, "val_loss");
  Csv& losses = run.csv("loss.csv", {"step", "loss", "learning_rate", "grad_norm", "val_loss"});
  for (size_t step = 0; step < loss.size(); ++step)
    losses.row({static_cast<int64_t>(step), loss[step], rate[step], norm[step], val_loss[step]});
  Csv& layers = run.csv("layers.csv",
                        {"step", "module", "type", "std", "mean", "rms", "grad_norm", "zeros", "saturated"});
  if (!run.file().has("/modules")) return;  // every step was dropped
  const std::vector<ModuleHistory> modules = module_histories(run.whole_file());
  const std::vector<double> steps = series(run, "module_step"), rms = series(run, "module_rms");
  for (size_t row = 0; row < steps.size(); ++row)
    for (size_t i = 0; i < modules.size(); ++i) {
      const ModuleHistory& m = modules[i];
      layers.row({static_cast<int64_t>(steps[row]), m.path, m.type, m.std[row], m.mean[row],
                  rms[row * modules.size() + i], m.gradient[row], m.zeros[row], m.saturated[row]});
    }
}

void plot_losses(Run& run) {
  PlotCurve training{{"training", "训练"}}, validation{{"validation", "验证"}};
  training.y = series(run, "loss");
  const std::vector<double> val_loss = series(run, "val_loss");
  for (size_t step = 0; step < val_loss.size(); ++step) {
    training.x.push_back(static_cast<double>(step));
    if (std::isnan(val_loss[step])) continue;
    validation.x.push_back(static_cast<double>(step + 1));
    validation.y.push_back(val_loss[step]);
  }
  run.plot(
      Plot{{"loss", "损失"}, {"step", "步"}, {"nats a token", "纳特/词元"}, false, {training, validation}});
}

void say_shares(Run& run, int64_t pieces) {
  const int64_t ranks = run.ranks().size(), most = (pieces + ranks - 1) / ranks;
  const std::string shared = fmt::format("{} ranks share {} piece{}", ranks, pieces, pieces == 1 ? "" : "s");
  const int64_t busy = (pieces + most - 1) / most;
  if (busy < ranks)
    run.say("{}: {} {} none; make --gradient_accumulation_steps a multiple of {}\n", shared, ranks - busy,
            ranks - busy == 1 ? "has" : "have", ranks);
  else if (ranks * most != pieces || !std::has_single_bit(static_cast<uint64_t>(most)))
    run.say("{}, {} each at most: fewer bytes travel with --gradient_accumulation_steps {}, {} or {}\n",
            shared, most, ranks, 2 * ranks, 4 * ranks);
}

void say_memory(Run& run) {
  const memory::Stats now = memory::stats();
  const std::vector<double> peaks = of_ranks(run, now.peak_bytes), resting = of_ranks(run, now.bytes_in_use);
  const auto most = std::max_element(peaks.begin(), peaks.end());
  const auto largest = static_cast<size_t>(most - peaks.begin());
  run.timing()["peak_allocated_mib"] = *most;
  run.timing()["resting_allocated_mib"] = resting[largest];
  run.say("{:.1f} MiB of tensors at the peak of training, {:.1f} of them between steps", *most,
          resting[largest]);
  if (run.ranks().size() == 1) return run.say("\n");
  run.timing()["peak_allocated_mib_of_ranks"] = peaks;
  run.say(", on {}; on the others {:.1f} at least\n", run.ranks().name_of(static_cast<int>(largest)),
          *std::min_element(peaks.begin(), peaks.end()));
}

std::vector<ModuleHistory> module_histories(const Hdf5File& file) {
  if (!file.has("/modules") || !file.has("/module_types")) return {};
  const std::vector<std::string> paths = file.read_strings("/modules"),
                                 types = file.read_strings("/module_types");
  using History = std::vector<double> ModuleHistory::*;
  constexpr std::array<std::pair<const char*, History>, 5> kept = {
      {{"/series/module_std", &ModuleHistory::std},
       {"/series/module_mean", &ModuleHistory::mean},
       {"/series/module_grad_norm", &ModuleHistory::gradient},
       {"/series/module_zeros", &ModuleHistory::zeros},
       {"/series/module_saturated", &ModuleHistory::saturated}}};
  std::vector<std::vector<double>> values;
  for (const auto& [name, history] : kept)
    values.push_back(file.has(name) ? file.read(name).to_vector<double>() : std::vector<double>());
  // Of a file that grows the last row may be in some of them only.
  const size_t numbers = std::min({values[0].size(), values[1].size(), values[2].size()});
  if (types.size() != paths.size() || numbers < paths.size()) return {};
  std::vector<ModuleHistory> all;
  for (size_t i = 0; i < paths.size(); ++i) {
    ModuleHistory& module = all.emplace_back(ModuleHistory{paths[i], types[i], {}, {}, {}});
    for (size_t at = i; at < numbers; at += paths.size())
      for (size_t k = 0; k < kept.size(); ++k)
        (module.*kept[k].second).push_back(at < values[k].size() ? values[k][at] : std::nan(""));
  }
  return all;
}

int64_t depth_of(const std::string& path) { return std::count(path.begin(), path.end(), '.'); }

bool on_the_stream(const std::string& path, const std::string& type) {
  return type == "TransformerBlock" || depth_of(path) == 0;
}

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
