#include "seeds.h"

#include "../../data/metrics_file.h"
#include "../harness/table.h"
#include "checkpoints/checkpoint.h"

namespace isobar {
namespace {

namespace fs = std::filesystem;

struct SeedResult {
  int64_t seed;
  double train_loss, val_loss, best_val_loss;
  std::vector<double> training, validation;  // by step; NaN where there was no evaluation
};

Json read_summary(const std::string& folder) {
  return Json::parse(read_file(folder + "/summary.json", size_t{1} << 28));
}

SeedResult read_back(const std::string& folder, int64_t seed) {
  const Json summary = read_summary(folder);
  MetricsLog log(folder + "/metrics.jsonl");
  log.read();
  SeedResult result{seed,
                    number_from(summary.at("train_loss")),
                    number_from(summary.at("val_loss")),
                    number_from(summary.at("best_val_loss")),
                    {},
                    {}};
  for (const MetricsLog::Column& column : log.columns()) {
    if (column.name == "loss") result.training = column.values;
    if (column.name == "val_loss") result.validation = column.values;
  }
  return result;
}

// What a folder holds of this very training: nothing, "a part" of it to go on with, or "all".
std::string found_in(const RunOptions& options) {
  if (options.force) return "";
  const auto same = [&](const Json& config) {
    check(config == options.config,
          "--seeds: '{}' holds a run with other settings; choose another --out, or begin anew with --force",
          options.folder);
  };
  if (fs::exists(options.folder + "/summary.json")) {
    same(read_summary(options.folder).at("config"));
    return "all";
  }
  if (checkpoint_files(options.folder).empty()) return "";
  same(Json::parse(newest_checkpoint(options.folder).config));
  return "a part";
}

// The median over the seeds with their range, at the steps that all have a value for.
PlotCurve median_curve(const Phrase& label, const std::vector<SeedResult>& all,
                       std::vector<double> SeedResult::*values, double first) {
  PlotCurve curve{label};
  for (size_t step = 0; step < (all.front().*values).size(); ++step) {
    const Spread spread = spread_over(all, [&](const SeedResult& one) { return (one.*values)[step]; });
    if (std::isnan(spread.median)) continue;
    curve.add(static_cast<double>(step) + first, spread);
  }
  return curve;
}

void summarize(Run& run, const std::vector<SeedResult>& all) {
  std::vector<std::string> names;
  Csv& csv = run.csv("seeds.csv", {"seed", "train_loss", "val_loss", "best_val_loss"});
  for (const SeedResult& one : all) {
    names.push_back(std::to_string(one.seed));
    csv.row({one.seed, one.train_loss, one.val_loss, one.best_val_loss});
  }
  run.file().write("/seeds", names);
  for (size_t step = 0; step < all.front().training.size(); ++step) {
    run.record("loss", values_of(all, [&](const SeedResult& one) { return one.training[step]; }));
    run.record("val_loss", values_of(all, [&](const SeedResult& one) { return one.validation[step]; }));
  }
  const Spread spread = spread_over(all, &SeedResult::val_loss);
  run.measured("train_loss", spread_over(all, &SeedResult::train_loss));
  run.measured("val_loss", spread);
  run.measured("best_val_loss", spread_over(all, &SeedResult::best_val_loss));
  // The level at which claims are judged.
  const Range mean = mean_interval(spread, 0.005, false);
  run.summary()["val_loss"] = spread.linear.mean;
  run.summary()["val_loss_sd"] = spread.linear.sd;
  run.summary()["val_loss_interval_99"] = {mean.low, mean.high};
  run.plot(Plot{{"loss over the seeds", "各种子的损失"},
                {"step", "步"},
                {"nats a token", "纳特/词元"},
                false,
                {median_curve({"training", "训练"}, all, &SeedResult::training, 0),
                 median_curve({"validation", "验证"}, all, &SeedResult::validation, 1)}});
  run.say("\nval loss over {} seeds: mean {:.4f}, sd {:.4f}, from {:.4f} to {:.4f}\n", all.size(),
          spread.linear.mean, spread.linear.sd, spread.min, spread.max);
  run.say("99 % interval of the mean over all seeds: [{:.4f}, {:.4f}]\n", mean.low, mean.high);
}

}  // namespace

void train_seeds(Run& run, const LmConfig& config,
                 const std::function<void(Run& part, const LmConfig& config)>& train) {
  LmConfig single = config;
  single.seeds = 1;
  std::vector<SeedResult> all;
  for (int64_t seed = run.seed(); seed < run.seed() + config.seeds; ++seed) {
    RunOptions options = run.part(fmt::format("seed_{}", seed), seed);
    const std::string folder = options.folder;
    const std::string found = by_first(run.ranks(), [&] { return found_in(options); });
    if (found != "all") {
      if (found == "a part") options.resume = folder;
      Run part(std::move(options));
      try {
        train(part, single);
      } catch (const Interrupted&) {
        throw Interrupted(
            fmt::format("stopped in the training of seed {}; the same command goes on there", seed));
      } catch (const Diverged& error) {
        part.keep_reason(error.what());
        throw Diverged(fmt::format("seed {}: {}", seed, error.what()));
      }
      if (part.finish() != 0) run.expect(fmt::format("seed {} meets its expectations", seed), false, folder);
    }
    if (!run.ranks().first()) continue;  // it wrote the folder, and alone reports
    all.push_back(read_back(folder, seed));
    run.say("seed {}: train loss {:.4f}, val loss {:.4f}{}\n", seed, all.back().train_loss,
            all.back().val_loss, found == "all" ? " (was there)" : "");
  }
  if (run.ranks().first()) summarize(run, all);
}

}  // namespace isobar
