#include "seeds.h"

#include <algorithm>

#include "../../data/json_text.h"
#include "../../data/metrics_file.h"
#include "../../data/utf8_stream.h"
#include "../run/lists.h"
#include "../run/provenance.h"
#include "../run/table.h"
#include "checkpoints/checkpoint.h"
#include "training/corpus.h"

namespace isobar {
namespace {

namespace fs = std::filesystem;

struct SeedResult {
  int64_t seed;
  double train_loss, val_loss, best_val_loss;
  std::vector<double> training, validation;  // by step; NaN where there was no evaluation
};

// Null where no run finished. Throws Error where the file is no run's.
Json read_summary(const std::string& folder) {
  const std::string path = folder + "/summary.json";
  std::error_code none;
  if (fs::symlink_status(path, none).type() == fs::file_type::not_found) return {};
  const Json summary = parse_json<Json>(read_regular_file(path, size_t{1} << 28));
  check(summary.is_object() && summary.value("config", Json()).is_object() &&
            summary.value("environment", Json()).is_object(),
        "--seeds: {}: wanted a summary of a run; choose another --out, or begin anew with --force", path);
  const Json& environment = summary["environment"];
  const auto check_text = [&](const Json& value, const std::string& key) {
    check(value.is_string(), "--seeds: {}: {}: wanted a text, got {}; begin anew with --force", path,
          one_line(key), one_line(value.dump()));
  };
  for (const char* key : {"version", "sources", "commit", init_from_key})
    if (environment.contains(key)) check_text(environment[key], key);
  if (!environment.contains("data")) return summary;
  check(environment["data"].is_object(),
        "--seeds: {}: data: wanted an object, got {}; begin anew with --force", path,
        one_line(environment["data"].dump()));
  for (const auto& [name, value] : environment["data"].items()) check_text(value, "data: " + name);
  return summary;
}

SeedResult read_back(const std::string& folder, int64_t seed, int64_t max_iters) {
  const Json summary = read_summary(folder);
  const Json iterations = summary.value("iterations", Json());
  check(iterations.is_number_integer() && iterations > 0 && iterations <= max_iters,
        "--seeds: {}/summary.json: iterations: wanted a number from 1 to {}, got {}; begin anew with --force",
        folder, max_iters, one_line(iterations.dump()));
  const auto steps = iterations.get<int64_t>();
  MetricsLog log(folder + "/metrics.jsonl");
  log.read();
  const auto loss = [&](const char* name) {
    check(summary.contains(name), "--seeds: {}/summary.json: wanted a '{}'; begin anew with --force", folder,
          name);
    const Json& value = summary[name];
    check(value.is_number() || value == "nan" || value == "inf" || value == "-inf",
          "--seeds: {}/summary.json: {}: wanted a number, got {}; begin anew with --force", folder, name,
          one_line(value.dump()));
    return number_from(value);
  };
  const auto series = [&](const char* name) {
    const auto column = std::ranges::find(log.columns(), name, &MetricsLog::Column::name);
    const int64_t there = column == log.columns().end() ? 0 : std::ssize(column->values);
    check(there == steps,
          "--seeds: {}/metrics.jsonl: wanted '{}' of the {} steps that its summary.json is of, got {}; begin "
          "anew with --force",
          folder, name, steps, there);
    return column->values;
  };
  return {seed,           loss("train_loss"), loss("val_loss"), loss("best_val_loss"),
          series("loss"), series("val_loss")};
}

// As change_since(), and of the weights that both began with.
std::string change_of_seed(const Json& then, const Json& now) {
  const std::string change = change_since(then, now);
  const bool others = then.contains(init_from_key) && then[init_from_key] != now.value(init_from_key, "");
  return change.empty() && others ? "--init_from names other weights now" : change;
}

// What a folder holds of this very training.
enum class Found { nothing, other, part, all };

// `now`: what it would be made of.
Found found_in(Run& run, const RunOptions& options, const Json& now) {
  if (options.force) return Found::nothing;
  const auto same = [&](const Json& config) {
    check(config == options.config,
          "--seeds: '{}' holds a run with other settings; choose another --out, or begin anew with --force",
          options.folder);
  };
  if (const Json summary = read_summary(options.folder); !summary.is_null()) {
    same(summary["config"]);
    const std::string change = change_of_seed(summary["environment"], now);
    if (change.empty()) return Found::all;
    run.say("seed {} was trained before, ", options.seed);
    if (!run.accept_old()) {
      run.say("and does not count: {}; trained anew\n", change);
      return Found::other;
    }
    run.say("and is taken by --accept-old, though {}\n", change);
    run.summary()["accepted_old"] = change;
    return Found::all;
  }
  if (checkpoint_files(options.folder).empty()) return Found::nothing;
  const Checkpoint newest = newest_checkpoint(options.folder);
  same(parse_json<Json>(newest.config));
  const Json origin = parse_json<Json>(newest.origin);
  const std::string change =
      origin.is_object() ? change_of_seed(origin, now) : "its checkpoints do not say of which sources it is";
  if (change.empty()) return Found::part;
  run.say("seed {} was begun before, ", options.seed);
  if (!run.accept_old()) {
    run.say("and does not go on: {}; trained anew\n", change);
    return Found::other;
  }
  run.say("and goes on by --accept-old, though {}\n", change);
  run.summary()["accepted_old"] = change;
  return Found::part;
}

// The steps that all seeds took; --patience stops each at its own.
size_t common_steps(const std::vector<SeedResult>& all) {
  size_t steps = all.at(0).training.size();
  for (const SeedResult& one : all) steps = std::min(steps, one.training.size());
  return steps;
}

// The median over the seeds with their range, at the steps that all have a value for.
PlotCurve median_curve(const Phrase& label, const std::vector<SeedResult>& all,
                       std::vector<double> SeedResult::*values, double first) {
  PlotCurve curve{label};
  for (size_t step = 0; step < common_steps(all); ++step) {
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
  for (size_t step = 0; step < common_steps(all); ++step) {
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
  by_first(run.ranks(), [&] {
    check(
        run.force() || checkpoint_files(run.folder()).empty(),
        "--out: '{}' holds checkpoints of one training; go on with --resume {}, choose another folder, or add --force",
        run.folder(), shell_word(run.folder()));
    return "";
  });
  LmConfig single = config;
  single.seeds = 1;
  run.reads(file_of_corpus(config.corpus));
  Json now = provenance(isobar_sources(), run.environment().value("data", Json::object()));
  if (run.environment().contains(init_from_key)) now[init_from_key] = run.environment()[init_from_key];
  std::vector<SeedResult> all;
  for (int64_t seed = run.seed(); seed < run.seed() + config.seeds; ++seed) {
    RunOptions options = run.part(fmt::format("seed_{}", seed), seed);
    const std::string folder = options.folder;
    const auto found = static_cast<Found>(std::stoi(by_first(
        run.ranks(), [&] { return std::to_string(static_cast<int>(found_in(run, options, now))); })));
    if (found != Found::all) {
      if (found == Found::part) options.resume = folder;
      if (found == Found::other) options.force = true;
      Run part(std::move(options));
      if (now.contains(init_from_key)) part.environment()[init_from_key] = now[init_from_key];
      try {
        train(part, single);
      } catch (const Interrupted&) {
        throw Interrupted(fmt::format(
            "stopped in the training of seed {}; the same command {}", seed,
            run.force() ? "begins with the first seed again, for --force is in it" : "goes on there"));
      } catch (const Diverged& error) {
        part.keep_reason(error.what());
        throw Diverged(fmt::format("seed {}: {}", seed, error.what()));
      }
      if (part.finish() != 0) run.expect(fmt::format("seed {} meets its expectations", seed), false, folder);
    }
    if (!run.ranks().first()) continue;  // it wrote the folder, and alone reports
    all.push_back(read_back(folder, seed, config.max_iters));
    if (found == Found::all) run.environment()["data"].update(read_summary(folder)["environment"]["data"]);
    run.say("seed {}: train loss {:.4f}, val loss {:.4f}{}\n", seed, all.back().train_loss,
            all.back().val_loss, found == Found::all ? " (was there)" : "");
  }
  if (run.ranks().first()) summarize(run, all);
}

}  // namespace isobar
