// Which comparisons of norms hold whatever the setting, and on what do the others depend?
//
// Claims: verdicts on norms by the final loss of small language models (texts 000 to 004 and 006 to 009). Over seeds
// each is a verdict on one setting: other initial weights, embedding, optimizer, text or length may turn it.
//
//   settings --full     forty minutes of one core; expected: predictions.md, which was committed before the run
//
// Sixteen settings, a balanced fraction of a factorial design (design.h). In each, each net has the learning rate that
// is best for it on half of the validation text, by a sweep whose seed judges nothing. Pairs of one seed are compared
// on the other half. The judge (claims/over_settings.h) takes the mean over the settings, and the levels of each factor.
//
// Held fixed: as in a duel (duel/README.md): no warm-up, a constant rate, clipping at 1, pre-norm, no biases.
#include <numeric>

#include "../../../nn/lm/lm.h"
#include "../../lm/training/pairs.h"
#include "../../lm/training/small_config.h"
#include "../../nets/norms/norms.h"
#include "../../run/grid.h"
#include "../../run/program.h"
#include "../../run/table.h"
#include "../depth_trainability/results.h"
#include "design.h"

using namespace isobar;
using namespace isobar::across;

namespace {

[[maybe_unused]] const bool registered = register_layernorm_bias() && register_hardtanh();

struct Config : HasFields {
  std::vector<std::string> nets = {"rmsnorm", "none"};
  int64_t seeds = 2, steps = 40, long_steps = 120;
  int64_t width = 32, n_layer = 4, block_size = 32, batch_size = 8, eval_iters = 20;

  void fields(Fields& f) override {
    f("nets", nets, "norms before the branches; rmsnorm is among them", one_of(norm_names()));
    f("seeds", seeds, "pairs of trainings in each setting", at_least(2));
    f("steps", steps, "steps of a training", at_least(1));
    f("long_steps", long_steps, "steps of a training in the four long settings", at_least(1));
    f("width", width, "width of the residual stream, a multiple of 8", between(8, 4096));
    f("n_layer", n_layer, "blocks", at_least(1));
    f("block_size", block_size, "letters that the model sees at once", at_least(1));
    f("batch_size", batch_size, "blocks in a step", at_least(1));
    f("eval_iters", eval_iters, "batches of each half of the validation text", at_least(1));
  }
  void check_together() const {
    check(std::ranges::count(nets, "rmsnorm") == 1,
          "--nets: rmsnorm is the other side of comparisons; add it, once");
    check(width % 8 == 0, "--width: wanted a multiple of 8, got {}", width);
    check(long_steps > steps, "--long_steps: wanted more than --steps ({}), got {}", steps, long_steps);
  }
  Steps all_steps() const { return {steps, long_steps}; }
  TinyConfig tiny(const Setting& setting) const {
    TinyConfig tiny;
    tiny.block_size = block_size;
    tiny.batch_size = batch_size;
    tiny.eval_iters = eval_iters;
    tiny.init_std = init_std(setting.weights, width);
    tiny.embedding_std = setting.embedding_std;
    return tiny;
  }
};

// They decide no training's bits: a run with more of them has the trainings of one with fewer.
const std::vector<std::string> free_settings = {"nets", "seeds"};

// Those with whom others are compared.
const std::vector<std::string> others = {"rmsnorm", "layernorm", "dyt", "derf"};

struct Outcome {
  double tuning_loss = std::numeric_limits<double>::infinity();  // so it is where the training broke off
  // At most the loss of the letters' frequencies: a net that ends above it knows nothing.
  double val_loss = 0, train_loss = 0;
  bool diverged = false;  // it broke off, or val_loss ended there

  void values(RowFields& f) {
    f("tuning_loss", tuning_loss), f("val_loss", val_loss), f("train_loss", train_loss),
        f("diverged", diverged);
  }
};

// A net in a setting: its sweep, and its trainings at the best rate, seed by seed.
struct Cell {
  size_t setting;
  std::string net;
  Sweep sweep = {};
  double rate = 0;
  std::vector<Outcome> trained = {};

