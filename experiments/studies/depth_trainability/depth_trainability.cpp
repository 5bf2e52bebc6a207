// Can deep nets be trained, with and without normalization? Nets of 2 to 1000 layers learn MNIST's digits.
//
// Claims: source 003 says that without normalization deep nets degenerate to shallow ones (D45), in which
// only the back layers learn (D07), that 1000 layers cannot be trained at all (D09), and that with a norm
// gradients flow through 96 layers and more (D13); 004, that SkipInit, ReZero and Fixup need none (F16).
//
// A net: 784 pixels → 128, then `depth` layers (plain) or blocks of two layers, as decay_study builds them, →
// 10 digits; cross-entropy, batch 64, 100 steps of Adam, warm-up over a tenth of the steps, then a cosine down
// to a tenth. A hundred steps are few: nets that fail here might learn in more. README.md says how the
// images are divided and each net gets its rate.
//
// Training stops working at the first depth whose median test accuracy is below 0.5. A net whose loss or
// logits are not finite counts as chance, 0.1, and is reported as diverged. All trainings run side by side,
// one per thread; nets of 1000 blocks take about 0.7 GB each.
#include <fmt/ranges.h>

#include "../../../data/loader.h"
#include "../../../optim/optim.h"
#include "../../nets/digits/classifier.h"
#include "../../run/program.h"
#include "results.h"

using namespace isobar;
using namespace isobar::depth;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// What the preset full adds: other norms, placements and initial weights.
constexpr const char* more_nets =
    "plain.default.layernorm,plain.default.dyt,pre.default.layernorm,pre.default.dyt,post.default.rmsnorm,"
    "rezero.default.none";

// One net to train, and how.
struct Training {
  Kind kind;
  int64_t depth;
  double rate;
  int64_t seed;

  Json settings(const char* judged_by) const {
    return {{"net", kind.key()},
            {"depth", depth},
            {"learning_rate", rate},
            {"seed", seed},
            {"judged_by", judged_by}};
  }
};

double moved(const Tensor& before, const Tensor& after) {
  return moments_of(after - before).norm / moments_of(before).norm;
}

// One training, and what it gives on `images`. Nets of one seed see the same batches and share what they can.
Outcome train_net(const Config& config, const Training& job, const Part& train, const Part& images) {
  const Rng rng(static_cast<uint64_t>(job.seed));
  Classifier model(config.hidden(job.kind, job.depth), rng.split("model"));
  Adam optimizer(parameters(model), {.lr = job.rate});
  const WarmupCosine schedule{
      .lr = job.rate, .min_lr = job.rate / 10, .warmup = config.steps / 10, .steps = config.steps};
  const Loader loader(train, {.batch_size = config.batch, .drop_last = true}, rng.split("batches"));
  const Tensor& first = model.hidden.layers.front().linear1->weight;
  const Tensor& last = model.hidden.layers.back().linear1->weight;
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
        outcome.gradients[i] = moments_of(model.hidden.layers[i].linear1->weight.grad()).norm;
    optimizer.set_lr(schedule(step));
    optimizer.step();
  }

  outcome.first_moved = moved(first_before, first);
  outcome.last_moved = moved(last_before, last);
  const Judged judged = outcome.diverged ? Judged{nan, nan} : judge(model, images);
  outcome.loss = judged.loss;
  outcome.diverged = std::isnan(judged.loss);
  if (!outcome.diverged) outcome.accuracy = judged.accuracy;
  outcome.train_loss = outcome.diverged ? nan : late_loss(outcome.losses);
  return outcome;
}

// Every net at every depth, its rate as given, the first seed; the longest first.
std::vector<Training> nets_of(const Config& config, int64_t first_seed) {
  std::vector<Training> nets;
  for (const Kind& kind : config.kinds())
    for (const int64_t depth : config.depths) nets.push_back({kind, depth, config.learning_rate, first_seed});
  std::stable_sort(nets.begin(), nets.end(), [](const Training& a, const Training& b) {
    return matrices(a.kind, a.depth) > matrices(b.kind, b.depth);
  });
  return nets;
}

