// Do comparisons of nets that learn digits hold whatever the setting, and on what do the others depend?
//
// Claims: verdicts on trained MLPs. Source 003: only the back layers of a deep net learn (D07), it becomes a shallow one
// (D45), and with RMSNorm very deep nets learn (D13). 001 and 002: normalized nets generalize better and are more robust
// to changed pixels (B15), and BatchNorm accelerates training (C11).
//
//   digit_settings --full     for 003: plain chains and residual nets of 8 and 100 layers or blocks, 15 minutes
//   digit_settings --preset shallow     for 001 and 002: plain chains of 2 and 8 layers, 2 minutes
//
// Minutes are of one core; expected: predictions.md, which was committed before the run. Sixteen settings, a balanced
// fraction of a factorial design (design.h). In each, each net has the learning rate that is best for it on the
// validation images, by a sweep whose seed judges nothing. Pairs of one seed are compared on the test images. The judge
// (claims/over_settings.h) takes the mean over the settings, and the levels of each factor.
//
// Held fixed, as in depth_trainability: width 128, ReLU, 100 steps, warm-up over a tenth of them, then a cosine down to
// a tenth. SGD has a momentum of 0.9: without it nets of vanishing gradients want rates above 1, where sweeps end.
#include <fmt/ranges.h>

#include <numeric>

#include "../../../data/loader.h"
#include "../../../optim/optim.h"
#include "../../nets/digits/changes.h"
#include "../../nets/digits/classifier.h"
#include "../../nets/digits/config.h"
#include "../../run/grid.h"
#include "../../run/program.h"
#include "../../run/sweep.h"
#include "../../run/table.h"
#include "design.h"

using namespace isobar;
using namespace isobar::digit_settings;

namespace {

constexpr double chance = 0.1;    // ten digits: what a net counts as that diverged
constexpr double momentum = 0.9;  // of SGD
constexpr int64_t shallow = 2;    // layers of the net with which a deep plain one is compared
const std::string plain_none = "plain.none";

// topology.norm of the hidden layers; a setting adds their initial weights.
const Choices net_names = {"plain.none", "plain.rmsnorm", "plain.batchnorm", "pre.rmsnorm"};

struct Config : HasFields {
  std::vector<std::string> nets = {"plain.none", "plain.rmsnorm"};
  int64_t seeds = 2, steps = 100, width = 128;
  LevelSizes sizes = {};
  bool changed_pixels = false;
  std::string mnist = "";

