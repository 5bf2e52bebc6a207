// Training: one contestant, trained from one seed at one learning rate.
#pragma once

#include "../lm/training/small_config.h"
#include "../lm/watching/block_stream.h"
#include "config.h"
#include "contestant.h"

namespace isobar::duel {

struct Training {
  int64_t side;  // 0: A, 1: B
  double rate;
  int64_t seed;
  // What the norms' outputs are multiplied with, in the experiment of equal gains.
  double gain = 1;
  int64_t setting = 0;  // one of the sixteen of studies/settings, from 1 on; 0: the duel's own
  bool is_long = false;

  Json settings() const {
    Json json = {{"side", side}, {"learning_rate", rate}, {"seed", seed}, {"gain", gain}};
    if (setting > 0) json.update({{"setting", setting}, {"long", is_long}});
    return json;
  }
};

// What ladders ask of a net that was trained (Config::looks_closer).
struct Closer {
  double train_loss = NAN;  // in evaluation, over batches of the training part
  // The share of the bounded layers' elements that are saturated (lm/watching/saturation.h), their mean; NaN where
  // there are none.
  double saturated = NAN;
  // Of the first and the last norm's input, normalized as LayerNorm does: lm/watching/shape.h.
  std::vector<double> tail_over_centre = {};

  void values(RowFields& f) {
    f("train_loss", train_loss), f("saturated", saturated), f("tail_over_centre", tail_over_centre);
  }
};

struct Trained {
  int64_t parameters = 0;
  double start_loss = 0;                 // on the reported half of the validation part
  double tuning_loss = 0, val_loss = 0;  // on either half; where the training broke off the blind loss
  bool diverged = false;                 // it broke off: a loss or gradient was not finite
  Stream start = {}, end = {};           // of the blocks, at the first step and the last; or empty
  std::vector<double> losses = {};       // of each step's batch, up to where it broke off
  Closer closer = {};

  void values(RowFields& f) {
    f("parameters", parameters), f("start_loss", start_loss), f("tuning_loss", tuning_loss);
    f("val_loss", val_loss), f("diverged", diverged), f("losses", losses);
    start.values(f, "start"), end.values(f, "end"), closer.values(f);
  }
};

// The first block's gradient over the last one's; NaN where a training broke off.
inline double gradient_ratio(const Stream& stream) {
  return stream.gradient_norm.empty() ? NAN : stream.gradient_ratio();
}

// What contestants learn. Const functions may run on several threads.
class Task {
 public:
  virtual ~Task() = default;
  // "tinyshakespeare.txt".
  virtual std::string name() const = 0;
  // Records in the run where it is from, and warns of what the user may not expect of it.
  virtual void announce(Run& run) const = 0;
  // The loss of the best guess that does not look: by how frequent letters or digits are.
  virtual double blind_loss() const = 0;
  // The same bits on any number of threads, whatever else runs.
  virtual Trained train(const Contestant& contestant, const Training& training) const = 0;
  // An untrained net, and its loss on the first batch of this seed, in the net's element type.
  virtual std::unique_ptr<Module> net(const Contestant& contestant, const Rng& rng) const = 0;
  virtual Tensor loss(Module& net, int64_t seed) const = 0;
  // Throws Error where this task has no such contestant.
  virtual void check_contestant(const Contestant& contestant) const = 0;
};

// Reads the text or the images. Throws Error where they cannot be read.
std::unique_ptr<Task> make_task(const Config& config);

// The contestant with a norm whose outputs are multiplied with `gain`, which is registered. Not for threads.
Contestant with_gain(const Contestant& contestant, double gain);

}  // namespace isobar::duel