  std::vector<double> losses() const { return values_of(trained, &Outcome::val_loss); }
  std::vector<double> train_losses() const { return values_of(trained, &Outcome::train_loss); }
};

// The texts, by the names that settings have for them, with the loss of their letters' frequencies.
struct Texts {
  TinyText shakespeare, synthetic;
  double shakespeare_loss, synthetic_loss;

  explicit Texts(int64_t block_size)
      : shakespeare("", block_size),
        synthetic("synthetic", block_size),
        shakespeare_loss(shakespeare.unigram_loss()),
        synthetic_loss(synthetic.unigram_loss()) {}
  static bool is_synthetic(const Setting& setting) { return std::string_view(setting.text) == "synthetic"; }
  const TinyText& of(const Setting& setting) const { return is_synthetic(setting) ? synthetic : shakespeare; }
  double blind_loss(const Setting& setting) const {
    return is_synthetic(setting) ? synthetic_loss : shakespeare_loss;
  }
};

// One net from one seed. Bit-identical on any number of threads, whatever else runs.
Outcome train_net(const Config& config, const Texts& texts, const Setting& setting, const std::string& net,
                  int64_t steps, double rate, int64_t seed) {
  const TinyText& text = texts.of(setting);
  const double blind_loss = texts.blind_loss(setting);
  const TinyConfig tiny = config.tiny(setting);
  LmConfig training = tiny.training(config.width, config.n_layer, steps, rate);
  training.norm = net;
  training.optimizer = setting.optimizer;
  training.muon_lr = rate * muon_rate_over_adam_w;
  training.check_together();
  const Rng rng(static_cast<uint64_t>(seed));
  LanguageModel model(tiny.model(training, text.vocab_size()), rng.split("model"));
  LmOptimizer optimizer(model, training);
  Outcome outcome{.val_loss = blind_loss, .train_loss = blind_loss, .diverged = true};
  for (int64_t step = 0; step < training.max_iters; ++step) {
    const Batch batch = text.train.random_batch(config.batch_size, rng.split("batch").split(step));
    const Gradients gradients = gradients_of(model, batch, rng.split("dropout").split(step));
    if (!gradients.finite()) return outcome;
    optimizer.set_rates(step);
    optimizer.step(clipping(gradients.norm, training));
  }
  const auto loss_on = [&](const TokenDataset& data, const char* stream) {
    return mean_loss(model, data, config.eval_iters, config.batch_size, Rng(0).split(stream));
  };
  const double tuning = loss_on(text.tuning, "tuning"), validation = loss_on(text.validation, "validation");
  if (std::isfinite(tuning)) outcome.tuning_loss = tuning;
  if (validation < blind_loss) outcome.val_loss = validation, outcome.diverged = false;
  if (const double loss = loss_on(text.train, "train"); loss < blind_loss) outcome.train_loss = loss;
  return outcome;
}

struct Trainings {
  const Config& config;
  const Texts& texts;
  Grid& grid;
  std::vector<Cell> cells = {};

  Trainings(const Config& of, const Texts& with, Grid& rows) : config(of), texts(with), grid(rows) {
    for (size_t i = 0; i < settings.size(); ++i)
      for (const std::string& net : config.nets) cells.push_back({.setting = i, .net = net});
  }

  struct Wanted {
    size_t cell;
    int64_t steps;
    double rate;
    int64_t seed;
  };

  // A row has all that decides its bits but the sizes, which are the run's settings.
  Json row(const Wanted& wanted) const {
    const Cell& cell = cells[wanted.cell];
    const Setting& setting = settings[cell.setting];
    return {{"init_std", init_std(setting.weights, config.width)},
            {"embedding_std", setting.embedding_std},
            {"optimizer", setting.optimizer},
            {"text", setting.text},
            {"steps", wanted.steps},
            {"net", cell.net},
            {"learning_rate", wanted.rate},
            {"seed", wanted.seed}};
  }

