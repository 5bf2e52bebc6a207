// Why norms? Source 001's four motives (section 1), one by one, on nets of four layers that learn digits.
//
// Claims: normalization keeps the inputs of layers from shifting, and this makes training stable (001 B12;
// against it Santurkar et al. 2018, arXiv 1805.11604); it makes nets robust to changes of the input (001
// B15); the statistics of a batch regularize (001 B16, 002); BatchNorm accelerates training (002 C11), and is
// worse in small batches (002 C02; Wu & He 2018, arXiv 1803.08494: 10.6 points behind GroupNorm at batch 2).
//
// A layer is Linear (He's weights), norm, ReLU; SGD with a cosine down to a tenth. Nets of one seed have the
// same weights and batches. A rate works where 80 % of the test images are classified correctly at the end. A
// net is as fast as the steps until the running mean of its training losses is below --target (--steps where
// it never is), at the rate that is best for it on average over seeds that judge nothing (run/sweep.h): the
// nets with noise and the skewed ones have rates of their own; those of some rows or few images have their
// norm's. The shift of a layer's inputs is how far the means and stds of its units move in a step, over their
// std; that of its gradient is Santurkar et al.'s (studies/norm_motives/net.h). Noise moves and scales each
// unit after BatchNorm, anew at each batch; "shift.noisy_none" has the same noise and no norm.
// "layernorm_plain" has no γ and β. The skewed nets begin with a norm of the pixels from 0 to 1, four fifths
// of which are 0 (001 B07); the same norms without this first one are their controls.
#include "../../../optim/optim.h"
#include "../../run/measurements.h"
#include "../../run/program.h"
#include "net.h"

using namespace isobar;
using namespace isobar::motives;

