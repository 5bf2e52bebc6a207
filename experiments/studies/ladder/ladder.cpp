// Does a comparison of small nets hold for larger ones, and under another optimizer?
//
// Claims: every verdict on trained language models gets a reach from here. Norms do alike (000 A13, A14; 002 C08; 003
// D21, D23); elementwise layers replace them or do not (004 F08, F20, F24; 006 DyT; 007 Derf); norm and optimizer
// are coupled (008); removing LayerNorm helps with few tokens a parameter and hurts with many (009).
//
// Contestants climb a ladder of rungs, each of twice the compute of the one before, width and steps growing together;
// or, at one width, of twice the training text. On each rung each contestant has the learning rate that is best for
// it on half of the validation text, from the neighbours of the rate of the rung below. Pairs of one seed are compared
// on the other half. The highest rung is foretold from those below before it is trained (--rungs).
//
// Held fixed: as in a duel (duel/README.md): four blocks, embedding of std 1, no warm-up, a constant rate, clipping.
#include "../../duel/trainings.h"
#include "../../nets/norms/norms.h"
#include "../../run/program.h"
#include "results.h"

using namespace isobar;
using namespace isobar::ladder;

namespace {

[[maybe_unused]] const bool registered = register_layernorm_bias() && register_hardtanh();

// They decide no training's bits: a ladder with more rungs has the trainings of one with fewer.
const std::vector<std::string> free_settings = {"rungs"};

// The rates that come first: the neighbours of the one that was best on the rung below.
std::vector<double> first_rates(const Results& results, const Cell& cell) {
  if (cell.rung == 0) return isobar::first_rates(8);
  const double below = results.find(cell.rung - 1, cell.optimizer, cell.net)->rate;
  const auto* const at = std::ranges::find(swept_rates, below);
  std::vector<double> rates = {below};
  if (at != std::begin(swept_rates)) rates.insert(rates.begin(), *(at - 1));
  if (at + 1 != std::end(swept_rates)) rates.push_back(*(at + 1));
  return rates;
}

struct Climb {
  Run& run;
  const Config& config;
  Results& results;
  duel::Trainings& trainings;

  // All of the rung's cells side by side; a training's `side` is the number of its cell.
  void search(size_t begin) {
    std::vector<duel::Training> wanted;
    const auto want = [&](size_t cell, const std::vector<double>& rates) {
      for (const double rate : rates) wanted.push_back({static_cast<int64_t>(cell), rate, sweep_seeds});
    };
    for (size_t i = begin; i < results.cells.size(); ++i) want(i, first_rates(results, results.cells[i]));
    while (!wanted.empty()) {
      trainings.of(wanted, [&](size_t i, const duel::Trained& trained) {
        Cell& cell = results.cells[static_cast<size_t>(wanted[i].side)];
        cell.sweep.losses[wanted[i].rate] = trained.diverged ? claims::infinity : trained.tuning_loss;
      });
      wanted.clear();
      for (size_t i = begin; i < results.cells.size(); ++i)
        want(i, results.cells[i].sweep.next(results.blind_loss));
    }
    for (size_t i = begin; i < results.cells.size(); ++i)
      results.cells[i].rate = results.cells[i].sweep.best();
  }

  void train_pairs(size_t begin) {
    std::vector<duel::Training> wanted;
    for (size_t i = begin; i < results.cells.size(); ++i)
      for (int64_t seed = 0; seed < results.rungs.back().seeds; ++seed)
        wanted.push_back({static_cast<int64_t>(i), results.cells[i].rate, run.seed() + seed});
    trainings.of(wanted, [&](size_t i, const duel::Trained& trained) {
      results.cells[static_cast<size_t>(wanted[i].side)].trained.push_back(trained);
    });
  }

