#include "expectations.h"

#include <cmath>

#include "../harness/settings.h"

namespace isobar {
namespace {

// Whether all that matters to the result, but the text, is what a preset sets.
bool trained_as(const std::string& preset, LmConfig config) {
  LmConfig reference;
  set_flags(reference, preset);
  reference.corpus = config.corpus;
  reference.tokenizer = config.tokenizer;  // the tokens themselves are looked at
  reference.eval_interval = config.eval_interval;
  reference.eval_iters = config.eval_iters;
  reference.log_interval = config.log_interval;
  reference.checkpoint_interval = config.checkpoint_interval;
  reference.keep = config.keep;
  reference.on_nan = config.on_nan;
  reference.anomaly = config.anomaly;
  return settings_json(reference) == settings_json(config);
}

}  // namespace

void expect_results(Run& run, const LmConfig& config, const Corpus& corpus, double val_loss) {
  if (corpus.language) {
    const double floor = corpus.language->entropy_floor(config.block_size);
    run.say("entropy floor {:.4f} nats, best bigram model {:.4f}\n", floor, corpus.language->bigram_loss());
    // Four standard errors of a loss over the validation part, whose terms have a spread of about one nat.
    const double error = 4 / std::sqrt(static_cast<double>(corpus.text.validation().size()));
    run.expect("no model beats the entropy floor", val_loss >= floor - error,
               fmt::format("val loss {:.4f}, floor {:.4f}, sampling error {:.4f}", val_loss, floor, error));
    if (trained_as(nanogpt_cpu, config))
      run.expect("nanogpt_cpu comes within 0.05 nats of the floor", val_loss <= floor + 0.05,
                 fmt::format("val loss {:.4f}, floor {:.4f}", val_loss, floor));
  } else if (is_tiny_shakespeare(corpus.text)) {
    const std::string got = fmt::format("val loss {:.4f}", val_loss);
    if (trained_as(nanogpt_cpu, config))
      run.expect("nanogpt_cpu reaches a val loss of 1.93 on Tiny Shakespeare", val_loss <= 1.93, got);
    if (trained_as(nanogpt_cpu_best, config))
      run.expect("nanogpt_cpu_best reaches a val loss of 1.60 on Tiny Shakespeare", val_loss <= 1.6, got);
  }
}

}  // namespace isobar
