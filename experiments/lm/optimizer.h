// LmOptimizer: train_lm's optimizer. With --optimizer adamw one AdamW moves all parameters; with muon the
// matrices inside the blocks have Muon, and embeddings, output matrix and vectors AdamW, each with its own
// rate on one schedule (Jordan et al. 2024, "Muon").
//
//   LmOptimizer optimizer(model, config);
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
  LmOptimizer(LanguageModel& model, const LmConfig& config);

  // The rates that the schedule has for `step`.
  void set_rates(int64_t step);
  // Uses up the gradients, which count `factor` times.
  void step(double factor);
  // AdamW's rate.
  double lr() const { return adam_w_.lr(); }
  // The state of both, as "adam_w" and "muon".
  void fields(Fields& f) override;

 private:
  AdamW adam_w_;
  std::optional<Muon> muon_;
  Schedule adam_w_rate_, muon_rate_;
};

}  // namespace isobar
