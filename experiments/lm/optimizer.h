// LmOptimizer: train_lm's optimizer. With --optimizer adamw one AdamW moves all parameters; with muon the
// matrices inside the blocks have Muon, and embeddings, output matrix and vectors AdamW, each with its own
// rate on one schedule (Jordan et al. 2024, "Muon").
//
// Over ranks each moves its shard (core/shards.h), and the state is cut likewise.
//
//   LmOptimizer optimizer(model, config, ranks);
//   optimizer.set_rates(step);
//   optimizer.step(clipping(gradients.norm, config));
#pragma once

#include <optional>

#include "../../nn/language_model.h"
#include "../../optim/optim.h"
#include "config.h"
#include "train.h"

namespace isobar {

class LmOptimizer : public HasFields {
 public:
  // `model` must outlive it.
  LmOptimizer(LanguageModel& model, const LmConfig& config, Ranks& ranks = Ranks::alone());

  // For gradients_of.
  Shards& shards() { return shards_; }

  // The rates that the schedule has for `step`.
  void set_rates(int64_t step);
  // Uses up the gradients, which count `factor` times. All ranks have all weights then.
  void step(double factor);
  // Throws the gradients away.
  void drop();
  // AdamW's rate.
  double lr() const { return adam_w_.lr(); }
  // The state of both, as "adam_w" and "muon": on several ranks, of this rank's shard.
  void fields(Fields& f) override;
  // The whole state, as one process has it: on the first rank; the others get no more than they had.
  std::vector<NamedTensor> whole_state();
  void load(const std::vector<NamedTensor>& whole);

 private:
  // Of a state's tensors, by name, the parameters that they are like; none for counts of steps.
  std::vector<std::optional<size_t>> parameters_of(const std::vector<NamedTensor>& state) const;

  Shards shards_;
  std::vector<size_t> in_adam_w_, in_muon_;  // parameters, in the order that each has them
  AdamW adam_w_;
  std::optional<Muon> muon_;
  Schedule adam_w_rate_, muon_rate_;
};

}  // namespace isobar
