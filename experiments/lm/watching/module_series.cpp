#include "module_series.h"

#include <bit>

#include "../../../data/utf8_stream.h"
#include "../../../nn/model.h"
#include "../../run/lists.h"
#include "../../run/table.h"
#include "../../run/text_chart.h"

namespace isobar {
namespace {

std::string shown(const std::string& path) { return path.empty() ? "(model)" : path; }

void plot_history(Run& run, const ModuleHistories& all, const Phrase& title, const Phrase& value,
                  std::vector<double> ModuleHistory::*history) {
  Heatmap map{title, {"step", "步"}, value, true, all.steps};
  for (const ModuleHistory& m : all.modules) {
    if (m.type == "Dropout") continue;
    map.rows.push_back(m.path);
    map.values.push_back(m.*history);
  }
  run.plot(map);
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

int64_t count_of(const StepLine& line, const std::string& name) {
  const double number = line.number(name);
  check(number >= 0 && number < 1e15 && number == std::floor(number), "wanted a count as '{}', got {}", name,
        number);
  return static_cast<int64_t>(number);
}

// The shares of the chosen log steps and modules.
void add_shares(Ridges& ridges, const std::vector<double>& all, const std::vector<size_t>& modules) {
  auto& shares = ridges.shares.emplace_back();
  auto& zeros = ridges.zeros.emplace_back();
  for (const size_t module : modules) {
    const auto row = all.begin() + static_cast<ptrdiff_t>(module * (bins + 1));
    shares.emplace_back(row, row + bins);
    zeros.push_back(row[bins]);
  }
}

void plot_ridges(Run& run, const ModuleHistories& all) {
  constexpr size_t most_steps = 12;
  const HistogramProbe::Signal edges;
  Ridges outputs{.title = {"values of each module's output", "各模块输出值的分布"},
                 .quantity = "activation",
                 .edges = edges.output.edges()},
      gradients{.title = {"values of the gradient of each module's output", "各模块输出梯度值的分布"},
                .quantity = "gradient",
                .edges = edges.gradient.edges()};
  std::vector<size_t> modules;
  for (size_t i = 0; i < all.modules.size(); ++i) {
    const ModuleHistory& module = all.modules[i];
    if (!on_the_stream(module.path, module.type) || module.type == "Dropout") continue;
    modules.push_back(i);
    for (Ridges* ridges : {&outputs, &gradients}) ridges->modules.push_back(module.path);
  }
  const std::vector<size_t> chosen = evenly_chosen(all.steps.size(), most_steps);
  run.read_modules([&, at = size_t{0}](const StepLine& line) mutable {
    if (!std::ranges::binary_search(chosen, at++)) return;
    for (Ridges* ridges : {&outputs, &gradients}) {
      ridges->steps.push_back(static_cast<double>(line.step));
      add_shares(*ridges, line.numbers(ridges->quantity + "_histogram"), modules);
    }
  });
  run.plot(outputs);
  run.plot(gradients);
}

// Reads modules.jsonl and writes layers.csv as it goes.
ModuleHistories histories_of(Run& run) {
  ModuleHistories all;
  Csv& layers = run.csv("layers.csv",
                        {"step", "module", "type", "std", "mean", "rms", "grad_norm", "zeros", "saturated"});
  run.read_modules([&](const StepLine& line) {
    all.add(line);
    const std::vector<double>& rms = line.numbers("module_rms");
    for (size_t i = 0; i < all.modules.size(); ++i) {
      const ModuleHistory& m = all.modules[i];
      layers.row({line.step, m.path, m.type, m.std.back(), m.mean.back(), rms.at(i), m.gradient.back(),
                  m.zeros.back(), m.saturated.back()});
    }
  });
  return all;
}

void report_last_step(Run& run, const ModuleHistories& all) {
  Json last = Json::array();
  Table table({"module", "type", "std", "mean", "gradient norm", "zeros", "saturated"}, "llrrrrr");
  std::vector<ChartRow> stds, gradients;
  for (const ModuleHistory& m : all.modules) {
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
          all.steps.back());
  run.say_text(table.text());
  run.say("\n{}", log_chart("std of the residual stream", stds));
  run.say("\n{}", log_chart("gradient norm of the residual stream", gradients));
}

}  // namespace

void record_modules(Run& run, const LogStep& seen, const RunSize& size) {
  const bool several = run.ranks().size() > 1;
  const std::vector<std::string> counts = run.ranks().gather(several ? seen.histograms.counts() : "");
  if (!run.ranks().first()) return;  // it has the last piece, which is what a probe keeps
  for (size_t rank = 1; rank < counts.size(); ++rank)
    if (!counts[rank].empty()) seen.histograms.add(counts[rank]);

  const HistogramProbe::Signal nothing;
  std::vector<std::string> modules, types, weights;
  std::vector<double> zeros, saturated, outputs, gradients;
  std::string lines;  // of run.log
  for (const ModuleSignal& m : seen.probe.signals()) {
    modules.push_back(shown(m.path));
    types.push_back(m.type);
    const SaturatedShares* const found = seen.shares.find(m.path);
    const SaturatedShares shares = found != nullptr ? *found : SaturatedShares{std::nan(""), std::nan("")};
    zeros.push_back(shares.zeros);
    saturated.push_back(shares.saturated);
    const HistogramProbe::Signal* const signal = seen.histograms.find(m.path);
    append_shares(outputs, signal != nullptr ? signal->output : nothing.output);
    append_shares(gradients, signal != nullptr ? signal->gradient : nothing.gradient);
    lines += fmt::format("{}step {} {}: std {}, gradient norm {}", lines.empty() ? "" : "\n", run.steps(),
                         shown(m.path), number_text(m.output.std), number_text(m.gradient_norm));
  }
  for (const WeightSignal& w : seen.probe.weights()) weights.push_back(w.name);
  run.note(lines);
  const auto of_modules = [&](const auto& value) { return values_of(seen.probe.signals(), value); };
  const auto of_weights = [&](const auto& value) { return values_of(seen.probe.weights(), value); };
  run.record_modules({{"steps", static_cast<double>(size.steps)},
                      {"tokens_per_step", static_cast<double>(size.tokens_per_step)},
                      {"modules", modules},
                      {"module_types", types},
                      {"module_std", of_modules([](const ModuleSignal& m) { return m.output.std; })},
                      {"module_mean", of_modules([](const ModuleSignal& m) { return m.output.mean; })},
                      {"module_rms", of_modules([](const ModuleSignal& m) { return m.output.rms; })},
                      {"module_grad_norm", of_modules(&ModuleSignal::gradient_norm)},
                      {"module_zeros", zeros},
                      {"module_saturated", saturated},
                      {"weights", weights},
                      {"weight_grad_norm", of_weights(&WeightSignal::gradient_norm)},
                      {"weight_update_ratio", of_weights(&WeightSignal::update_ratio)},
                      {"activation_histogram", outputs},
                      {"gradient_histogram", gradients}});
}

void report_modules(Run& run) {
  if (!run.ranks().first()) return;
  const ModuleHistories all = histories_of(run);
  if (all.steps.empty()) return;  // every step was dropped
  const HistogramProbe::Signal edges;
  run.record("activation_edges", edges.output.edges());
  run.record("gradient_edges", edges.gradient.edges());
  plot_history(run, all, {"std of every module's output", "各模块输出的标准差"}, {"std", "标准差"},
               &ModuleHistory::std);
  plot_history(run, all, {"gradient norm of every module's output", "各模块输出的梯度范数"},
               {"gradient norm", "梯度范数"}, &ModuleHistory::gradient);
  report_last_step(run, all);
  plot_ridges(run, all);
}

void report_losses(Run& run) {
  if (!run.ranks().first()) return;
  PlotCurve training{{"training", "训练"}}, validation{{"validation", "验证"}};
  Csv& losses = run.csv("loss.csv", {"step", "loss", "learning_rate", "grad_norm", "val_loss"});
  run.read_steps([&](const StepLine& line) {
    const double loss = line.number("loss"), val_loss = line.number("val_loss");
    losses.row({line.step, loss, line.number("learning_rate"), line.number("grad_norm"), val_loss});
    const auto step = static_cast<double>(line.step);
    training.x.push_back(step);
    training.y.push_back(loss);
    if (std::isnan(val_loss)) return;
    validation.x.push_back(step + 1);
    validation.y.push_back(val_loss);
  });
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

void ModuleNames::add(const StepLine& line) {
  const bool first = modules.empty();
  for (auto* names : {&modules, &types, &weights}) {
    const char* name = names == &modules ? "modules" : names == &types ? "module_types" : "weights";
    std::vector<std::string> now = line.texts(name);
    check(first || now == *names, "wanted the {} of the lines before, got others", name);
    *names = std::move(now);
  }
  const auto check_size = [&](const std::string& name, size_t wanted) {
    const size_t got = line.numbers(name).size();
    check(got == wanted, "wanted {} numbers as '{}', got {}", wanted, name, got);
  };
  check(!modules.empty() && types.size() == modules.size(),
        "wanted modules and as many module_types, got {} and {}", modules.size(), types.size());
  for (const char* name :
       {"module_std", "module_mean", "module_rms", "module_grad_norm", "module_zeros", "module_saturated"})
    check_size(name, modules.size());
  for (const char* name : {"weight_grad_norm", "weight_update_ratio"}) check_size(name, weights.size());
  for (const char* name : {"activation_histogram", "gradient_histogram"})
    check_size(name, modules.size() * (bins + 1));
  for (const char* name : {"steps", "tokens_per_step"}) count_of(line, name);
}

void check_step_line(const StepLine& line) {
  constexpr std::array names = {"loss", "learning_rate", "grad_norm", "val_loss"};
  for (const char* name : names) line.number(name);
  check(line.values.size() == names.size(), "wanted {} numbers, got {}", names.size(), line.values.size());
}

void ModuleHistories::add(const StepLine& line) {
  std::vector<std::string> paths = line.texts("modules"), types = line.texts("module_types");
  check(types.size() == paths.size(), "wanted {} module_types, got {}", paths.size(), types.size());
  for (auto* names : {&paths, &types})
    for (std::string& name : *names) name = one_line(name);
  if (steps.empty())
    for (size_t i = 0; i < paths.size(); ++i) modules.push_back({paths[i], types[i], {}, {}, {}});
  check(std::ranges::equal(paths, modules, {}, {}, &ModuleHistory::path),
        "wanted the modules of the lines before, got others");
  using History = std::vector<double> ModuleHistory::*;
  constexpr std::array<std::pair<const char*, History>, 5> histories = {
      {{"module_std", &ModuleHistory::std},
       {"module_mean", &ModuleHistory::mean},
       {"module_grad_norm", &ModuleHistory::gradient},
       {"module_zeros", &ModuleHistory::zeros},
       {"module_saturated", &ModuleHistory::saturated}}};
  for (const auto& [name, history] : histories) {
    const std::vector<double>& values = line.numbers(name);
    check(values.size() == modules.size(), "wanted {} numbers as '{}', got {}", modules.size(), name,
          values.size());
    for (size_t i = 0; i < values.size(); ++i) (modules[i].*history).push_back(values[i]);
  }
  size = {count_of(line, "steps"), count_of(line, "tokens_per_step")};
  steps.push_back(static_cast<double>(line.step));
}

int64_t depth_of(const std::string& path) { return std::count(path.begin(), path.end(), '.'); }

bool on_the_stream(const std::string& path, const std::string& type) {
  return type == "TransformerBlock" || depth_of(path) == 0;
}

}  // namespace isobar