  void fields(Fields& f) override {
    f("nets", nets, "topology.norm; plain.none is among them", one_of(net_names));
    f("seeds", seeds, "pairs of trainings in each setting", between(2, 10'000));
    f("steps", steps, "steps of a training", between(1, 1'000'000));
    f("width", width, "features of every layer", between(1, 16'384));
    f("small_batch", sizes.small_batch, "images a step in half of the settings, at least two for BatchNorm",
      between(2, 7'000));
    f("large_batch", sizes.large_batch, "images a step in the others", between(2, 7'000));
    f("few_layers", sizes.few_layers, "hidden layers, or blocks of two, in half of the settings",
      between(1, 10'000));
    f("many_layers", sizes.many_layers, "hidden layers, or blocks of two, in the others", between(1, 10'000));
    f("changed_pixels", changed_pixels, "also measure the accuracy on test images with changed pixels");
    f("mnist", mnist,
      "folder of the images; empty: $ISOBAR_DATA/mnist, or the test images of the repository");
  }
  void check_together() const {
    check(std::ranges::count(nets, plain_none) == 1,
          "--nets: plain.none is the other side of comparisons; add it, once");
    check(sizes.small_batch < sizes.large_batch, "--large_batch: wanted more than --small_batch ({}), got {}",
          sizes.small_batch, sizes.large_batch);
    check(sizes.few_layers < sizes.many_layers, "--many_layers: wanted more than --few_layers ({}), got {}",
          sizes.few_layers, sizes.many_layers);
  }
};

// They decide no training's bits: a run with more of them has the trainings of one with fewer.
const std::vector<std::string> free_settings = {"nets",        "seeds",      "small_batch",
                                                "large_batch", "few_layers", "many_layers"};

// One training.
struct Outcome {
  double loss =
      std::numeric_limits<double>::infinity();  // on the images that judge; so it is where it diverged
  double steps_to_half = 0;  // until the running mean of its losses is below 0.5; all steps where it never is
  // Of the distances |ΔW| / |W| by which the first hidden layer and the last moved, the first's share of their sum: at
  // most 1/11 where the first moved at most a tenth as far. A half where neither moved, or one overflowed.
  double first_share_of_moves = 0.5;
  double diverged = 0;  // 1: a loss or a logit was not finite
  std::vector<double>
      accuracies;  // on the images that judge, and with --changed_pixels on those of each change

  double accuracy() const { return accuracies.front(); }
  void values(RowFields& f) {
    f("loss", loss), f("steps_to_half", steps_to_half), f("first_share_of_moves", first_share_of_moves);
    f("diverged", diverged), f("accuracies", accuracies);
  }
};

// The images, read once.
struct Images {
  depth::Digits digits;
  std::vector<Batch> changed = {};  // the test images, in each of depth::changes but the first, "same"

  explicit Images(const Config& config) : digits(depth::read_digits(config.mnist)) {
    if (!config.changed_pixels) return;
    const Batch test = depth::first_of(digits.test, digits.test.size());
    for (const depth::Change& change : std::span(depth::changes).subspan(1))
      changed.push_back(depth::changed(test, change));
  }
};

// A net in a setting: its sweep, and its trainings at the best rate, seed by seed.
struct Cell {
  size_t setting;
  std::string net;
  int64_t depth;
  Sweep sweep = {};
  double rate = 0;
  std::vector<Outcome> trained = {};

  std::string topology() const { return net.substr(0, net.find('.')); }
  std::string norm() const { return net.substr(net.find('.') + 1); }
  std::vector<double> accuracies(size_t change = 0) const {
    return values_of(trained, [&](const Outcome& outcome) { return outcome.accuracies[change]; });
  }
};

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const std::vector<Tensor>& parameters,
                                          double rate) {
  if (name == "sgd") return std::make_unique<SGD>(parameters, SGDOptions{.lr = rate, .momentum = momentum});
  return std::make_unique<AdamW>(parameters, AdamWOptions{.lr = rate});
}

double moved(const Tensor& before, const Tensor& after) {
  return moments_of(after - before).norm / moments_of(before).norm;
}

double first_share(double first, double last) {
  const double share = first / (first + last);
  return std::isfinite(share) ? share : 0.5;
}

// Of nets in evaluation. Chance where a logit is not finite.
double accuracy_on(depth::Classifier& model, const Batch& images) {
  const Evaluation here(model);
  const Tensor logits = model(images.x);
  return all_finite(logits) ? mean(cast(argmax(logits, -1) == images.y, Dtype::f64)).item() : chance;
}

// One net from one seed. Bit-identical on any number of threads, whatever else runs. Where it does not judge, it is
// one of a sweep.
Outcome train_net(const Config& config, const Images& images, const Cell& cell, double rate, int64_t seed,
                  bool judges) {
  const Setting& setting = settings[cell.setting];
  depth::Config nets;
  nets.width = config.width;
  const Rng rng(static_cast<uint64_t>(seed));
  depth::Classifier model(nets.hidden({cell.topology(), setting.weights, cell.norm()}, cell.depth),
                          rng.split("model"));
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(setting.optimizer, parameters(model), rate);
  const WarmupCosine schedule{
      .lr = rate, .min_lr = rate / 10, .warmup = config.steps / 10, .steps = config.steps};
  const Loader loader(images.digits.train, {.batch_size = config.sizes.batch(setting), .drop_last = true},
                      rng.split("batches"));
  const Tensor& first = model.hidden.layers.front().linear1->weight;
  const Tensor& last = model.hidden.layers.back().linear1->weight;
  const Tensor first_before = clone(first), last_before = clone(last);

  Outcome outcome;
  outcome.steps_to_half = static_cast<double>(config.steps);
  double running = std::log(10);
  for (int64_t step = 0; step < config.steps; ++step) {
    const Batch batch = loader.epoch(step / loader.size()).batch(step % loader.size());
    Tape tape;
    const Tensor loss = cross_entropy(model(batch.x), batch.y);
    running = 0.8 * running + 0.2 * loss.item();
    if (!std::isfinite(running)) break;
    if (running < 0.5) outcome.steps_to_half = std::min(outcome.steps_to_half, static_cast<double>(step + 1));
    tape.backward(loss);
    optimizer->set_lr(schedule(step));
    optimizer->step();
  }
  outcome.first_share_of_moves = first_share(moved(first_before, first), moved(last_before, last));
  const depth::Judged judged = std::isfinite(running)
                                   ? judge(model, judges ? images.digits.test : images.digits.validation)
                                   : depth::Judged{NAN, NAN};
  outcome.diverged = std::isnan(judged.loss) ? 1 : 0;
  if (outcome.diverged == 0) outcome.loss = judged.loss;
  outcome.accuracies = {outcome.diverged == 0 ? judged.accuracy : chance};
  if (judges)
    for (const Batch& changed : images.changed)
      outcome.accuracies.push_back(outcome.diverged == 0 ? accuracy_on(model, changed) : chance);
  return outcome;
}

// The first rates of a sweep: SGD's are a factor of ten above AdamW's.
std::vector<double> first_rates_of(const Cell& cell) {
  std::vector<double> rates = first_rates(cell.depth);
  if (std::string_view(settings[cell.setting].optimizer) == "sgd")
    for (double& rate : rates) rate = *(std::ranges::find(swept_rates, rate) + 2);
  return rates;
}

struct Trainings {
  const Config& config;
  const Images& images;
  Grid& grid;
  std::vector<Cell> cells = {};

  // Beside the nets the shallow one, where no setting has its depth.
  Trainings(const Config& of, const Images& with, Grid& rows) : config(of), images(with), grid(rows) {
    for (size_t i = 0; i < settings.size(); ++i) {
      for (const std::string& net : config.nets)
        cells.push_back({.setting = i, .net = net, .depth = config.sizes.depth(settings[i])});
      if (has_shallow()) cells.push_back({.setting = i, .net = plain_none, .depth = shallow});
    }
  }
  bool has_shallow() const { return config.sizes.few_layers > shallow; }

  struct Wanted {
    size_t cell;
    double rate;
    int64_t seed;
  };

  // A row has all that decides its bits but the sizes that are the run's settings. Shallow nets of settings that differ
  // in the depth alone are the same row.
  Json row(const Wanted& wanted, bool judges) const {
    const Cell& cell = cells[wanted.cell];
    const Setting& setting = settings[cell.setting];
    return {{"weights", setting.weights},
            {"optimizer", setting.optimizer},
            {"batch", config.sizes.batch(setting)},
            {"net", cell.net},
            {"depth", cell.depth},
            {"learning_rate", wanted.rate},
            {"seed", wanted.seed},
            {"judged_by", judges ? "test" : "validation"}};
  }

  // In the order of `wanted`; the deep ones are trained first, so that threads end together.
  std::vector<Outcome> train(const std::vector<Wanted>& wanted, bool judges) {
    std::vector<size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](size_t i) { return cells[wanted[i].cell].depth; });
    std::vector<Json> rows;
    for (const size_t i : order) rows.push_back(row(wanted[i], judges));
    const std::vector<Outcome> trained = grid.train<Outcome>(rows, [&](size_t k) {
      const Wanted& one = wanted[order[k]];
      return train_net(config, images, cells[one.cell], one.rate, one.seed, judges);
    });
    std::vector<Outcome> outcomes(wanted.size());
    for (size_t k = 0; k < order.size(); ++k) outcomes[order[k]] = trained[k];
    return outcomes;
  }

  void sweep() {
    const double constant_loss = depth::blind_loss(images.digits.train);
    for (;;) {
      std::vector<Wanted> wanted;
      for (size_t i = 0; i < cells.size(); ++i)
        for (const double rate :
             cells[i].sweep.losses.empty() ? first_rates_of(cells[i]) : cells[i].sweep.next(constant_loss))
          wanted.push_back({i, rate, sweep_seeds});
      if (wanted.empty()) break;
      const std::vector<Outcome> outcomes = train(wanted, false);
      for (size_t i = 0; i < wanted.size(); ++i)
        cells[wanted[i].cell].sweep.losses[wanted[i].rate] = outcomes[i].loss;
    }
    for (Cell& cell : cells) cell.rate = cell.sweep.best();
  }

  void pairs(int64_t first_seed) {
    std::vector<Wanted> wanted;
    for (size_t i = 0; i < cells.size(); ++i)
      for (int64_t seed = 0; seed < config.seeds; ++seed)
        wanted.push_back({i, cells[i].rate, first_seed + seed});
    const std::vector<Outcome> outcomes = train(wanted, true);
    for (size_t i = 0; i < wanted.size(); ++i) cells[wanted[i].cell].trained.push_back(outcomes[i]);
  }

  const Cell& find(size_t setting, const std::string& net) const {
    return find(setting, net, config.sizes.depth(settings[setting]));
  }
  const Cell& find(size_t setting, const std::string& net, int64_t depth) const {
    return *std::ranges::find_if(cells, [&](const Cell& cell) {
      return cell.setting == setting && cell.net == net && cell.depth == depth;
    });
  }
};

// Of a setting: each net by itself, each plain one with a norm against none, and the plain one against a shallow one.
void measure_setting(Run& run, const Trainings& trainings, size_t setting) {
  const auto measured = [&](const std::string& name, const std::vector<double>& values) {
    run.measured(fmt::format("{}.setting{}", name, setting + 1), spread_of(values));
  };
  const auto minus = [](const std::vector<double>& a, const std::vector<double>& b) {
    return pairwise(a, b, std::minus());
  };
  const Cell& none = trainings.find(setting, plain_none);
  for (const std::string& net : trainings.config.nets) {
    const Cell& cell = trainings.find(setting, net);
    measured(net + ".accuracy", cell.accuracies());
    measured(net + ".first_share_of_moves", values_of(cell.trained, &Outcome::first_share_of_moves));
    measured(net + ".steps_to_half", values_of(cell.trained, &Outcome::steps_to_half));
    measured(net + ".diverged", values_of(cell.trained, &Outcome::diverged));
    run.measured(fmt::format("{}.learning_rate.setting{}", net, setting + 1), cell.rate);
    if (cell.topology() != "plain" || net == plain_none) continue;
    const std::vector<double> lead = minus(cell.accuracies(), none.accuracies());
    measured(net + "_minus_none.accuracy", lead);
    measured(net + "_over_none.steps_to_half",
             pairwise(values_of(cell.trained, &Outcome::steps_to_half),
                      values_of(none.trained, &Outcome::steps_to_half), std::divides()));
    for (size_t i = 1; i <= trainings.images.changed.size(); ++i)
      measured(fmt::format("{}_minus_none.lead_on_{}_minus_same", net, depth::changes[i].name),
               minus(minus(cell.accuracies(i), none.accuracies(i)), lead));
  }
  if (trainings.has_shallow())
    measured("plain.none_minus_depth2.accuracy",
             minus(none.accuracies(), trainings.find(setting, plain_none, shallow).accuracies()));
}

void write_tables(Run& run, const Trainings& trainings) {
  Csv& rates = run.csv("rates.csv", {"setting", "net", "depth", "learning_rate", "validation_loss"});
  Csv& pairs = run.csv("pairs.csv", {"setting", "net", "depth", "learning_rate", "seed", "accuracy",
                                     "first_share_of_moves", "steps_to_half", "diverged"});
  for (const Cell& cell : trainings.cells) {
    const auto setting = static_cast<int64_t>(cell.setting + 1);
    for (const auto& [rate, loss] : cell.sweep.losses) rates.row({setting, cell.net, cell.depth, rate, loss});
    for (size_t i = 0; i < cell.trained.size(); ++i) {
      const Outcome& o = cell.trained[i];
      pairs.row({setting, cell.net, cell.depth, cell.rate, run.seed() + static_cast<int64_t>(i), o.accuracy(),
                 o.first_share_of_moves, o.steps_to_half, static_cast<int64_t>(o.diverged)});
    }
  }
}

void print_accuracies(Run& run, const Trainings& trainings) {
  std::vector<std::string> heading = {"setting"};
  for (const std::string& net : trainings.config.nets) heading.push_back(net);
  if (trainings.has_shallow()) heading.emplace_back("2 layers");
  Table table(heading, "l" + std::string(heading.size() - 1, 'r'));
  for (size_t i = 0; i < settings.size(); ++i) {
    std::vector<std::string> row = {fmt::format("{:2} {}", i + 1, name_of(trainings.config.sizes, i).en)};
    const auto add = [&](const Cell& cell) {
      row.push_back(fmt::format("{:.3f}", spread_of(cell.accuracies()).linear.mean));
    };
    for (const std::string& net : trainings.config.nets) add(trainings.find(i, net));
    if (trainings.has_shallow()) add(trainings.find(i, plain_none, shallow));
    table.row(row);
  }
  run.say("Test accuracy, mean over {} seeds:\n{}", trainings.config.seeds, table.text());
}

void plot(Run& run, const Trainings& trainings) {
  Plot plot{.title = {"accuracy in sixteen settings", "十六种设置下的准确率"},
            .x = {"number of the setting", "设置编号"},
            .y = {"accuracy", "准确率"},
            .key = "accuracy_over_settings",
            .figures = {".accuracy"}};
  for (const std::string& net : trainings.config.nets) {
    PlotCurve curve{.label = net};
    for (size_t i = 0; i < settings.size(); ++i)
      curve.add(static_cast<double>(i + 1), spread_of(trainings.find(i, net).accuracies()));
    plot.curves.push_back(curve);
  }
  run.plot(plot);
}

void study(Run& run, const Config& config) {
  const Images images(config);
  images.digits.announce(run);
  check(config.sizes.large_batch <= images.digits.train.size(),
        "--large_batch: {} images a step, but there are {} to train on", config.sizes.large_batch,
        images.digits.train.size());
  Grid grid(run, {.free = free_settings});
  Trainings trainings(config, images, grid);
  trainings.sweep();
  trainings.pairs(run.seed());
  run.summary().update(design_of(config.sizes));
  for (size_t i = 0; i < settings.size(); ++i) measure_setting(run, trainings, i);
  write_tables(run, trainings);
  print_accuracies(run, trainings);
  plot(run, trainings);
  grid.finish();
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  return run_program(
      {.name = "digit_settings",
       .about = "Do comparisons of nets that learn digits hold whatever the setting?",
       .example = "digit_settings --nets plain.none,plain.batchnorm --seeds 3",
       .page = "studies/digit_settings/README.md",
       .trained =
           {{.en =
                 "{few_layers} and {many_layers} layers of width {width}, {steps} steps on {digits} in sixteen "
                 "settings, each net at its own best rate",
             .zh = "{few_layers} 层与 {many_layers} 层、宽 {width}，在十六种设置下用{digits}训练 {steps} "
                   "步，每个网络取各自最佳学习率"}},
       .presets = {{"quick", "plain chains of 2 and 8 layers, two seeds"},
                   {"full", "8 and 100 layers or blocks, five seeds",
                    "--nets plain.none,plain.rmsnorm,pre.rmsnorm --few_layers 8 --many_layers 100 --seeds 5"},
                   {"shallow", "2 and 8 plain layers and changed pixels, five seeds",
                    "--nets plain.none,plain.rmsnorm,plain.batchnorm --changed_pixels=true --seeds 5"}},
       .tiny =
           "--nets plain.none,plain.batchnorm --width 8 --steps 2 --seeds 2 --small_batch 4 --large_batch 8 "
           "--few_layers 3 --many_layers 4 --changed_pixels=true",
       .shares = true,
       .check = [&] { config.check_together(); }},
      config, argc, argv, [&](Run& run) { study(run, config); });
}
