#include "publish.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "../decay/theory.h"

namespace isobar::depth {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void publish_cell(Run& run, const std::string& key, const Cell& cell, double ratio_theory) {
  run.measured(key + ".learning_rate", cell.learning_rate);
  run.measured(key + ".accuracy", cell.accuracy());
  run.measured(key + ".train_loss", cell.spread(&Outcome::train_loss));
  run.measured(key + ".diverged", static_cast<double>(cell.diverged()));
  run.measured(key + ".gradient_first", cell.spread([](const Outcome& o) { return o.gradients.front(); }));
  run.measured(key + ".gradient_last", cell.spread([](const Outcome& o) { return o.gradients.back(); }));
  run.measured(key + ".gradient_last_over_first", cell.gradient_last_over_first(), ratio_theory);
  run.measured(key + ".first_moved", cell.spread(&Outcome::first_moved));
  run.measured(key + ".last_moved", cell.spread(&Outcome::last_moved));
  run.measured(key + ".moved_first_over_last", cell.moved_first_over_last());
}

void publish_over_depth_2(Run& run, const std::string& key, const Cell& cell, const Cell& shallow) {
  std::vector<double> gains;
  for (size_t i = 0; i < cell.runs.size(); ++i)
    gains.push_back(cell.runs[i].accuracy - shallow.runs[i].accuracy);
  run.measured(key + ".over_depth2", spread_of(gains));
}

}  // namespace

int64_t matrices(const Kind& kind, int64_t depth) { return kind.topology == "plain" ? depth : 2 * depth; }

double late_loss(const std::vector<double>& losses) {
  const size_t count = std::max<size_t>(1, losses.size() / 10);
  return std::accumulate(losses.end() - static_cast<std::ptrdiff_t>(count), losses.end(), 0.0) /
         static_cast<double>(count);
}

void publish_images(Run& run, const Digits& digits) {
  run.measured("images.train", static_cast<double>(digits.train.size()));
  run.measured("images.validation", static_cast<double>(digits.validation.size()));
  run.measured("images.test", static_cast<double>(digits.test.size()));
  run.measured("blind.loss", blind_loss(digits.train));
  run.measured("blind.accuracy", blind_accuracy(digits.test));
}

void publish_sweep(Run& run, const Kind& kind, int64_t depth, const Sweep& sweep) {
  Json losses = Json::object();
  for (const auto& [rate, loss] : sweep.losses) {
    losses[fmt::format("{}", rate)] = loss;
    run.record(fmt::format("{}/depth{}/sweep", kind.key(), depth), std::vector{rate, loss});
  }
  run.summary()["sweeps"].push_back({{"net", kind.key()},
                                     {"depth", depth},
                                     {"best", sweep.best()},
                                     {"at_edge", sweep.at_edge()},
                                     {"validation_loss", std::move(losses)}});
}

void record(Run& run, const Kind& kind, const Cell& cell) {
  const std::string folder = fmt::format("{}/depth{}/", kind.key(), cell.depth);
  for (const Outcome& outcome : cell.runs) {
    run.record(folder + "accuracy", outcome.accuracy);
    run.record(folder + "loss", outcome.losses);
    run.record(folder + "gradient", outcome.gradients);
  }
}

Csv& open_csv(Run& run) {
  return run.csv("depth.csv",
                 {"topology", "init", "norm", "depth", "seed", "learning_rate", "accuracy", "train_loss",
                  "diverged", "gradient_first", "gradient_last", "first_moved", "last_moved"});
}

double gradient_ratio_theory(const Config& config, const Kind& kind, int64_t depth) {
  if (kind.topology != "plain") return Run::no_theory;
  const std::vector<decay::LayerTheory> theory = decay::theory_of(config.hidden(kind, depth));
  const double ratio = theory.back().weight_gradient_norm.median / theory.front().weight_gradient_norm.median;
  return std::isfinite(ratio) ? ratio : Run::no_theory;
}

void publish(Run& run, Csv& csv, const Config& config, const Result& result) {
  const std::string kind = result.kind.key();
  const Cell* failure = result.failure();
  run.measured(kind + ".fails_at", failure == nullptr ? infinity : static_cast<double>(failure->depth));
  run.measured(kind + ".trains_to", static_cast<double>(result.trains_to()));

  for (const Cell& cell : result.cells) {
    const std::string key = fmt::format("{}.depth{}", kind, cell.depth);
    publish_cell(run, key, cell, gradient_ratio_theory(config, result.kind, cell.depth));
    if (const Cell* shallow = result.at(2); shallow != nullptr && cell.depth > 2)
      publish_over_depth_2(run, key, cell, *shallow);

    for (size_t i = 0; i < cell.runs.size(); ++i) {
      const Outcome& o = cell.runs[i];
      csv.row({result.kind.topology, result.kind.init, result.kind.norm, cell.depth,
               run.seed() + static_cast<int64_t>(i), cell.learning_rate, o.accuracy, o.train_loss,
               static_cast<int64_t>(o.diverged), o.gradients.front(), o.gradients.back(), o.first_moved,
               o.last_moved});
    }
  }
}

void plot_accuracies(Run& run, const std::vector<Result>& results) {
  Plot plot{.title = {"accuracy on unseen digits", "未见过的手写数字上的准确率"},
            .x = {"depth", "深度"},
            .y = {"accuracy", "准确率"},
            .curves = {},
            .key = "accuracy",
            .figures = {".accuracy"}};
  for (const Result& result : results) {
    PlotCurve curve{result.kind.key()};
    for (const Cell& cell : result.cells) curve.add(static_cast<double>(cell.depth), cell.accuracy());
    plot.curves.push_back(std::move(curve));
  }
  run.plot(plot);
}

}  // namespace isobar::depth