namespace {

constexpr int64_t sweep_size = 5;  // seeds that choose the rates
constexpr const char* bn = "batchnorm";
constexpr const char* norms[] = {"none", bn, "layernorm", "rmsnorm", "groupnorm", "layernorm_plain"};

// LayerNorm without its affine transformation.
const bool registered = register_norm("layernorm_plain", [](const Shape& shape, const NormOptions& options) {
  return std::make_unique<LayerNorm>(shape,
                                     LayerNormOptions{.eps = options.eps, .elementwise_affine = false});
});

// `tests`: the test images, in each of `changes`.
NamedValues train_net(const Config& config, const depth::Digits& digits, const std::vector<Batch>& tests,
                      const Job& job) {
  Sequential net = net_of(job, config.depth, config.width), before = net_of(job, config.depth, config.width);
  SGD optimizer(parameters(net), {.lr = job.rate});
  const WarmupCosine schedule{.lr = job.rate, .min_lr = job.rate / 10, .warmup = 0, .steps = job.steps};
  const Tensor probe = first_of(digits.validation, 500).x;
  NamedValues values{{"rate", job.rate}, {"steps", static_cast<double>(job.steps)}};
  double running = std::log(10), measured = 0;
  for (int64_t step = 0; step < job.steps && std::isfinite(running); ++step) {
    const Batch batch = batch_of(digits.train, job, step);
    const bool measures = job.shifts && step % 5 == 0;
    if (measures) copy_state(net, before);
    {
      Tape tape;
      const Tensor loss = cross_entropy(net(batch.x), batch.y);
      tape.backward(loss);
      running = 0.8 * running + 0.2 * loss.item();
    }
    optimizer.set_lr(schedule(step));
    optimizer.step();
    if (running < config.target) values["steps"] = std::min(values["steps"], static_cast<double>(step + 1));
    if (!measures) continue;
    ++measured;
    const std::vector<Signal> old = signals_of(before, probe), now = signals_of(net, probe);
    values["shift_of_inputs"] += distance(old, now, 2);
    values["shift_before_norm"] += distance(old, now, 0);
    const GradientShift gradients = gradient_shift(before, net, batch);
    values["shift_of_gradients"] += gradients.of_layers;
    values["shift_in_a_step_of_gradients"] += gradients.of_step;
  }
  for (auto& [name, value] : values)
    if (name.starts_with("shift")) value /= measured;
  eval(net);
  const Score seen = evaluate(net, first_of(digits.train, config.few));
  std::vector<Score> unseen;
  for (size_t i = 0; i < tests.size(); ++i) {
    unseen.push_back(evaluate(net, tests[i]));
    values[fmt::format("accuracy.{}", changes[i].name)] = unseen[i].accuracy;
  }
  values["loss.seen"] = seen.loss;
  values["gap.loss"] = unseen[0].loss - seen.loss;
  values["gap.accuracy"] = seen.accuracy - unseen[0].accuracy;
  values["rate_that_works"] = unseen[0].accuracy >= 0.8 ? job.rate : 0;
  return values;
}

// Chooses each norm's rate, and trains every norm at every rate; runs[norm] are those of the chosen one, with
// "largest_rate" among their values.
void find_rates(Pairs<Job>& pairs, const Config& config, int64_t images) {
  const std::vector<double>& rates = config.learning_rates;
  const auto label = [](const char* norm, double rate) { return fmt::format("{} {}", norm, rate); };
  std::vector<Job> jobs;
  std::vector<std::vector<Job>> candidates;
  for (const char* norm : norms) {
    candidates.emplace_back();
    for (const double rate : rates)
      candidates.back().push_back(
          jobs.emplace_back(Job{label(norm, rate), norm, rate, config.batch, images, config.steps}));
  }
  const std::vector<Job> best = pairs.best_of(candidates, sweep_size, "steps");
  pairs.train_all(jobs);
  Plot plot{.title = {"steps to the target", "达到目标所需的步数"},
            .x = {"learning rate", "学习率"},
            .y = {"steps", "步数"},
            .key = "rates"};
  for (const double rate : rates) plot.ticks.push_back(fmt::format("{}", rate));
  for (const char* norm : norms) {
    PlotCurve curve{norm};
    std::vector<double> largest(static_cast<size_t>(config.seeds));
    for (const double rate : rates) {
      curve.x.push_back(static_cast<double>(curve.x.size()));
      const std::vector<NamedValues>& runs = pairs.runs.at(label(norm, rate));
      curve.y.push_back(pairs.mean_of(label(norm, rate), "steps"));
      for (size_t i = 0; i < largest.size(); ++i)
        largest[i] = std::max(largest[i], runs[i].at("rate_that_works"));
    }
    pairs.runs[norm] = pairs.runs.at(best[plot.curves.size()].label);
    for (size_t i = 0; i < largest.size(); ++i) pairs.runs[norm][i]["largest_rate"] = largest[i];
    plot.curves.push_back(std::move(curve));
  }
  pairs.run.plot(plot);
}

// Nets that differ from those of find_rates in more than their rate, each at its own best one.
std::vector<Job> tuned_jobs(Pairs<Job>& pairs, const Config& config, int64_t images) {
  const auto net = [&](const std::string& label, const char* norm) {
    return Job{label, norm, 0, config.batch, images, config.steps};
  };
  std::vector<Job> nets = {net("shift.noisy", bn), net("shift.noisy_none", "none"),
                           net("skewed.layernorm", "layernorm"), net("skewed.rmsnorm", "rmsnorm")};
  std::vector<std::vector<Job>> candidates;
  for (Job& job : nets) {
    (job.label.starts_with("skewed") ? job.pixels : job.shifts) = true;
    if (job.shifts) job.noise = config.noise;
    candidates.emplace_back();
    for (const double rate : config.learning_rates) candidates.back().emplace_back(job).rate = rate;
  }
  return pairs.best_of(candidates, sweep_size, "steps");
}

// At the rates of their norms: shifts, statistics of some rows, small batches (at rates that shrink as their root).
std::vector<Job> jobs_at_best(const Pairs<Job>& pairs, const Config& config, int64_t images) {
  std::vector<Job> jobs;
  const auto best = [&](const std::string& norm) { return pairs.runs.at(norm).front().at("rate"); };
  const auto add = [&](const std::string& label, const char* norm) -> Job& {
    return jobs.emplace_back(Job{label, norm, best(norm), config.batch, images, config.steps});
  };
  const auto add_few = [&](const std::string& label, const char* norm) -> Job& {
    return jobs.emplace_back(Job{label, norm, best(norm), 256, config.few, config.few_steps});
  };
  add("shift.none", "none");
  add("shift.batchnorm", bn);
  add("shift.batchnorm_slow", bn).rate = best("none");
  for (Job& job : jobs) job.shifts = true;
  for (const char* norm : {"none", "layernorm"}) add_few(fmt::format("few.{}", norm), norm);
  for (const int64_t n : {8, 32, 256}) add_few(fmt::format("few.statistics{}", n), bn).rows = n;
  for (const int64_t n : {2, 4, 8})
    for (const char* norm : {bn, "layernorm", "groupnorm"}) {
      const double smaller = std::sqrt(static_cast<double>(n) / static_cast<double>(config.batch));
      jobs.push_back({fmt::format("batch{}.{}", n, norm), norm, best(norm) * smaller, n, config.small,
                      config.small / n});
    }
  return jobs;
}

void study(Run& run, const Config& config) {
  const depth::Digits digits = depth::read_digits("");
  digits.announce(run);
  const Batch test = first_of(digits.test, digits.test.size());
  std::vector<Batch> tests;
  for (const Change& change : changes) tests.push_back(changed(test, change));
  Pairs<Job> pairs{run, config.seeds, [&](const Job& job) { return train_net(config, digits, tests, job); }};
  find_rates(pairs, config, digits.train.size());
  std::vector<Job> jobs = tuned_jobs(pairs, config, digits.train.size());
  for (Job& job : jobs_at_best(pairs, config, digits.train.size())) jobs.push_back(std::move(job));
  pairs.train_all(jobs);

  std::vector<std::string> accuracies;
  for (const Change& change : changes) accuracies.push_back(fmt::format("accuracy.{}", change.name));
  for (const std::string norm : norms) {
    pairs.tell(norm, {"rate", "largest_rate", "steps"});
    pairs.tell(norm, accuracies);
    if (norm == "none") continue;
    pairs.over(norm, {"largest_rate", "steps"}, "none");
    pairs.minus(norm, accuracies, "none");
  }
  const std::vector<std::string> gaps = {"gap.loss", "gap.accuracy", "accuracy.same"};
  const std::vector<std::string> shifts = {"steps", "shift_of_inputs", "shift_before_norm",
                                           "shift_of_gradients", "shift_in_a_step_of_gradients"};
  for (const Job& job : jobs) {
    if (job.shifts) pairs.tell(job.label, {"rate"});
    if (job.shifts) pairs.tell(job.label, shifts);
    if (job.shifts && job.label != "shift.none") pairs.over(job.label, shifts, "shift.none");
    if (job.label.starts_with("few")) pairs.tell(job.label, gaps);
    if (job.rows > 0 && job.rows < 256) pairs.minus(job.label, gaps, "few.statistics256");
    if (!job.label.starts_with("batch")) continue;
    pairs.tell(job.label, {"rate", "accuracy.same"});
    for (const char* other : {"layernorm", "groupnorm"})
      if (job.norm == bn)
        pairs.minus(job.label, {"accuracy.same"}, fmt::format("batch{}.{}", job.batch, other));
  }
  for (const char* other : {"shift.batchnorm", "shift.noisy_none"})
    pairs.over("shift.noisy", {"steps"}, other);
  for (const char* label : {"layernorm", "layernorm_plain"}) pairs.tell(label, {"loss.seen"});
  pairs.minus("layernorm_plain", {"loss.seen", "accuracy.same"}, "layernorm");
  for (const char* label : {"skewed.layernorm", "skewed.rmsnorm"})
    pairs.tell(label, {"rate", "steps", "loss.seen", "accuracy.same"});
  for (const std::string first : {"", "skewed."}) {
    pairs.over(first + "layernorm", {"steps"}, first + "rmsnorm");
    pairs.minus(first + "layernorm", {"loss.seen", "accuracy.same"}, first + "rmsnorm");
  }
  pairs.measurements.add("skewed.skewness", skewness(pixels_of(test.x)));
  pairs.publish();
  pairs.measurements.print(run);
  const double noisy = pairs.measurements.spread("shift.noisy.shift_of_inputs_over_none").min;
  if (run.preset_unchanged())
    run.expect("with noise inputs shift more than without a norm", noisy > 1,
               fmt::format("{:.3f} times or more", noisy));
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  return run_program(
      {.name = "norm_motives",
       .about = "Do norms stabilize and speed up training, regularize, and make nets robust?\n"
                "Source 001's four motives, measured on nets that learn digits.",
       .example = "norm_motives --seeds 2 --depth 8",
       .page = "studies/norm_motives/README.md",
       .trained =
           {{.of = "few.",
             .en = "{depth} layers of width {width}, {few_steps} steps of SGD on {few} {digits}, "
                   "best rate of {learning_rates}",
             .zh = "{depth} 层、宽 {width}，在 {few} 张{digits}上用 SGD 训练 {few_steps} 步，学习率取 "
                   "{learning_rates} 中最佳"},
            {.of = "batch2.",
             .en = "{depth} layers of width {width}, {small} {digits}, each seen once, in twos",
             .zh = "{depth} 层、宽 {width}，{small} 张{digits}各看一次，批大小 2"},
            {.of = "batch4.",
             .en = "{depth} layers of width {width}, {small} {digits}, each seen once, in fours",
             .zh = "{depth} 层、宽 {width}，{small} 张{digits}各看一次，批大小 4"},
            {.of = "batch8.",
             .en = "{depth} layers of width {width}, {small} {digits}, each seen once, in eights",
             .zh = "{depth} 层、宽 {width}，{small} 张{digits}各看一次，批大小 8"},
            {.of = ".skewness"},
            {.en = "{depth} layers of width {width}, {steps} steps of SGD on {digits}, best rate of "
                   "{learning_rates}",
             .zh =
                 "{depth} 层、宽 {width}，在{digits}上用 SGD 训练 {steps} 步，学习率取 {learning_rates} 中最佳"}},
       .presets = {{"quick", "6 seeds"}, {"full", "40 seeds", "--seeds 40"}},
       .tiny = "--width 8 --steps 2 --few 8 --few_steps 2 --small 8 --seeds 1 --learning_rates 0.1",
       .shares = true},
      config, argc, argv, [&](Run& run) { study(run, config); });
}
