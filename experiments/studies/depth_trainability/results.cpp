#include "results.h"

#include <fmt/ranges.h>

#include <iterator>
#include <numeric>

#include "../../nets/decay/theory.h"
#include "../../run/table.h"

namespace isobar::depth {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double first_gradient(const Outcome& outcome) { return outcome.gradients.front(); }
double last_gradient(const Outcome& outcome) { return outcome.gradients.back(); }

// Of the gradient norm of the last hidden layer over that of the first, at step 0; NaN where unknown.
double gradient_ratio_theory(const Config& config, const Kind& kind, int64_t depth) {
  if (kind.topology != "plain") return Run::no_theory;
  const std::vector<decay::LayerTheory> theory = decay::theory_of(config.hidden(kind, depth));
  const double ratio = theory.back().weight_gradient_norm.median / theory.front().weight_gradient_norm.median;
  return std::isfinite(ratio) ? ratio : Run::no_theory;
}

void publish_cell(Run& run, const std::string& key, const Cell& cell, double ratio_theory) {
  run.measured(key + ".learning_rate", cell.learning_rate);
  run.measured(key + ".accuracy", cell.accuracy());
  const auto measured = [&](const char* name, const auto& value) {
    run.measured(key + name, spread_over(cell.runs, value));
  };
  measured(".train_loss", &Outcome::train_loss);
  run.measured(key + ".diverged", static_cast<double>(cell.diverged()));
  measured(".gradient_first", first_gradient);
  measured(".gradient_last", last_gradient);
  run.measured(key + ".gradient_last_over_first", cell.gradient_last_over_first(), ratio_theory);
  measured(".first_moved", &Outcome::first_moved);
  measured(".last_moved", &Outcome::last_moved);
  measured(".moved_first_over_last", [](const Outcome& o) { return o.first_moved / o.last_moved; });
}

using Results = std::vector<const Result*>;

Results those(const std::vector<Result>& results, const std::function<bool(const Kind&)>& pick) {
  Results picked;
  for (const Result& result : results)
    if (pick(result.kind)) picked.push_back(&result);
  return picked;
}

std::string percent(double share) { return fmt::format("{:.2g} %", 100 * share); }

std::string accuracy_text(const Cell& cell) {
  const std::string text = fmt::format("{:.3f}", cell.accuracy().median);
  return cell.diverged() == 0 ? text : fmt::format("{} ({} diverged)", text, cell.diverged());
}

std::string median_text(const Cell& cell, double (*value)(const Outcome&)) {
  return number_text(spread_over(cell.runs, value).median);
}

// "at depth 100 5 of 10 nets reach a test accuracy of 0.5 in 100 steps; best: pre.default.rmsnorm 0.913; not: …".
std::string tally(const Results& results, int64_t depth) {
  const Result* best = nullptr;
  std::vector<std::string> failing;
  for (const Result* result : results) {
    const Cell& cell = *result->at(depth);
    if (best == nullptr || cell.accuracy().median > best->at(depth)->accuracy().median) best = result;
    if (!cell.works()) failing.push_back(fmt::format("{} {}", result->kind.key(), accuracy_text(cell)));
  }
  const size_t steps = best->at(depth)->runs.front().losses.size();
  std::string text =
      fmt::format("at depth {} {} of {} nets reach a test accuracy of {} in {} steps; best: {} {}", depth,
                  results.size() - failing.size(), results.size(), trainable, steps, best->kind.key(),
                  accuracy_text(*best->at(depth)));
  if (!failing.empty()) text += fmt::format("; not: {}", fmt::join(failing, ", "));
  return text;
}

// A deep chain beside its shallow self, where it first fails or else at its deepest.
std::string shallow_and_deep(const Result& result) {
  const Cell& shallow = result.cells.front();
  const Cell& deep = result.failure() != nullptr ? *result.failure() : result.cells.back();
  const auto moved = [&](double Outcome::*value) { return percent(spread_over(deep.runs, value).median); };
  return fmt::format(
      "{} has {} at depth {} and {} at depth {}, where the gradient starts with a norm of {} in the first "
      "layer and {} in the last, and training moves their weights by {} and {}",
      result.kind.key(), accuracy_text(shallow), shallow.depth, accuracy_text(deep), deep.depth,
      median_text(deep, first_gradient), median_text(deep, last_gradient), moved(&Outcome::first_moved),
      moved(&Outcome::last_moved));
}

// "source and claim: what was seen", for each claim that these results bear on.
std::vector<std::string> findings(const std::vector<Result>& results) {
  std::vector<std::string> sentences;
  const int64_t deepest = results.front().cells.back().depth;
  const auto add = [&](const char* claim, const Results& picked, int64_t depth) {
    if (!picked.empty()) sentences.push_back(fmt::format("{} Seen: {}.", claim, tally(picked, depth)));
  };

  for (const Result* result :
       those(results, [](const Kind& kind) { return kind.topology == "plain" && kind.norm == "none"; }))
    sentences.push_back(fmt::format(
        "003 says that deep nets degenerate to shallow ones (D45), only the back layers learning (D07). Seen: {}.",
        shallow_and_deep(*result)));
  if (deepest >= 1000)
    add("003 says that 1000 layers cannot be trained at all (D09).",
        those(results, [](const Kind&) { return true; }), deepest);
  add("003 says that without normalization deep Transformers cannot be trained (D10); these are MLPs.",
      those(results, [](const Kind& kind) { return kind.norm == "none"; }), deepest);
  for (const Cell& cell : results.front().cells)
    if (cell.depth >= 96) {
      add("003 says that with normalization gradients flow through 96 layers and more (D13).",
          those(results, [](const Kind& kind) { return kind.norm == "layernorm" || kind.norm == "rmsnorm"; }),
          cell.depth);
      break;
    }
  add("004 says that SkipInit, ReZero and Fixup do without normalization (F16).",
      those(results, [](const Kind& kind) { return kind.does_without_norm(); }), deepest);
  return sentences;
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

void publish(Run& run, Csv& csv, const Config& config, const Result& result) {
  const std::string kind = result.kind.key();
  const Cell* failure = result.failure();
  run.measured(kind + ".fails_at", failure == nullptr ? infinity : static_cast<double>(failure->depth));
  run.measured(kind + ".trains_to", static_cast<double>(result.trains_to()));

  for (const Cell& cell : result.cells) {
    const std::string key = fmt::format("{}.depth{}", kind, cell.depth);
    publish_cell(run, key, cell, gradient_ratio_theory(config, result.kind, cell.depth));
    const Cell* const shallow = result.at(2);
    if (shallow != nullptr && cell.depth > 2)
      run.measured(key + ".over_depth2",
                   spread_of(pairwise(values_of(cell.runs, &Outcome::accuracy),
                                      values_of(shallow->runs, &Outcome::accuracy), std::minus())));

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
            .key = "accuracy",
            .figures = {".accuracy"}};
  for (const Result& result : results) {
    PlotCurve curve{result.kind.key()};
    for (const Cell& cell : result.cells) curve.add(static_cast<double>(cell.depth), cell.accuracy());
    plot.curves.push_back(std::move(curve));
  }
  run.plot(plot);
}

void print_question(Run& run, const Config& config, const Digits& digits, const std::vector<Kind>& kinds) {
  run.say(
      "{} images to train on, {} to tune by, {} to report ({}). {} kinds of net, {} layers or blocks of "
      "width {}, {} seeds; {} steps of {} images.\n"
      "A constant classifier reaches an accuracy of {:.3f} and a loss of {:.3f}. {}.\n\n",
      digits.train.size(), digits.validation.size(), digits.test.size(), digits.source, kinds.size(),
      fmt::join(config.depths, ","), config.width, config.seeds, config.steps, config.batch,
      blind_accuracy(digits.test), blind_loss(digits.train),
      config.learning_rate > 0 ? fmt::format("Adam at {}", config.learning_rate)
                               : "Adam; for each net and depth the rate of lowest validation loss");
  if (config.activation != "relu")
    run.say("The hidden layers have the activation {}; 003 and 004 speak of relu.\n\n", config.activation);
}

void print_line(Run& run, const Kind& kind, const Cell& cell) {
  run.say("{:28} depth {:<5} rate {:<9} accuracy {}\n", kind.key(), cell.depth,
          number_text(cell.learning_rate), accuracy_text(cell));
}

void print_results(Run& run, const Config& config, const std::vector<Result>& results) {
  std::vector<std::string> heading = {"net"};
  for (const int64_t depth : config.depths) heading.push_back(fmt::format("depth {}", depth));
  heading.insert(heading.end(), {"fails at", "gradient of first, deepest net", "of last"});
  Table table(heading, "l" + std::string(heading.size() - 1, 'r'));
  for (const Result& result : results) {
    std::vector<std::string> row = {result.kind.key()};
    for (const Cell& cell : result.cells) row.push_back(accuracy_text(cell));
    const Cell *failure = result.failure(), *deepest = &result.cells.back();
    row.insert(row.end(), {failure == nullptr ? "–" : std::to_string(failure->depth),
                           median_text(*deepest, first_gradient), median_text(*deepest, last_gradient)});
    table.row(std::move(row));
  }
  run.say("\nTest accuracy, median over {} seeds\n\n{}\n", config.seeds, table.text());

  run.summary()["findings"] = Json::array();
  for (const std::string& sentence : findings(results)) {
    run.say("{}\n", sentence);
    run.summary()["findings"].push_back(sentence);
  }
}

void expect_identities(Run& run, const Config& config, const std::vector<Result>& results) {
  for (const Result& result : results) {
    const std::string kind = result.kind.key();
    if (result.kind.topology == "rezero" || result.kind.topology == "fixup") {
      int64_t gradients = 0, losses = 0;
      for (const Cell& cell : result.cells)
        for (size_t i = 0; i < cell.runs.size(); ++i) {
          for (const double norm : cell.runs[i].gradients) gradients += norm != 0;
          losses += cell.runs[i].losses[0] != result.cells.front().runs[i].losses[0];
        }
      run.expect(kind + " starts as the identity", gradients == 0 && losses == 0,
                 fmt::format(
                     "at step 0 {} W1 with a gradient, {} losses unlike that of the least depth; wanted none",
                     gradients, losses));
    }
    if (kind != "plain.default.none") continue;
    for (const Cell& cell : result.cells) {
      // Deeper the gradients leave the range of f32.
      if (cell.depth < 3 || cell.depth > 32) continue;
      const double theory = gradient_ratio_theory(config, result.kind, cell.depth);
      const double error = std::log10(cell.gradient_last_over_first().median / theory);
      // The log of a squared gradient walks at random with a variance of about 5/width a layer: three
      // standard deviations of the log of the norm, and 0.1 for the input's own mean square.
      const double allowed =
          0.1 + 1.5 * std::log10(std::exp(1)) *
                    std::sqrt(5 * static_cast<double>(cell.depth) / static_cast<double>(config.width));
      run.expect(fmt::format("{} depth {} gradient ratio", kind, cell.depth), std::abs(error) < allowed,
                 fmt::format("last over first {}, theory {}; log10 of the quotient {:.3f}, allowed {:.3f}",
                             number_text(cell.gradient_last_over_first().median), number_text(theory), error,
                             allowed));
    }
  }
}

}  // namespace isobar::depth
