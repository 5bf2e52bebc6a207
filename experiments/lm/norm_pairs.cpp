#include "norm_pairs.h"

#include <algorithm>
#include <cmath>

#include "../harness/table.h"

namespace isobar {
namespace {

// Without the seeds that only one of them has: the first seed of all is the same.
std::vector<double> paired(std::vector<double> a, std::vector<double> b, double (*combine)(double, double)) {
  const size_t pairs = std::min(a.size(), b.size());
  std::vector<double> result(pairs);
  std::transform(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(pairs), b.begin(), result.begin(),
                 combine);
  return result;
}
double minus(double a, double b) { return a - b; }
double over(double a, double b) { return a / b; }

// "pre.layernorm_minus_rmsnorm: +0.0041 nats in the mean of 8 seeds, sd 0.0061, 99 % interval [-0.002, 0.010]".
void say_difference(Run& run, const std::string& pair, const std::vector<double>& nats) {
  const Spread spread = spread_of(nats);
  if (spread.n < 2) return;  // one seed says nothing about seeds
  const Range interval = mean_interval(spread, 0.005, false);
  run.say("{}: {:+.4f} nats in the mean of {} seeds, sd {:.4f}, 99 % interval [{:.4f}, {:.4f}]\n", pair,
          spread.linear.mean, spread.n, spread.linear.sd, interval.low, interval.high);
}

// One size of the comparison.
struct Pairs {
  Run& run;
  const NormResults& results;
  const std::string& size;

  void measure(const std::string& name, const std::string& first, const std::string& second) const {
    const TrialRuns *a = results.best(size, first), *b = results.best(size, second);
    if (a == nullptr || b == nullptr) return;
    const std::vector<double> nats = paired(a->val_losses(), b->val_losses(), minus);
    const std::string key = results.prefix(size) + name;
    run.measured(key, spread_of(nats));
    if (const TrialRuns* reference = results.best(size, "pre.rmsnorm"))
      run.measured(key + ".share_of_gain",
                   spread_of(paired(nats, reference->gains(results.unigram_loss), over)));
    if (!name.ends_with(".layernorm_minus_rmsnorm")) return;
    run.measured(key + ".perplexity_percent",
                 spread_over(nats, [](double difference) { return 100 * std::expm1(difference); }));
    say_difference(run, key, nats);
  }

  void measure_speed(const std::string& name, const std::string& net, const std::string& reference) const {
    const TrialRuns *a = results.best(size, net), *b = results.best(size, reference);
    if (b == nullptr) return;
    const std::string key = results.prefix(size) + name;
    if (results.rates(size, net).size() > 1 && results.rates(size, reference).size() > 1)
      run.measured(key + ".largest_stable_rate",
                   spread_of(paired(results.largest_stable_rates(size, net),
                                    results.largest_stable_rates(size, reference), over)));
    if (a == nullptr) return;
    std::vector<double> half_way;
    for (const double gain : b->gains(results.unigram_loss))
      half_way.push_back(results.unigram_loss - gain / 2);
    run.measured(key + ".steps", spread_of(paired(a->steps_to(half_way), b->steps_to(half_way), over)));
  }

  void measure_placement() const {
    measure("rmsnorm.post_minus_pre", "post.rmsnorm", "pre.rmsnorm");
    for (const TrialRuns* post : results.rates(size, "post.rmsnorm"))
      for (const TrialRuns* pre : results.rates(size, "pre.rmsnorm")) {
        if (pre->trial.learning_rate != post->trial.learning_rate) continue;
        const std::string key =
            fmt::format("{}rmsnorm.lr_{}", results.prefix(size), pre->trial.learning_rate);
        run.measured(key + ".post_minus_pre",
                     spread_of(paired(post->val_losses(), pre->val_losses(), minus)));
        run.measured(key + ".post_share_of_pre", spread_of(paired(post->gains(results.unigram_loss),
                                                                  pre->gains(results.unigram_loss), over)));
      }
  }
};

}  // namespace

void measure_pairs(Run& run, const NormResults& results) {
  for (const std::string& size : results.sizes()) {
    const Pairs pairs{run, results, size};
    for (const std::string placement : {"pre.", "post."}) {
      for (const std::string norm : {"none", "centernorm", "stdnorm", "layernorm", "layernorm_bias", "dyt",
                                     "dyt_sqrtd", "dyt_equal", "dyisru"}) {
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

}  // namespace isobar