  void tell(size_t begin) {
    for (size_t i = begin; i < results.cells.size(); ++i) {
      const Cell& cell = results.cells[i];
      run.say("  {}, {}: rate {}, loss {}\n", cell.optimizer, cell.net, cell.rate,
              spread_text(spread_over(cell.trained, &duel::Trained::val_loss)));
    }
  }
};

void study(Run& run, const Config& config) {
  Results results;
  std::vector<Rung> rungs = config.all_rungs();
  rungs.resize(config.measured_rungs());
  // A task for each rung and optimizer: where a training's net learns.
  std::vector<std::unique_ptr<duel::Task>> tasks;
  for (const Rung& rung : rungs)
    for (const std::string& optimizer : config.optimizers)
      tasks.push_back(make_task(config.duel(rung, optimizer)));
  results.blind_loss = tasks.front()->blind_loss();
  tasks.front()->announce(run);
  run.summary()["corpus"] = tasks.front()->name();
  std::vector<duel::Contestant> contestants;
  for (const std::string& net : config.nets) contestants.push_back(contestant_of(net));
  const size_t nets = config.nets.size();
  duel::Trainings trainings(run, {.free = free_settings}, [&](const duel::Training& training) {
    const auto cell = static_cast<size_t>(training.side);
    return tasks[cell / nets]->train(contestants[cell % nets], training);
  });
  Climb climb{run, config, results, trainings};
  for (size_t rung = 0; rung < rungs.size(); ++rung) {
    const size_t begin = results.cells.size();
    for (const std::string& optimizer : config.optimizers)
      for (const std::string& net : config.nets)
        results.cells.push_back({.rung = rung, .optimizer = optimizer, .net = net});
    results.rungs.push_back(rungs[rung]);
    climb.search(begin);
    climb.train_pairs(begin);
    name_rungs(config, results);
    run.say("{}, {} seeds\n", results.names.back().en, rungs[rung].seeds);
    climb.tell(begin);
  }
  publish(run, config, results);
  publish_foretold(run, config, results);
  if (rungs.size() == config.all_rungs().size()) trainings.end();
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const std::string replacements = "rmsnorm,none,layernorm,dyt,derf", sizes = " --steps 250 --seeds 5";
  return run_program(
      {.name = "ladder",
       .about = "Do comparisons of small nets hold for larger ones?",
       .example = "ladder --nets rmsnorm,none,dyt --optimizers adamw",
       .page = "studies/ladder/README.md",
       .trained =
           {{.en =
                 "{n_layer} blocks of width {widths}, on {corpus}, each net at each size at its own best rate",
             .zh = "{n_layer} 块、宽 {widths}，在{corpus}上训练，每个网络在每级取各自最佳学习率"}},
       .presets =
           {{"quick", "three small rungs"},
            {"full", "five rungs, sixteen times the compute",
             "--widths 48,56,64,80,96 --nets " + replacements +
                 ",layernorm_bias,stdnorm,centernorm,dyt_sqrtd,dyisru,derf_alpha0.3,hardtanh" + sizes},
            {"kjv", "five rungs, the King James Bible",
             "--corpus kjv --widths 40,48,56,64,80 --nets " + replacements + sizes},
            {"tokens", "one width, six lengths of text",
             "--corpus synthetic --optimizers adamw --widths 48 --train_tokens 2048,4096,8192,16384,32768,65536 --steps 498 "
             "--seeds 7 --nets rmsnorm,none,layernorm,dyt,hardtanh,dyt_alpha1,dyt_alpha2,layernorm_dropout0.5"}},
       .tiny = "--nets rmsnorm,none --widths 8,16,24,32 --n_layer 1 --steps 8 --block_size 8 --batch_size 2 "
               "--eval_iters 1 --seeds 2",
       .first_settings = {"corpus", "nets", "optimizers", "widths", "rungs", "seeds", "steps"},
       .shares = true,
       .goes_on = MayDiffer{.may_grow = free_settings},
       .check = [&] { config.check_together(); }},
      config, argc, argv, [&](Run& run) { study(run, config); });
}
