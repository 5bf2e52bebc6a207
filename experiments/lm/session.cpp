#include "session.h"

#include "../../core/seal.h"

namespace isobar {
namespace {

std::string checksum_of(const std::vector<int32_t>& tokens) {
  return checksum({reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(int32_t)});
}

}  // namespace

Session::Session(Run& run, const LmConfig& config, const TextCorpus& text, const Rng& rng,
                 LanguageModel& model, Optimizer& optimizer)
    : run_(run), config_(config), folder_(run.folder(), {.keep = config.keep, .fresh = true}) {
  check(run.force() || checkpoint_files(run.folder()).empty(),
        "--out: '{}' holds checkpoints of a run that did not finish; add --force to begin anew, or choose "
        "another folder",
        run.folder());
  now_.config = json_text(run.config());
  now_.tokenizer = tokenizer_from_json(text.tokenizer->to_json());
  now_.model = named_state(model);
  now_.optimizer = named_state(optimizer);
  now_.key = rng.key();
  now_.corpus = checksum_of(text.tokens);
}

void Session::finish_step(double val_loss) {
  ++now_.step;
  if (val_loss < now_.best_val_loss) {
    now_.best_val_loss = val_loss;
    folder_.save_best(checkpoint());
  }
  if (config_.checkpoint_interval > 0 && now_.step % config_.checkpoint_interval == 0) save();
}

void Session::save() {
  if (saved_step_ == now_.step) return;
  folder_.save(checkpoint());
  saved_step_ = now_.step;
}

const Checkpoint& Session::checkpoint() {
  now_.run = run_.state();
  return now_;
}

}  // namespace isobar
