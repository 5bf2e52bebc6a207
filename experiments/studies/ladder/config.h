// Config: every knob of a ladder; its rungs and contestants.
#pragma once

#include "../../duel/contestant.h"
#include "../../duel/training.h"
#include "../../page/charts/plot.h"

namespace isobar::ladder {

// One size of nets and trainings.
struct Rung {
  int64_t width, steps, train_tokens, seeds;
};

struct Config : HasFields {
  std::string corpus = "";
  std::vector<std::string> nets = {"rmsnorm", "none", "layernorm", "dyt"};
  std::vector<std::string> optimizers = {"adamw", "muon"};
  std::vector<int64_t> widths = {24, 32, 40};
  std::vector<int64_t> train_tokens = {0};
  int64_t rungs = 0, seeds = 3;
  int64_t steps = 60, n_layer = 4, block_size = 64, batch_size = 8, eval_iters = 20;

  void fields(Fields& f) override;
  // Throws Error for settings that do not go together.
  void check_together() const;
  // All that the ladder has, from the lowest to the highest, whatever `rungs` says.
  std::vector<Rung> all_rungs() const;
  // How many of them are measured.
  size_t measured_rungs() const;
  bool climbs_by_tokens() const { return train_tokens.size() > 1; }
  // What trains on this rung: the setting of a duel, whose rates and pairs are the ladder's business.
  duel::Config duel(const Rung& rung, const std::string& optimizer) const;
};

// What nets are called: norms, and norms with a setting of their own, such as derf_alpha0.3.
const Choices& contestant_names();
duel::Contestant contestant_of(const std::string& name);

}  // namespace isobar::ladder