  // In the order of `wanted`; the long ones are trained first, so that threads end together.
  std::vector<Outcome> train(const std::vector<Wanted>& wanted) {
    std::vector<size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) { return wanted[i].steps; });
    std::vector<Json> rows;
    for (const size_t i : order) rows.push_back(row(wanted[i]));
    const std::vector<Outcome> trained = grid.train<Outcome>(rows, [&](size_t k) {
      const Wanted& one = wanted[order[k]];
      const Cell& cell = cells[one.cell];
      const Setting& setting = settings[cell.setting];
      return train_net(config, texts, setting, cell.net, one.steps, one.rate, one.seed);
    });
    std::vector<Outcome> outcomes(wanted.size());
    for (size_t k = 0; k < order.size(); ++k) outcomes[order[k]] = trained[k];
    return outcomes;
  }

  // Of short trainings in long settings, too.
  void sweep() {
    std::vector<Wanted> wanted;
    const auto want = [&](size_t cell, const std::vector<double>& rates) {
      for (const double rate : rates) wanted.push_back({cell, config.steps, rate, sweep_seeds});
    };
    for (size_t i = 0; i < cells.size(); ++i) want(i, first_rates(8));
    while (!wanted.empty()) {
      const std::vector<Outcome> outcomes = train(wanted);
      for (size_t i = 0; i < wanted.size(); ++i)
        cells[wanted[i].cell].sweep.losses[wanted[i].rate] = outcomes[i].tuning_loss;
      wanted.clear();
      for (size_t i = 0; i < cells.size(); ++i)
        want(i, cells[i].sweep.next(texts.blind_loss(settings[cells[i].setting])));
    }
    for (Cell& cell : cells) cell.rate = cell.sweep.best();
  }

  void pairs(int64_t first_seed) {
    std::vector<Wanted> wanted;
    for (size_t i = 0; i < cells.size(); ++i)
      for (int64_t seed = 0; seed < config.seeds; ++seed)
        wanted.push_back(
            {i, config.all_steps().of(settings[cells[i].setting]), cells[i].rate, first_seed + seed});
    const std::vector<Outcome> outcomes = train(wanted);
    for (size_t i = 0; i < wanted.size(); ++i) cells[wanted[i].cell].trained.push_back(outcomes[i]);
  }

  // Null where no such net was trained.
  const Cell* find(size_t setting, const std::string& net) const {
    const auto at = std::ranges::find_if(
        cells, [&](const Cell& cell) { return cell.setting == setting && cell.net == net; });
    return at == cells.end() ? nullptr : &*at;
  }
};

std::vector<double> difference(const Cell& a, const Cell& b) {
  return pairwise(a.losses(), b.losses(), std::minus());
}

// a_minus_b.setting1 in nats, and .train of the training text; of RMSNorm also the share of its gain and percent of its
// perplexity.
void measure_pairs(Run& run, const Trainings& trainings) {
  for (const Cell& a : trainings.cells)
    for (const std::string& other : others) {
      const Cell* b = trainings.find(a.setting, other);
      if (b == nullptr || a.net == other) continue;
      const std::vector<double> nats = difference(a, *b);
      const auto measured = [&](const char* name, const std::vector<double>& values) {
        run.measured(fmt::format("{}_minus_{}{}.setting{}", a.net, other, name, a.setting + 1),
                     spread_of(values));
      };
      measured("", nats);
      measured(".train", pairwise(a.train_losses(), b->train_losses(), std::minus()));
      if (other != "rmsnorm") continue;
      const double blind = trainings.texts.blind_loss(settings[a.setting]);
      measured(".share_of_gain", shares_of_gain(nats, b->losses(), blind));
      measured(".perplexity_percent", perplexity_percent(nats));
    }
}

void measure_cells(Run& run, const Trainings& trainings) {
  Csv& rates = run.csv("rates.csv", {"setting", "net", "learning_rate", "tuning_loss"});
  Csv& pairs = run.csv("pairs.csv", {"setting", "net", "learning_rate", "seed", "val_loss", "diverged"});
  for (const Cell& cell : trainings.cells) {
    const auto setting = static_cast<int64_t>(cell.setting + 1);
    const auto key = [&](const char* name) {
      return fmt::format("{}.{}.setting{}", cell.net, name, setting);
    };
    run.measured(key("loss"), spread_of(cell.losses()));
    run.measured(key("learning_rate"), cell.rate);
    run.measured(key("diverged"),
                 static_cast<double>(std::ranges::count(cell.trained, true, &Outcome::diverged)));
    for (const auto& [rate, loss] : cell.sweep.losses) rates.row({setting, cell.net, rate, loss});
    for (size_t i = 0; i < cell.trained.size(); ++i)
      pairs.row({setting, cell.net, cell.rate, run.seed() + static_cast<int64_t>(i), cell.trained[i].val_loss,
                 static_cast<int64_t>(cell.trained[i].diverged)});
  }
}

