#include "checkpointing.h"

#include <fmt/ranges.h>

#include "../../core/phase.h"
#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../run/lists.h"
#include "../run/provenance.h"
#include "seeds.h"
#include "watching/bad_step.h"
#include "watching/module_series.h"

namespace isobar {
namespace {

bool goes_on_in_place(const Run& run) {
  std::error_code ignored;  // a folder that is not there is another one
  return std::filesystem::equivalent(run.resume_folder(), run.folder(), ignored);
}

// DIR/seed_0 and so on, in order.
std::vector<std::string> folders_of_seeds(const std::string& folder) {
  std::vector<std::string> folders;
  for (const std::string& name : names_in(folder))
    if (const std::string path = folder + "/" + name;
        name.starts_with("seed_") && std::filesystem::is_directory(path))
      folders.push_back(path);
  return folders;
}

// Settings of a run that may differ when it goes on.
const std::vector<std::string> may_differ = {"corpus", "as_is",  "checkpoint_interval", "keep", "patience",
                                             "on_nan", "anomaly"};

const char* const products_key = "products";  // in the origin of a run that OpenBLAS multiplied

// Throws Error where the folder's lines are of another run than its checkpoint, by what the run says of itself that
// wrote them. A folder without its summary.partial.json says nothing.
void check_own_lines(const std::string& folder, const Checkpoint& checkpoint) {
  const std::string path = folder + "/summary.partial.json";
  if (!std::filesystem::exists(path)) return;
  const Json heading = parse_json<Json>(read_regular_file(path, size_t{1} << 28)),
             config = parse_json<Json>(checkpoint.config);
  if (!heading.is_object() || !heading.value("config", Json()).is_object() || !config.is_object()) return;
  const std::string differences = differences_between(config, heading["config"], may_differ);
  check(
      differences.empty(),
      "--resume: the checkpoints in '{0}' are of another run than its metrics.jsonl: {1}; begin anew with --force, or "
      "a new run with their weights: --init_from {0}",
      folder, differences);
}

}  // namespace

Json origin_of(const Run& run) {
  const Json& environment = run.environment();
  Json origin = provenance(isobar_sources(), environment.value("data", Json::object()));
  if (environment.contains(init_from_key)) origin[init_from_key] = environment[init_from_key];
  if (environment["blas"] != "own")
    origin[products_key] = fmt::format("{} {}", environment["blas"].get<std::string>(),
                                       environment["blas_core"].get<std::string>());
  return origin;
}

Resume resume_of_train_lm() {
  const auto config = [](const std::string& folder) {
    const std::vector<std::string> seeds = folders_of_seeds(folder);
    check(
        seeds.empty(),
        "--resume: '{}' holds several seeds; the same command with --seeds goes on with them, --resume {} with one",
        folder, seeds.empty() ? "" : shell_word(seeds.front()));
    return newest_checkpoint(folder).config;
  };
  return {.config = config, .may_differ = may_differ, .begins_with = "init_from"};
}

Session::Session(Run& run, const LmConfig& config, const Corpus& corpus, const Rng& rng, LanguageModel& model,
                 LmOptimizer& optimizer)
    : run_(run),
      config_(config),
      ranks_(run.ranks()),
      optimizer_(optimizer),
      interrupt_(ranks_.size() > 1 ? "" : Interrupt::finishing_step) {
  by_first(ranks_, [&] {
    check(goes_on_in_place(run) || run.force() || checkpoint_files(run.folder()).empty() ||
              !foreign_checkpoint(run.folder()).empty(),
          "--out: '{}' holds checkpoints of a run that did not finish; go on with --resume {}, or begin anew "
          "with --force",
          run.folder(), shell_word(run.folder()));
    check(
        run.force() || folders_of_seeds(run.folder()).empty(),
        "--out: '{}' holds the trainings of several seeds; go on with the same --seeds, choose another folder, or add "
        "--force",
        run.folder());
    refuse_link(run.folder() + "/checkpoints");
    const std::string foreign = goes_on_in_place(run) ? "" : foreign_checkpoint(run.folder());
    check(foreign.empty(),
          "--out: '{}' has the name of a checkpoint, and no run made it; choose another folder, or remove it",
          foreign);
    return "";
  });
  now_.config = json_text(run.config());
  now_.tokenizer = tokenizer_from_json(corpus.tokenizer().to_json());
  now_.model = named_state(model);
  now_.key = rng.key();
  now_.corpus = corpus.checksum();
  ranks_.check_same("a corpus with checksum", now_.corpus, "give every rank the same text and tokenizer");
  now_.origin = origin_of(run).dump();
  // Not before: a run that ends earlier takes nothing of another's; nor later: its checkpoints do not belong to this
  // run's lines.
  if (!goes_on_in_place(run))
    run.before_lines([&run, &config] { CheckpointFolder(run.folder(), config.keep).clear(); });
  if (!run.resume_folder().empty()) go_on(model);
  folder_.emplace(run.folder(), config.keep);
  visit_tensors(model, [&](const std::string& name, Tensor& tensor, bool is_buffer) {
    if (is_buffer) buffers_.push_back({name, tensor});
  });
  keep_buffers();
  ranks_.set_location(fmt::format("step {}", now_.step + 1));
}

void Session::go_on(LanguageModel& model) {
  const std::string& folder = run_.resume_folder();
  const Checkpoint then = newest_checkpoint(
      folder, [&](const std::string& why) { run_.warn("{}; going back to the checkpoint before", why); });
  check(then.corpus == now_.corpus && then.tokenizer->to_json() == now_.tokenizer->to_json(),
        "--corpus: this is not the text that the run in '{}' learned from; name that one", folder);
  check_own_lines(folder, then);
  check(then.key == now_.key, "--resume: '{}': its random numbers are not those of its seed", folder);
  load_state(model, then.model);
  load_state(optimizer_, then.optimizer);
  ranks_.check_same("a newest checkpoint of step", std::to_string(then.step),
                    "give every rank the same folder");
  check(then.lines.modules != Run::Lines::unknown,
        "--resume: the checkpoints in '{}' are of an older isobar, which kept a training's series in them; "
        "finish it with that version, or --init_from {} begins anew with the weights",
        folder, folder);
  by_first(ranks_, [&] {
    ModuleNames names;
    const LineChecks checks{.step = check_step_line,
                            .module = [&](const StepLine& line) { names.add(line); }};
    try {
      run_.read_earlier(folder, then.lines, checks);
    } catch (const Error& error) {
      throw_error(fmt::format("--resume: {}; --init_from {} begins anew with the weights", error.what(),
                              shell_word(folder)));
    }
    run_.restore(folder);
    return "";
  });
  if (!then.origin.empty()) {  // that of the first part of a run, whoever goes on with it
    now_.origin = then.origin;
    const Json origin = parse_json<Json>(then.origin);
    if (origin.is_object() && origin.contains(init_from_key))
      run_.environment()[init_from_key] = origin[init_from_key];
    note_other_products();
  }
  now_.step = then.step;
  now_.best_val_loss = then.best_val_loss;
  now_.best_step = then.best_step;
  now_.skipped_steps = then.skipped_steps;
  if (goes_on_in_place(run_)) saved_step_ = then.step;
  run_.say("going on after step {} of {}\n", now_.step, config_.max_iters);
}

// Where the steps before were multiplied by another OpenBLAS, or for another CPU, says so: the whole has the bits of
// neither. Summary and later checkpoints name both.
void Session::note_other_products() {
  Json origin = parse_json<Json>(now_.origin);
  const std::string now = origin_of(run_).value(products_key, "");
  if (!origin.is_object() || now.empty()) return;
  const std::string before = origin.value(products_key, "");
  if (before.empty() || before.ends_with(now)) return;
  run_.warn(
      "--products openblas: the steps before were multiplied by {}, those after by {}; no run of one machine has "
      "these bits. To have them, go on where the run began, or begin anew with --products own",
      before, now);
  origin[products_key] = before + ", then " + now;
  run_.environment()["blas_before"] = before;
  now_.origin = origin.dump();
}

// The copies have the buffers' names.
void Session::keep_buffers() {
  buffers_before_.clear();
  for (const NamedTensor& buffer : buffers_) buffers_before_.push_back({buffer.name, clone(buffer.tensor)});
}

// Returns what made the numbers, and how to run the step alone.
std::string Session::keep_bad_step(const Batch& batch, const Rng& masks) {
  BadStep bad{
      .before = {.config = now_.config, .tokenizer = now_.tokenizer, .model = now_.model, .step = now_.step},
      .batch = batch,
      .masks_key = masks.key(),
      .report = "",
      .written_by = this_build()};
  for (NamedTensor& named : bad.before.model)
    for (const NamedTensor& before : buffers_before_)
      if (before.name == named.name) named.tensor = before.tensor;
  const std::string path = run_.folder() + "/bad_step.safetensors";
  std::string line;
  try {
    const StepFinding found = examine(bad);
    line = found.line;
    bad.report = found.report;
    const bool replaces = std::filesystem::exists(path);
    save_bad_step(run_.staying_file("bad_step.safetensors"), bad);
    return fmt::format("{}; to run this step alone: {}{}", line, run_.command("--replay", path),
                       replaces ? " (a new file: the one of an earlier run is gone)" : "");
  } catch (const Error& error) {
    return fmt::format("{}{}bad_step.safetensors was not written: {}", line, line.empty() ? "" : "; ",
                       error.what());
  }
}

void Session::drop_step(const Batch& batch, const Rng& masks) {
  std::string what = fmt::format("step {}: the loss or a gradient is not finite; ", now_.step + 1);
  const std::string first = run_.folder() + "/bad_step.safetensors";
  what += by_first(ranks_, [&] {
    const bool there = now_.skipped_steps > 0 && std::filesystem::exists(first);
    return there ? first + " has the first such step" : keep_bad_step(batch, masks);
  });
  if (config_.on_nan == "stop") diverge(what);
  optimizer_.drop();
  for (size_t i = 0; i < buffers_.size(); ++i) assign(buffers_[i].tensor, buffers_before_[i].tensor);
  ++now_.skipped_steps;
  run_.warn("{}; skipped", what);
}

void Session::finish_step(double val_loss) {
  ++now_.step;
  const bool best = val_loss < now_.best_val_loss;
  if (best) now_.best_val_loss = val_loss, now_.best_step = now_.step;
  const bool due = config_.checkpoint_interval > 0 && now_.step % config_.checkpoint_interval == 0;
  keep_buffers();
  save({.step = due, .best = best});
  stop_if_asked();
  ranks_.set_location(fmt::format("step {}", now_.step + 1));
}

void Session::save() { save({.step = saved_step_ != now_.step}); }

void Session::save(SaveAs as) {
  if (!as.step && !as.best) return;
  const Phase phase("checkpoints");
  now_.optimizer = named_state(optimizer_);
  if (ranks_.size() > 1)
    check_same_weights(ranks_, now_.model, fmt::format("after step {}", now_.step), run_.resume_command());
  const std::string bad = ranks_.gather(ranks_.first() ? not_finite(now_) : "")[0];
  if (!bad.empty()) diverge(fmt::format("after step {}: {}", now_.step, bad));
  if (ranks_.first()) {
    now_.lines = run_.sync_lines();
    folder_->save(now_, as);
  }
  now_.optimizer.clear();
  if (as.step) saved_step_ = now_.step;
}

void Session::stop_if_asked() {
  ranks_.ask_to_stop(interrupt_.requested());
  if (!ranks_.stop_asked()) return;
  if (ranks_.size() > 1) run_.say("asked to stop: saving step {}\n", now_.step);
  save();
  throw Interrupted(fmt::format("stopped after step {} of {}; to go on: {}", now_.step, config_.max_iters,
                                run_.resume_command()));
}

void Session::diverge(const std::string& why) const {
  // Those of an earlier run are there until this one's first step is done.
  const bool own = goes_on_in_place(run_) || now_.step > 0;
  const std::vector<std::string> saved = own ? checkpoint_files(run_.folder()) : std::vector<std::string>();
  throw Diverged(fmt::format("{}; lower --learning_rate{}", why,
                             saved.empty() ? "" : fmt::format("; the last checkpoint is {}", saved.front())));
}

void check_same_weights(Ranks& ranks, const std::vector<NamedTensor>& weights, const std::string& when,
                        const std::string& go_on) {
  const std::vector<std::string> all = ranks.gather(checksum_of(weights));
  const auto holders = [&](const std::string& one) { return std::ranges::count(all, one); };
  const auto most = std::ranges::max_element(all, {}, holders);
  const bool undecided = std::ranges::any_of(
      all, [&](const std::string& one) { return one != *most && holders(one) == holders(*most); });
  std::vector<std::string> others;
  for (size_t i = 0; i < all.size(); ++i)
    if (undecided || all[i] != *most) others.push_back(ranks.name_of(static_cast<int>(i)));
  check(others.empty(), "{}: {} {}: a fault of a machine, or of isobar; go on from the last checkpoint: {}",
        when, fmt::join(others, ", "),
        undecided ? std::string("do not have the same weights")
                  : fmt::format("{} other weights than the {} ranks that agree",
                                others.size() == 1 ? "has" : "have", holders(*most)),
        go_on);
}

}  // namespace isobar
