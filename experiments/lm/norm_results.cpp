#include "norm_results.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "../harness/table.h"

namespace isobar {
namespace {

constexpr double none_known = std::numeric_limits<double>::quiet_NaN();

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

template <class Value>
std::vector<double> over_seeds(const TrialRuns& runs, const Value& value) {
  std::vector<double> values;
  for (const TrialOutcome& outcome : runs.outcomes) values.push_back(value(outcome));
  return values;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
double range_of(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *most - *least;
}

double largest_rate(const std::vector<const TrialRuns*>& rates,
                    const std::function<bool(const TrialRuns&)>& wanted) {
  double largest = none_known;
  for (const TrialRuns* runs : rates)
    if (wanted(*runs) && !(runs->trial.learning_rate < largest)) largest = runs->trial.learning_rate;
  return largest;
}

void measure_stream(Run& run, const std::string& key, const TrialRuns& runs) {
  for (const auto& [when, stream] : {std::pair{"start", &TrialOutcome::start}, {"end", &TrialOutcome::end}}) {
    const auto part = stream;
    run.measured(fmt::format("{}.{}.last_block_std", key, when),
                 spread_of(over_seeds(runs, [&](const TrialOutcome& o) { return (o.*part).std.back(); })));
    run.measured(fmt::format("{}.{}.std_last_over_first_block", key, when),
                 spread_of(over_seeds(runs, [&](const TrialOutcome& o) {
                   return (o.*part).std.back() / (o.*part).std.front();
                 })));
    run.measured(fmt::format("{}.{}.grad_norm_first_over_last_block", key, when),
                 spread_of(over_seeds(runs, [&](const TrialOutcome& o) {
                   return (o.*part).gradient_norm.front() / (o.*part).gradient_norm.back();
                 })));
  }
}

// Whether LayerNorm and RMSNorm differ by more than seeds do.
void compare_layernorm(Run& run, const std::string& key, const std::vector<double>& layernorm,
                       const std::vector<double>& rmsnorm) {
  std::vector<double> percent;
  for (const double nats : differences(layernorm, rmsnorm)) percent.push_back(100 * std::expm1(nats));
  const std::string pair = key + "layernorm_minus_rmsnorm";
  run.measured(pair + ".perplexity_percent", spread_of(percent));
  if (layernorm.size() < 2) return;  // one seed says nothing about seeds
  const double difference = mean_of(layernorm) - mean_of(rmsnorm);
  const double range = std::max(range_of(layernorm), range_of(rmsnorm));
  run.measured(pair + ".mean", difference);
  run.measured(pair + ".seeds_range", range);
  run.measured(pair + ".mean_over_seeds_range", std::abs(difference) / range);
  run.say(
      "{}LayerNorm minus RMSNorm: {:+.4f} nats in the mean; the seeds of one of them cover {:.4f} nats: the "
      "difference {} what the seed does\n",
      key, difference, range, std::abs(difference) > range ? "exceeds" : "does not exceed");
}

void measure_pair(Run& run, const NormResults& results, const std::string& size, const std::string& key,
                  const std::string& first, const std::string& second) {
  const TrialRuns *a = results.best(size, first), *b = results.best(size, second);
  if (a == nullptr || b == nullptr) return;
  run.measured(results.prefix(size) + key, spread_of(differences(a->val_losses(), b->val_losses())));
}

}  // namespace

std::vector<double> TrialRuns::val_losses() const {
  return over_seeds(*this, [](const TrialOutcome& o) { return o.val_loss; });
}
bool TrialRuns::stable(double unigram_loss) const {
  return std::ranges::all_of(val_losses(), [&](double loss) { return loss < 0.95 * unigram_loss; });
}

std::vector<std::string> NormResults::sizes() const {
  std::vector<std::string> names;
  for (const TrialRuns& runs : trials) add_once(names, runs.trial.size);
  return names;
}
std::vector<std::string> NormResults::nets(const std::string& size) const {
  std::vector<std::string> names;
  for (const TrialRuns& runs : trials)
    if (runs.trial.size == size) add_once(names, runs.trial.net());
  return names;
}
std::vector<const TrialRuns*> NormResults::rates(const std::string& size, const std::string& net) const {
  std::vector<const TrialRuns*> found;
  for (const TrialRuns& runs : trials)
    if (runs.trial.size == size && runs.trial.net() == net) found.push_back(&runs);
  return found;
}
const TrialRuns* NormResults::best(const std::string& size, const std::string& net) const {
  const TrialRuns* found = nullptr;
  for (const TrialRuns* runs : rates(size, net)) {
    const Spread losses = spread_of(runs->val_losses());
    if (losses.nonfinite > 0) continue;
    if (found == nullptr || losses.median < spread_of(found->val_losses()).median) found = runs;
  }
  return found;
}
std::string NormResults::prefix(const std::string& size) const {
  return trials.empty() || trials.front().trial.size == size ? "" : size + ".";
}

void measure_nets(Run& run, const NormResults& results) {
  run.measured("unigram_loss", results.unigram_loss);
  for (const std::string& size : results.sizes()) {
    for (const std::string& net : results.nets(size)) {
      const std::string key = results.prefix(size) + net;
      const std::vector<const TrialRuns*> rates = results.rates(size, net);
      for (const TrialRuns* runs : rates)
        run.measured(fmt::format("{}.lr_{}.val_loss", key, runs->trial.learning_rate),
                     spread_of(runs->val_losses()));
      run.measured(key + ".parameters", static_cast<double>(rates.front()->outcomes.front().parameters));
      run.measured(key + ".start_loss",
                   spread_of(over_seeds(*rates.front(), [](const TrialOutcome& o) { return o.start_loss; })));
      run.measured(key + ".largest_stable_learning_rate", largest_rate(rates, [&](const TrialRuns& runs) {
                     return runs.stable(results.unigram_loss);
                   }));
      const TrialRuns* best = results.best(size, net);
      if (best == nullptr) continue;
      run.measured(key + ".val_loss", spread_of(best->val_losses()));
      run.measured(key + ".val_loss_over_unigram_loss",
                   spread_of(over_seeds(
                       *best, [&](const TrialOutcome& o) { return o.val_loss / results.unigram_loss; })));
      run.measured(key + ".best_learning_rate", best->trial.learning_rate);
      measure_stream(run, key, *best);
    }
  }
}

void measure_pairs(Run& run, const NormResults& results) {
  for (const std::string& size : results.sizes()) {
    for (const char* placement : {"pre", "post"}) {
      const std::string reference = fmt::format("{}.rmsnorm", placement);
      for (const char* norm : {"none", "layernorm", "dyt", "dyt_sqrtd", "dyisru"})
        measure_pair(run, results, size, fmt::format("{}.{}_minus_rmsnorm", placement, norm),
                     fmt::format("{}.{}", placement, norm), reference);
      measure_pair(run, results, size, fmt::format("{}.dyt_sqrtd_minus_dyt", placement),
                   fmt::format("{}.dyt_sqrtd", placement), fmt::format("{}.dyt", placement));
      const TrialRuns* layernorm = results.best(size, fmt::format("{}.layernorm", placement));
      const TrialRuns* rmsnorm = results.best(size, reference);
      if (layernorm != nullptr && rmsnorm != nullptr)
        compare_layernorm(run, fmt::format("{}{}.", results.prefix(size), placement), layernorm->val_losses(),
                          rmsnorm->val_losses());
    }
    measure_pair(run, results, size, "ngpt_minus_pre_rmsnorm", "ngpt", "pre.rmsnorm");
    measure_pair(run, results, size, "rmsnorm.post_minus_pre", "post.rmsnorm", "pre.rmsnorm");
    for (const TrialRuns* post : results.rates(size, "post.rmsnorm"))
      for (const TrialRuns* pre : results.rates(size, "pre.rmsnorm"))
        if (pre->trial.learning_rate == post->trial.learning_rate)
          run.measured(
              fmt::format("{}rmsnorm.lr_{}.post_minus_pre", results.prefix(size), pre->trial.learning_rate),
              spread_of(differences(post->val_losses(), pre->val_losses())));
  }
}

void record_trials(Run& run, const NormResults& results, int64_t first_seed) {
  Csv& csv = run.csv(
      "runs.csv", {"size", "placement", "norm", "learning_rate", "steps", "seed", "start_loss", "val_loss"});
  Csv& blocks = run.csv("blocks.csv", {"size", "placement", "norm", "learning_rate", "seed", "when", "block",
                                       "std", "rms", "grad_norm"});
  for (const TrialRuns& runs : results.trials) {
    const Trial& t = runs.trial;
    const std::string name = fmt::format("{}/{}/lr_{}", t.size, t.net(), t.learning_rate);
    for (size_t i = 0; i < runs.outcomes.size(); ++i) {
      const TrialOutcome& o = runs.outcomes[i];
      const int64_t seed = first_seed + static_cast<int64_t>(i);
      csv.row({t.size, t.placement, t.norm, t.learning_rate, t.steps, seed, o.start_loss, o.val_loss});
      run.record(name + "/val_loss", o.val_loss);
      for (const auto& [when, stream] : {std::pair{"start", &o.start}, {"end", &o.end}}) {
        run.record(fmt::format("{}/std_{}", name, when), stream->std);
        run.record(fmt::format("{}/grad_norm_{}", name, when), stream->gradient_norm);
        for (size_t b = 0; b < stream->std.size(); ++b)
          blocks.row({t.size, t.placement, t.norm, t.learning_rate, seed, std::string(when),
                      static_cast<int64_t>(b), stream->std[b], stream->rms[b], stream->gradient_norm[b]});
      }
    }
    run.timing()["tokens_per_second"][name] =
        to_json(spread_of(over_seeds(runs, [](const TrialOutcome& o) { return o.tokens_per_second; })));
    run.timing()["tensors_peak_mib"][name] =
        to_json(spread_of(over_seeds(runs, [](const TrialOutcome& o) { return o.peak_mib; })));
  }
}

void print_trials(Run& run, const NormResults& results) {
  Table table({"size", "net", "parameters", "learning rate", "val loss", "stable", "std of last block",
               "|gradient| first/last", "tokens/s", "MiB"});
  for (const TrialRuns& runs : results.trials) {
    const auto median = [&](const auto& value) { return figure(spread_of(over_seeds(runs, value)).median); };
    table.row(
        {runs.trial.size, runs.trial.net(), fmt::format("{}", runs.outcomes.front().parameters),
         fmt::format("{}", runs.trial.learning_rate), shown(spread_of(runs.val_losses())),
         runs.stable(results.unigram_loss) ? "yes" : "no",
         median([](const TrialOutcome& o) { return o.end.std.back(); }), median([](const TrialOutcome& o) {
           return o.end.gradient_norm.front() / o.end.gradient_norm.back();
         }),
         fmt::format(
             "{:.0f}",
             spread_of(over_seeds(runs, [](const TrialOutcome& o) { return o.tokens_per_second; })).median),
         median([](const TrialOutcome& o) { return o.peak_mib; })});
  }
  run.say("\n{}\nLoss of the letters' frequencies alone: {:.4f}\n\n", table.text(), results.unigram_loss);
}

}  // namespace isobar
