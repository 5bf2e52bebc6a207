// Session: what ties train_lm's loop to its checkpoints.
//
//   Session session(run, config, corpus.text, rng, model, optimizer);
//   for (…) { …; session.finish_step(val_loss); }
//   session.save();
#pragma once

#include "../../core/rng.h"
#include "../../data/text.h"
#include "../../optim/optimizer.h"
#include "../harness/run.h"
#include "checkpoint_folder.h"

namespace isobar {

class Session {
 public:
  // All must outlive the session; `rng` is the generator that the run's others are split from. Throws Error
  // where the run's folder holds checkpoints of a run that did not finish, unless forced.
  Session(Run& run, const LmConfig& config, const TextCorpus& text, const Rng& rng, LanguageModel& model,
          Optimizer& optimizer);

  // A step is done and recorded; `val_loss` is NaN where it was not judged. Saves a checkpoint when it is
  // due, and the best.
  void finish_step(double val_loss);
  // Saves a checkpoint, unless this step has one.
  void save();

  int64_t steps_done() const { return now_.step; }
  double best_val_loss() const { return now_.best_val_loss; }

 private:
  // `now_` with what the run was told since.
  const Checkpoint& checkpoint();

  Run& run_;
  const LmConfig& config_;
  CheckpointFolder folder_;
  Checkpoint now_;  // its tensors are those of model and optimizer
  int64_t saved_step_ = -1;
};

}  // namespace isobar
