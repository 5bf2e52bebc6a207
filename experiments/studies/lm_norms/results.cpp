#include "results.h"

#include "../../lm/training/pairs.h"
#include "../../run/table.h"

namespace isobar {
namespace {

constexpr double none_known = std::numeric_limits<double>::quiet_NaN();

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

bool is_stable(double val_loss, double unigram_loss) { return val_loss < 0.95 * unigram_loss; }

void measure_stream(Run& run, const std::string& key, const TrialRuns& runs, Stream TrialOutcome::*stream) {
  const auto measured = [&](const char* name, const auto& of) {
    run.measured(key + name,
                 spread_over(runs.outcomes, [&](const TrialOutcome& o) { return of(o.*stream); }));
  };
  measured(".last_block_std", [](const Stream& s) { return s.std.back(); });
  measured(".std_last_over_first_block", [](const Stream& s) { return s.std.back() / s.std.front(); });
  measured(".output_grad_norm_first_over_last_block", [](const Stream& s) { return s.gradient_ratio(); });
}

// What the net learned from the context, beyond how frequent each token is.
void measure_gain(Run& run, const std::string& key, const TrialRuns& runs, double unigram_loss) {
  const std::vector<double> gains = runs.gains(unigram_loss);
  run.measured(key + ".gain", spread_of(gains));
  run.measured(key + ".gain_over_unigram",
               spread_over(gains, [&](double gain) { return gain / unigram_loss; }));
  run.measured(key + ".val_loss_over_unigram_loss",
               spread_over(runs.outcomes, [&](const TrialOutcome& o) { return o.val_loss / unigram_loss; }));
}

void measure_lengths(Run& run, const std::string& key, const TrialRuns& runs) {
  const auto errors = [&](double LengthErrors::*part) {
    return spread_over(runs.outcomes, [&](const TrialOutcome& o) {
      return o.lengths ? (*o.lengths).*part : none_known;  // a run that broke off
    });
  };
  run.measured(key + ".end.length_error", errors(&LengthErrors::outputs), 0);
  run.measured(key + ".end.weight_length_error", errors(&LengthErrors::weights), 0);
}

// f of each pair of values of the seeds that both have: a rate may have more seeds than another.
template <class F>
std::vector<double> over_common_seeds(std::vector<double> a, std::vector<double> b, const F& f) {
  const size_t seeds = std::min(a.size(), b.size());
  a.resize(seeds);
  b.resize(seeds);
  return pairwise(a, b, f);
}

// "pre.layernorm_minus_rmsnorm: +0.0041 nats in the mean of 8 seeds, sd 0.0061, 99 % interval [-0.2, 0.3]".
void say_difference(Run& run, const std::string& pair, const std::vector<double>& nats) {
  const Spread spread = spread_of(nats);
  if (nats.size() < 2) return;  // one seed says nothing about seeds
  const Range interval = mean_interval(spread, 0.005, false);
  run.say("{}: {:+.4f} nats in the mean of {} seeds, sd {:.4f}, 99 % interval [{:.4f}, {:.4f}]\n", pair,
          spread.linear.mean, nats.size(), spread.linear.sd, interval.low, interval.high);
}

// One size of the comparison.
struct PairsOfSize {
  Run& run;
  const NormResults& results;
  const std::string& size;

  void measure(const std::string& name, const std::string& first, const std::string& second) const {
    const TrialRuns *a = results.best(size, first), *b = results.best(size, second);
    if (a == nullptr || b == nullptr) return;
    const std::vector<double> nats = over_common_seeds(a->val_losses(), b->val_losses(), std::minus());
    const std::string key = results.prefix(size) + name;
    run.measured(key, spread_of(nats));
    if (const TrialRuns* reference = results.best(size, "pre.rmsnorm"))
      run.measured(key + ".share_of_gain",
                   spread_of(shares_of_gain(nats, reference->val_losses(), results.unigram_loss)));
    if (!name.ends_with(".layernorm_minus_rmsnorm")) return;
    run.measured(key + ".perplexity_percent", spread_of(perplexity_percent(nats)));
    say_difference(run, key, nats);
  }

  void measure_speed(const std::string& name, const std::string& net, const std::string& reference) const {
    const TrialRuns *a = results.best(size, net), *b = results.best(size, reference);
    if (b == nullptr) return;
    const std::string key = results.prefix(size) + name;
    if (results.rates(size, net).size() > 1 && results.rates(size, reference).size() > 1)
      run.measured(
          key + ".largest_stable_rate",
          spread_of(over_common_seeds(results.largest_stable_rates(size, net),
                                      results.largest_stable_rates(size, reference), std::divides())));
    if (a == nullptr) return;
    std::vector<double> half_way;
    for (const double gain : b->gains(results.unigram_loss))
      half_way.push_back(results.unigram_loss - gain / 2);
    run.measured(key + ".steps",
                 spread_of(over_common_seeds(a->steps_to(half_way), b->steps_to(half_way), std::divides())));
  }