void print_losses(Run& run, const Config& config, const Trainings& trainings) {
  std::vector<std::string> heading = {"setting"};
  for (const std::string& net : config.nets) heading.push_back(net == "rmsnorm" ? net : net + " above");
  Table table(heading, "l" + std::string(config.nets.size(), 'r'));
  for (size_t i = 0; i < settings.size(); ++i) {
    const Cell& reference = *trainings.find(i, "rmsnorm");
    std::vector<std::string> row = {fmt::format("{:2} {}", i + 1, name_of(config.all_steps(), i).en)};
    for (const std::string& net : config.nets) {
      const Cell& cell = *trainings.find(i, net);
      row.push_back(net == "rmsnorm"
                        ? fmt::format("{:.3f}", spread_of(cell.losses()).linear.mean)
                        : fmt::format("{:+.3f}", spread_of(difference(cell, reference)).linear.mean));
    }
    table.row(row);
  }
  run.say("RMSNorm's loss, and how far others end above it, in nats:\n{}", table.text());
}

void plot(Run& run, const Config& config, const Trainings& trainings) {
  Plot plot{.title = {"loss above RMSNorm's in sixteen settings", "十六种设置下高于 RMSNorm 的损失"},
            .x = {"number of the setting", "设置编号"},
            .y = {"nats", "nat"},
            .key = "minus_rmsnorm",
            .figures = {"_minus_rmsnorm"}};
  for (const std::string& net : config.nets) {
    if (net == "rmsnorm") continue;
    PlotCurve curve{.label = net};
    for (size_t i = 0; i < settings.size(); ++i)
      curve.add(static_cast<double>(i + 1),
                spread_of(difference(*trainings.find(i, net), *trainings.find(i, "rmsnorm"))));
    plot.curves.push_back(curve);
  }
  run.plot(plot);
}

void study(Run& run, const Config& config) {
  const Texts texts(config.block_size);
  texts.shakespeare.corpus.announce(run);
  texts.synthetic.corpus.announce(run);
  Grid grid(run, {.free = free_settings});
  Trainings trainings(config, texts, grid);
  trainings.sweep();
  trainings.pairs(run.seed());
  run.summary().update(design_of(config.all_steps()));
  measure_pairs(run, trainings);
  measure_cells(run, trainings);
  print_losses(run, config, trainings);
  plot(run, config, trainings);
  grid.finish();
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  return run_program(
      {.name = "settings",
       .about = "Which comparisons of norms hold whatever the setting?",
       .example = "settings --nets rmsnorm,dyt --seeds 3",
       .page = "studies/settings/README.md",
       .trained =
           {{.en =
                 "{n_layer} blocks of width {width}, {steps} or {long_steps} steps in sixteen settings, each "
                 "net at its own best rate of {steps} steps",
             .zh =
                 "{n_layer} 块、宽 {width}，在十六种设置下训练 {steps} 或 {long_steps} 步，每个网络取各自 {steps} 步的最佳学习率"}},
       .presets =
           {{"quick", "two nets, short trainings"},
            {"full", "eleven nets, 250 or 750 steps, five seeds",
             "--nets rmsnorm,none,layernorm,layernorm_bias,dyt,dyt_sqrtd,dyisru,derf,centernorm,stdnorm,hardtanh "
             "--steps 250 --long_steps 750 --seeds 5"}},
       .tiny =
           "--nets rmsnorm,none --width 8 --n_layer 1 --steps 2 --long_steps 3 --block_size 8 --batch_size 2 "
           "--eval_iters 1 --seeds 2",
       .shares = true,
       .check = [&] { config.check_together(); }},
      config, argc, argv, [&](Run& run) { study(run, config); });
}
