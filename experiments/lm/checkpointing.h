// Session: what ties train_lm's loop to its checkpoints. While it lives, the first Ctrl-C finishes and saves
// the step; Interrupted names the command that goes on.
#pragma once

#include "../../nn/model.h"
#include "../run/program.h"
#include "checkpoints/checkpoint.h"
#include "training/corpus.h"
#include "training/train.h"

namespace isobar {

// --resume of train_lm, for run_program. Which flags may differ from the run that is resumed: where the text
// is (its tokens are compared), when to save, and what to do about bad numbers. All others decide the bits.
Resume resume_of_train_lm();

// Of which sources, data and first weights a run is: what its checkpoints say, and --seeds compares.
Json origin_of(const Run& run);

class Session {
 public:
  // All must outlive the session; the run's generators are split from `rng`. With --resume it brings run,
  // model and optimizer to the newest checkpoint. Throws Error where there is none, for another text, and
  // where the folder holds checkpoints of a run that did not finish, unless forced.
  Session(Run& run, const LmConfig& config, const Corpus& corpus, const Rng& rng, LanguageModel& model,
          LmOptimizer& optimizer);

  // A step on this batch whose loss or gradients are not finite; `masks` is the generator of dropout's.
  // Writes DIR/bad_step.safetensors, of the run's first such step, and says what made it. Then throws
  // Diverged, or counts the step under --on_nan skip: its forward then changed no buffer.
  void drop_step(const Batch& batch, const Rng& masks);
  // A step is done and recorded; `val_loss` is NaN where it was not evaluated. Saves the best, and a
  // checkpoint when it is due or the user wants to stop. The first rank writes it; all must have one state.
  void finish_step(double val_loss);
  // Saves a checkpoint, unless this step has one.
  void save();
  // Throws Interrupted where the user of any rank wants to stop.
  void stop_if_asked();

  int64_t steps_done() const { return now_.step; }
  int64_t skipped_steps() const { return now_.skipped_steps; }
  double best_val_loss() const { return now_.best_val_loss; }
  int64_t best_step() const { return now_.best_step; }
  // Whether the last --patience evaluations, all at multiples of eval_interval, did not lower the validation loss.
  bool out_of_patience() const {
    const int64_t since = now_.step / config_.eval_interval - now_.best_step / config_.eval_interval;
    return config_.patience > 0 && since >= config_.patience;
  }

 private:
  void go_on(LanguageModel& model);
  void note_other_products();
  void keep_buffers();
  std::string keep_bad_step(const Batch& batch, const Rng& masks);
  // Throws Diverged where a weight or moment is not finite.
  void save(SaveAs as);
  [[noreturn]] void diverge(const std::string& why) const;

  Run& run_;
  const LmConfig& config_;
  Ranks& ranks_;
  LmOptimizer& optimizer_;
  std::optional<CheckpointFolder> folder_;  // none before the run is known to go on
  Checkpoint now_;                          // its tensors are those of the model; save() adds the optimizer's
  std::vector<NamedTensor> buffers_;        // of the model, such as running statistics,
  std::vector<NamedTensor> buffers_before_;  // and copies from before the step: its forward changes them
  int64_t saved_step_ = -1;
  Interrupt interrupt_;
};

// --- Whether all ranks have the same weights to the last bit: what differs is the fault of a machine.

// Compares checksums of all tensors. Throws Error, on all ranks, that names the ranks whose weights are those
// of fewer: "after step 40: rank 2 of 3 (node7) has other weights …". `go_on` is the command that repairs it.
void check_same_weights(Ranks& ranks, const std::vector<NamedTensor>& weights, const std::string& when,
                        const std::string& go_on);

}  // namespace isobar