  void measure_placement() const {
    measure("rmsnorm.post_minus_pre", "post.rmsnorm", "pre.rmsnorm");
    for (const TrialRuns* post : results.rates(size, "post.rmsnorm"))
      for (const TrialRuns* pre : results.rates(size, "pre.rmsnorm")) {
        if (pre->trial.learning_rate != post->trial.learning_rate) continue;
        const std::string key =
            fmt::format("{}rmsnorm.lr_{}", results.prefix(size), pre->trial.learning_rate);
        run.measured(key + ".post_minus_pre",
                     spread_of(over_common_seeds(post->val_losses(), pre->val_losses(), std::minus())));
        run.measured(key + ".post_share_of_pre",
                     spread_of(over_common_seeds(post->gains(results.unigram_loss),
                                                 pre->gains(results.unigram_loss), std::divides())));
      }
  }
};

void plot_losses(Run& run, const NormResults& results, const std::string& size) {
  Plot plot{.title = Phrase{"val loss of each net, ", "各网络的验证损失，"} + size,
            .x = {"net", "网络"},
            .y = {"nats a token", "纳特/词元"},
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

// A curve for each net that has a best rate.
void plot_best(Run& run, const NormResults& results, const std::string& size, Plot plot,
               const std::function<void(PlotCurve&, const TrialRuns& best)>& draw) {
  for (const std::string& net : results.nets(size))
    if (const TrialRuns* best = results.best(size, net))
      draw(plot.curves.emplace_back(PlotCurve{net}), *best);
  run.plot(plot);
}

void plot_streams(Run& run, const NormResults& results, const std::string& size) {
  Plot plot{.title = Phrase{"std of each block's output after training, ", "训练后各块输出的标准差，"} + size,
            .x = {"block", "块"},
            .y = {"std", "标准差"},
            .log = true,
            .key = "block_std." + size,
            .figures = {"block_std", "first_block"}};
  plot_best(run, results, size, std::move(plot), [](PlotCurve& curve, const TrialRuns& best) {
    for (size_t block = 0; block < best.outcomes.front().end.std.size(); ++block)
      curve.add(static_cast<double>(block + 1),
                spread_over(best.outcomes, [&](const TrialOutcome& o) { return o.end.std[block]; }));
  });
}

void plot_training(Run& run, const NormResults& results, const std::string& size) {
  Plot plot{
      .title =
          Phrase{"training loss of each net, mean of ten steps, ", "各网络的训练损失（十步平均），"} + size,
      .x = {"step", "步"},
      .y = {"nats a token", "纳特/词元"},
      .key = "loss." + size,
      .figures = {"start_loss"}};
  plot_best(run, results, size, std::move(plot), [](PlotCurve& curve, const TrialRuns& best) {
    std::vector<std::vector<double>> losses;
    for (const TrialOutcome& outcome : best.outcomes) losses.push_back(outcome.losses);
    add_training(curve, losses);
  });
}

}  // namespace

std::vector<double> TrialRuns::val_losses() const { return values_of(outcomes, &TrialOutcome::val_loss); }
std::vector<double> TrialRuns::gains(double unigram_loss) const {
  return values_of(outcomes, [&](const TrialOutcome& o) { return unigram_loss - o.val_loss; });
}
std::vector<double> TrialRuns::steps_to(const std::vector<double>& targets) const {
  std::vector<double> steps;
  for (size_t i = 0; i < std::min(targets.size(), outcomes.size()); ++i)
    steps.push_back(steps_until(outcomes[i].losses, targets[i]));
  return steps;
}
bool TrialRuns::stable(double unigram_loss) const {
  return std::ranges::all_of(val_losses(), [&](double loss) { return is_stable(loss, unigram_loss); });
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
  const std::vector<const TrialRuns*> compared = rates(size, net);
  const TrialRuns* found = nullptr;
  double lowest = 0;
  for (const TrialRuns* runs : compared) {
    const std::vector<TrialOutcome>& outcomes = compared.size() > 1 ? runs->tried : runs->outcomes;
    const Spread spread = spread_over(outcomes, &TrialOutcome::tuning_loss);
    if (spread.nonfinite > 0) continue;
    if (found == nullptr || spread.median < lowest) found = runs, lowest = spread.median;
  }
  return found;
}
std::vector<double> NormResults::largest_stable_rates(const std::string& size, const std::string& net) const {
  std::vector<double> largest;
  const std::vector<const TrialRuns*> all = rates(size, net);
  for (const TrialRuns* runs : all) {
    const std::vector<double> losses = runs->val_losses();
    if (runs == all.front()) largest.assign(losses.size(), none_known);
    largest.resize(std::min(largest.size(), losses.size()));
    for (size_t i = 0; i < largest.size(); ++i)
      if (is_stable(losses[i], unigram_loss) && !(runs->trial.learning_rate < largest[i]))
        largest[i] = runs->trial.learning_rate;
  }
  return largest;
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
      run.measured(key + ".start_loss", spread_over(rates.front()->outcomes, &TrialOutcome::start_loss));
      run.measured(key + ".largest_stable_learning_rate", spread_of(results.largest_stable_rates(size, net)));
      const TrialRuns* best = results.best(size, net);
      if (best == nullptr) continue;
      run.measured(key + ".val_loss", spread_of(best->val_losses()));
      measure_gain(run, key, *best, results.unigram_loss);
      run.measured(key + ".best_learning_rate", best->trial.learning_rate);
      measure_stream(run, key + ".start", *best, &TrialOutcome::start);
      measure_stream(run, key + ".end", *best, &TrialOutcome::end);
      if (best->outcomes.front().lengths) measure_lengths(run, key, *best);
    }
  }
}

void record_trials(Run& run, const NormResults& results, int64_t first_seed) {
  Csv& csv = run.csv("runs.csv", {"size", "placement", "norm", "learning_rate", "steps", "warmup", "seed",
                                  "start_loss", "tuning_loss", "val_loss"});
  Csv& blocks = run.csv("blocks.csv", {"size", "placement", "norm", "learning_rate", "seed", "when", "block",
                                       "std", "rms", "grad_norm"});
  for (const TrialRuns& runs : results.trials) {
    const Trial& t = runs.trial;
    const std::string name = fmt::format("{}/{}/lr_{}", t.size, t.net(), t.learning_rate);
    for (size_t i = 0; i < runs.outcomes.size(); ++i) {
      const TrialOutcome& o = runs.outcomes[i];
      const int64_t seed = first_seed + static_cast<int64_t>(i);
      csv.row({t.size, t.placement, t.norm, t.learning_rate, t.steps, t.warmup, seed, o.start_loss,
               o.tuning_loss, o.val_loss});
      run.record(name + "/val_loss", o.val_loss);
      for (const auto& [when, stream] : {std::pair{"start", &o.start}, {"end", &o.end}}) {
        run.record(fmt::format("{}/std_{}", name, when), stream->std);
        run.record(fmt::format("{}/grad_norm_{}", name, when), stream->gradient_norm);
        for (size_t b = 0; b < stream->std.size(); ++b)
          blocks.row({t.size, t.placement, t.norm, t.learning_rate, seed, std::string(when),
                      static_cast<int64_t>(b), stream->std[b], stream->rms[b], stream->gradient_norm[b]});
      }
    }
  }
}

void print_trials(Run& run, const NormResults& results) {
  Table table({"size", "net", "parameters", "learning rate", "seeds", "val loss", "stable",
               "std of last block", "|gradient| first/last"},
              "llrrrrlrr");
  for (const TrialRuns& runs : results.trials) {
    const auto median = [&](const auto& value) {
      return number_text(spread_over(runs.outcomes, value).median);
    };
    table.row({runs.trial.size, runs.trial.net(), fmt::format("{}", runs.outcomes.front().parameters),
               fmt::format("{}", runs.trial.learning_rate), fmt::format("{}", runs.outcomes.size()),
               spread_text(spread_of(runs.val_losses())), runs.stable(results.unigram_loss) ? "yes" : "no",
               median([](const TrialOutcome& o) { return o.end.std.back(); }),
               median([](const TrialOutcome& o) { return o.end.gradient_ratio(); })});
  }
  run.say("\n{}\nLoss of the letters' frequencies alone: {:.4f}\n\n", table.text(), results.unigram_loss);
}

void measure_pairs(Run& run, const NormResults& results) {
  for (const std::string& size : results.sizes()) {
    const PairsOfSize pairs{run, results, size};
    for (const std::string placement : {"pre.", "post."}) {
      for (const std::string& norm : norm_names()) {
        if (norm == "rmsnorm") continue;
        pairs.measure(placement + norm + "_minus_rmsnorm", placement + norm, placement + "rmsnorm");
        pairs.measure_speed(placement + norm + "_over_rmsnorm", placement + norm, placement + "rmsnorm");
      }
      for (const char* norm : {"dyt", "dyt_equal"})
        pairs.measure(placement + "dyt_sqrtd_minus_" + norm, placement + "dyt_sqrtd", placement + norm);
    }
    pairs.measure("ngpt_minus_pre_rmsnorm", "ngpt", "pre.rmsnorm");
    pairs.measure_placement();
  }
}

void plot_trials(Run& run, const NormResults& results) {
  for (const std::string& size : results.sizes()) {
    plot_losses(run, results, size);
    plot_training(run, results, size);
    plot_streams(run, results, size);
  }
}

}  // namespace isobar