// Gives each net the rate of lowest validation loss, in trainings of a seed and by images that are used for
// nothing else. All sweeps run side by side, round after round, until none goes on.
void tune(Grid& grid, Run& run, const Config& config, const Digits& digits, std::vector<Training>& nets) {
  std::vector<Sweep> sweeps(nets.size());
  const double constant_loss = blind_loss(digits.train);
  for (;;) {
    std::vector<std::pair<size_t, Training>> trials;  // number of the net, and what is tried
    for (size_t n = 0; n < nets.size(); ++n)
      for (const double rate :
           sweeps[n].losses.empty() ? first_rates(nets[n].depth) : sweeps[n].next(constant_loss))
        trials.push_back({n, {nets[n].kind, nets[n].depth, rate, run.seed() + sweep_seeds}});
    if (trials.empty()) break;
    std::vector<Json> rows;
    for (const auto& [n, trial] : trials) rows.push_back(trial.settings("validation"));
    const auto train = [&](size_t i) {
      return train_net(config, trials[i].second, digits.train, digits.validation);
    };
    grid.train<Outcome>(rows, train, [&](size_t i, const Outcome& outcome) {
      const auto& [n, trial] = trials[i];
      sweeps[n].losses[trial.rate] = std::isfinite(outcome.loss) ? outcome.loss : infinity;
    });
  }
  for (size_t n = 0; n < nets.size(); ++n) {
    nets[n].rate = sweeps[n].best();
    publish_sweep(run, nets[n].kind, nets[n].depth, sweeps[n]);
  }
}

// All nets and seeds side by side. Each net is recorded as soon as its last seed is there.
std::vector<Result> train_all(Grid& grid, Run& run, const Config& config, const Digits& digits,
                              const std::vector<Training>& nets) {
  std::vector<Result> results;
  for (const Kind& kind : config.kinds()) {
    results.push_back({.kind = kind, .cells = {}});
    for (const int64_t depth : config.depths) results.back().cells.push_back({.depth = depth, .runs = {}});
  }
  std::vector<Training> trainings;
  std::vector<Json> rows;
  for (const Training& net : nets)
    for (int64_t i = 0; i < config.seeds; ++i) {
      trainings.push_back(net);
      trainings.back().seed += i;
      rows.push_back(trainings.back().settings("test"));
    }
  const auto train = [&](size_t i) { return train_net(config, trainings[i], digits.train, digits.test); };
  grid.train<Outcome>(rows, train, [&](size_t i, const Outcome& outcome) {
    const Training& net = trainings[i];
    Result& result = *std::ranges::find(results, net.kind, &Result::kind);
    Cell& cell = *std::ranges::find(result.cells, net.depth, &Cell::depth);
    cell.learning_rate = net.rate;
    cell.runs.push_back(outcome);
    if (std::ssize(cell.runs) < config.seeds) return;
    record(run, net.kind, cell);
    run.flush();
    print_line(run, net.kind, cell);
  });
  return results;
}

void run_study(Run& run, Config config) {
  std::ranges::sort(config.depths);
  const Digits digits = read_digits(config.mnist);
  digits.announce(run);
  check(config.batch <= digits.train.size(), "--batch: {} images a step, but there are {} to train on",
        config.batch, digits.train.size());
  publish_images(run, digits);
  print_question(run, config, digits, config.kinds());

  std::vector<Training> nets = nets_of(config, run.seed());
  Grid grid(run);
  if (config.learning_rate == 0) tune(grid, run, config, digits, nets);
  const std::vector<Result> results = train_all(grid, run, config, digits, nets);
  Csv& csv = open_csv(run);
  for (const Result& result : results) publish(run, csv, config, result);
  plot_accuracies(run, results);
  print_results(run, config, results);
  expect_identities(run, config, results);
  grid.finish();
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{
      .name = "depth_trainability",
      .about =
          "Can deep nets be trained, with and without norms? MLPs of 2 to 1000 layers on MNIST.\n"
          "Judges what source 003 says about the depth at which training stops working.",
      .example = "depth_trainability --nets plain.default.none,pre.default.rmsnorm --depths 2,32",
      .page = "studies/depth_trainability/README.md",
      .trained = {{.of = "blind."},
                  {.of = "images."},
                  {.en = "width {width}, {steps} steps of Adam on {digits}, rate {learning_rate}",
                   .zh = "宽 {width}，在{digits}上用 Adam 训练 {steps} 步，学习率 {learning_rate}"}},
      .presets = {{"quick", "the nets that the claims speak of, up to 100 layers or blocks"},
                  {"full", "these and six more, up to 1000 layers or blocks",
                   fmt::format("--depths 2,8,32,100,1000 --nets {},{}", fmt::join(config.nets, ","),
                               more_nets)}},
      .tiny = "--nets plain.default.none --depths 2,8 --width 8 --steps 2 --seeds 1",
      .shares = true,
      .settle = [&](const std::set<std::string>& given) -> std::vector<std::string> {
        if (config.activation == "relu" || given.contains("nets")) return {};
        if (std::erase(config.nets, "fixup.he_normal.none") == 0) return {};
        return {"nets are without fixup.he_normal.none, whose blocks have a ReLU of their own"};
      },
      .check = [&] { config.check_together(); }};
  return run_program(program, config, argc, argv, [&](Run& run) { run_study(run, config); });
}
