// Does a small language model train, and what does the signal do in each of its layers meanwhile?
//
// Claims put to the test: nanoGPT's README reports a validation loss of 1.88 (over 20 batches) for its CPU
// setting on Tiny Shakespeare, `--preset nanogpt_cpu` here; source 003 says that deep Transformers cannot be
// trained without normalization, `--norm none`.
#include "../../core/blas.h"
#include "../../core/phase.h"
#include "../../data/utf8_stream.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../run/environment.h"
#include "../run/lists.h"
#include "../run/settings.h"
#include "checkpointing.h"
#include "checkpoints/init_from.h"
#include "seeds.h"
#include "watching/bad_step.h"
#include "watching/module_series.h"
#include "watching/print_model.h"

using namespace isobar;

namespace {

// Whether all that matters to the result, but the text, is what a preset sets.
bool trained_as(const std::string& preset, LmConfig config) {
  LmConfig reference;
  set_flags(reference, preset);
  Json wanted = settings_json(reference), got = settings_json(config);
  // Of the corpus and its tokenizer the tokens themselves are looked at.
  for (const char* name : {"corpus", "tokenizer", "eval_interval", "eval_iters", "log_interval",
                           "checkpoint_interval", "keep", "on_nan", "anomaly", "as_is"})
    for (Json* settings : {&wanted, &got}) settings->erase(name);
  return wanted == got;
}

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
  } else if (is_tiny_shakespeare(corpus)) {
    const std::string got = fmt::format("val loss {:.4f}", val_loss);
    if (trained_as(nanogpt_cpu, config))
      run.expect("nanogpt_cpu reaches a val loss of 1.93 on Tiny Shakespeare", val_loss <= 1.93, got);
    if (trained_as(nanogpt_cpu_best, config))
      run.expect("nanogpt_cpu_best reaches a val loss of 1.60 on Tiny Shakespeare", val_loss <= 1.6, got);
  }
}

// Batches of the last evaluation: as many as the PyTorch reference runs took, or what reads the tokens four
// times where that is less. With large batches 200 would take longer than the training.
int64_t final_batches(const LmConfig& config, const TokenDataset& data) {
  const int64_t four_times = 4 * data.size() / (config.batch_size * config.block_size) + 1;
  return std::max(config.eval_iters, std::min<int64_t>(200, four_times));
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Results {
  int64_t parameters;
  int64_t steps, best_step, skipped_steps;
  double train_loss, val_loss, best_val_loss;
  std::string sample;
};

void summarize(Run& run, const LmConfig& config, const Corpus& corpus, const Results& results) {
  const double bits = results.val_loss / std::numbers::ln2 * tokens_per_character(corpus);
  Json& summary = run.summary();
  summary["parameters"] = results.parameters;
  summary["iterations"] = results.steps;
  summary["skipped_steps"] = results.skipped_steps;
  summary["train_loss"] = results.train_loss;
  summary["val_loss"] = results.val_loss;
  summary["best_val_loss"] = results.best_val_loss;
  summary["best_step"] = results.best_step;
  summary["perplexity"] = std::exp(results.val_loss);
  summary["bits_per_char"] = bits;
  if (corpus.language) {
    summary["entropy_floor"] = corpus.language->entropy_floor(config.block_size);
    summary["bigram_loss"] = corpus.language->bigram_loss();
  }
  summary["sample"] = results.sample;
  run.say("\nA sample, temperature 0.8:\n\n{}\n\n", results.sample);
  run.say(
      "train loss {:.4f}, val loss {:.4f} nats (perplexity {:.2f}, {:.3f} bits per character); guessing evenly: {:.4f}\n",
      results.train_loss, results.val_loss, std::exp(results.val_loss), bits,
      std::log(static_cast<double>(corpus.tokenizer().vocab_size())));
  run.say("next: isobar sample {0}, or isobar report {0}\n", shell_word(run.folder()));
}

// The tokenizer of a fine-tuning is that of the weights it began with, as any of its checkpoints has it.
std::shared_ptr<const Tokenizer> tokenizer_of_start(const Run& run, const LmConfig& config,
                                                    const std::optional<Checkpoint>& start) {
  if (start) return start->tokenizer;
  return config.init_from.empty() ? nullptr : newest_checkpoint(run.resume_folder()).tokenizer;
}

// `start` is what --init_from names, unless the run is resumed.
void train_and_report(Run& run, const LmConfig& config, const std::optional<Checkpoint>& start) {
  check(
      run.resume_folder().empty() || config.corpus.empty() || config.corpus == "synthetic" ||
          std::filesystem::is_regular_file(config.corpus),
      "--corpus: '{}', which the checkpoint names, is no regular file here; name the text that the run learned from",
      config.corpus);
  const WithProducts products(products_from_name(config.products));
  if (config.products == "openblas")  // the ranks' weights would drift apart
    run.ranks().check_same("products by", blas_version() + " " + blas_core(),
                           "start the ranks on CPUs of one kind, or leave --products openblas out");
  run.environment()["blas"] = blas_version();
  run.environment()["blas_core"] = blas_core();
  const std::shared_ptr<const Tokenizer> known = tokenizer_of_start(run, config, start);
  const Corpus corpus =
      known ? open_corpus_with(config.corpus, *known) : open_corpus(config.corpus, config.tokenizer);
  corpus.announce(run, config.as_is);
  const TokenDataset train_set = corpus.train(config.block_size);
  const TokenDataset validation = corpus.validation(config.block_size);
  const Tokenizer& tokenizer = corpus.tokenizer();

  const Rng rng(run.seed());
  LanguageModel model(config.model(tokenizer.vocab_size()), rng.split("model"));
  if (start && run.resume_folder().empty()) load_state(model, start->model);
  Ranks& ranks = run.ranks();
  LmOptimizer optimizer(model, config);
  run.say("{} tokens of {} kinds from {}; {} parameters; {}\n", corpus.tokens(), tokenizer.vocab_size(),
          corpus.source, parameter_count(model), workers(ranks));
  say_shares(run, config.gradient_accumulation_steps);

  // Validation batches depend neither on seed nor on model: all runs are evaluated on the same tokens.
  const Rng batch_rng = Rng(0).split("validation");
  Session session(run, config, corpus, rng, model, optimizer);
  const int64_t first = session.steps_done();
  if (start && first == 0)
    run.say("begins with the weights of {}: val loss {:.4f}\n", config.init_from,
            mean_loss(model, validation, config.eval_iters, config.batch_size, batch_rng, ranks));
  Progress progress = run.progress(config.max_iters, "steps", first);
  const int64_t rows = config.batch_size * config.gradient_accumulation_steps;
  const IndexRange pieces = ranks.share(config.gradient_accumulation_steps);
  const IndexRange mine{pieces.begin * config.batch_size, pieces.end * config.batch_size};  // of the rows
  const GradientOptions options{.accumulation_steps = config.gradient_accumulation_steps,
                                .check_every_op = config.anomaly};
  const double tokens_per_step = static_cast<double>(rows * config.block_size);
  const Clock::time_point began = Clock::now();
  const std::clock_t processor_began = std::clock();
  const auto tokens_per_second = [&] {
    return tokens_per_step * static_cast<double>(session.steps_done() - first) / seconds_since(began);
  };
  const RunSize size{.steps = config.max_iters, .tokens_per_step = rows * config.block_size};
  run.file().set_attribute("/", "steps", size.steps);
  run.file().set_attribute("/", "tokens_per_step", size.tokens_per_step);
  // Of the last 10,000 steps at most: nothing here grows with the run.
  std::vector<double> step_ms(static_cast<size_t>(std::clamp<int64_t>(config.max_iters - first, 1, 10000)),
                              std::nan(""));
  Probe probe;
  HistogramProbe histograms;
  SaturationProbe shares;
  memory::reset_peak();

  for (int64_t step = first; step < config.max_iters && !session.out_of_patience(); ++step) {
    const Clock::time_point step_start = Clock::now();
    const Rng draws = rng.split("batch").split(step);
    const Batch batch = train_set.random_batch(mine, draws);
    const Rng masks = rng.split("dropout").split(step);
    const bool log = step % config.log_interval == 0 || step + 1 == config.max_iters;
    std::deque<Watch> watches;
    if (log) {
      probe.clear();
      histograms.clear();
      shares.clear();
      for (Observer* observer : std::initializer_list<Observer*>{&probe, &histograms, &shares})
        watches.emplace_back(model, *observer);
    }

    const Gradients gradients = gradients_of(model, batch, masks, options, ranks);
    watches.clear();
    optimizer.set_rates(step);
    if (gradients.finite()) {
      if (log) probe.before_step(model);
      optimizer.step(clipping(gradients.norm, config));
      if (log) probe.after_step(model);
      if (log) record_modules(run, {probe, shares, histograms}, size);
    } else {
      progress.clear();
      session.drop_step(train_set.random_batch(rows, draws), masks);
    }
    step_ms[static_cast<size_t>(step - first) % step_ms.size()] = 1e3 * seconds_since(step_start);
    const bool evaluated = (step + 1) % config.eval_interval == 0 || step + 1 == config.max_iters;
    double val = std::nan("");
    if (evaluated) val = mean_loss(model, validation, config.eval_iters, config.batch_size, batch_rng, ranks);
    run.record_step({{"loss", gradients.loss},
                     {"learning_rate", optimizer.lr()},
                     {"grad_norm", gradients.norm},
                     {"val_loss", val}});
    session.finish_step(val);
    progress.advance(1, fmt::format("loss {:.3f}, {:.0f} tokens/s", gradients.loss, tokens_per_second()));
    if (evaluated) {
      progress.clear();
      run.say("step {:5}  loss {:.3f}  val loss {:.3f}  lr {:.2e}  |gradient| {:.2f}  {:.0f} tokens/s\n",
              step + 1, gradients.loss, val, optimizer.lr(), gradients.norm, tokens_per_second());
    }
  }
  session.save();
  progress.clear();
  if (session.steps_done() < config.max_iters)
    run.say("stopped after step {}: in {} evaluations the val loss was never below {:.3f}, that of step {}\n",
            session.steps_done(), config.patience, session.best_val_loss(), session.best_step());
  step_ms.resize(static_cast<size_t>(std::clamp<int64_t>(
      session.steps_done() - first, 1, std::ssize(step_ms))));  // after an early stop, fewer
  run.timing()["step_ms"] = spread_of(step_ms).median;
  run.timing()["tokens_per_second"] = tokens_per_second();
  run.timing()["train_s"] = seconds_since(began);
  run.timing()["train_cpu_s"] = static_cast<double>(std::clock() - processor_began) / CLOCKS_PER_SEC;
  say_memory(run);

  report_losses(run);
  report_modules(run);
  const int64_t batches = final_batches(config, validation);
  const double train_loss = mean_loss(model, train_set, batches, config.batch_size, batch_rng, ranks);
  session.stop_if_asked();
  const double val_loss = mean_loss(model, validation, batches, config.batch_size, batch_rng, ranks);
  session.stop_if_asked();
  std::string sample = "(none: the model's numbers are not finite)";
  if (std::isfinite(val_loss)) {
    const Phase phase("sampling");
    sample = printable(tokenizer.decode(generate(model, {corpus.first_token()}, 500,
                                                 {.tokens = tokenizer.vocab_size(), .temperature = 0.8},
                                                 rng.split("sample"))));
  }
  summarize(run, config, corpus,
            {.parameters = parameter_count(model),
             .steps = session.steps_done(),
             .best_step = session.best_step(),
             .skipped_steps = session.skipped_steps(),
             .train_loss = train_loss,
             .val_loss = val_loss,
             .best_val_loss = session.best_val_loss(),
             .sample = std::move(sample)});
  expect_results(run, config, corpus, val_loss);
}

const std::vector<TrainedOn> trained = {
    {.en = "{n_layer} blocks of width {n_embd}, {max_iters} steps, rate {learning_rate}",
     .zh = "{n_layer} 块、宽 {n_embd}，训练 {max_iters} 步，学习率 {learning_rate}"}};

// `bad_step` and `page` get the files that --replay and --tape-page name.
Program program_of(LmConfig& config, std::string& bad_step, std::string& page) {
  return {.name = "train_lm",
          .about = "Does a small language model train, and what does the signal do in each layer?",
          .example = "train_lm --norm layernorm --max_iters 500\ntrain_lm --corpus my.txt --out runs/mine",
          .page = "lm/README.md",
          .trained = trained,
          .presets = {{"default", "a Llama-like model: RMSNorm, RoPE, SwiGLU"},
                      {"nanogpt_cpu", "nanoGPT's published CPU setting", nanogpt_cpu},
                      {"nanogpt_cpu_best", "the same size, the best block, optimizer and schedule",
                       nanogpt_cpu_best},
                      {"babygpt", "nanoGPT's setting for a GPU: 10.7 million parameters", babygpt},
                      {"minimind", "MiniMind's model: 25,829,888 parameters", minimind}},
          .tiny =
              "--n_layer 1 --n_head 1 --n_kv_head 1 --n_embd 16 --block_size 16 --batch_size 2 "
              "--max_iters 6 --eval_iters 1 --eval_interval 4 --warmup_iters 2 "
              "--checkpoint_interval 2",
          .printers = {{"print-model", "print the model's tree and its costs, and stop",
                        [&] { return print_model(config); }},
                       {"tape-page", "write one step's tape as an HTML page, and stop",
                        [&] { return write_page_of_step(config, page); }, &page, true},
                       {"replay", "run a bad step's file alone: what made its NaN",
                        [&] { return replay(bad_step); }, &bad_step}},
          .resume = resume_of_train_lm(),
          .first_settings = {"corpus", "init_from", "n_layer", "n_embd", "norm", "max_iters", "learning_rate",
                             "seeds"},
          .accepts_old = true};
}

}  // namespace

int main(int argc, char** argv) {
  LmConfig config;
  std::optional<Checkpoint> start;
  std::string bad_step, page;
  Program program = program_of(config, bad_step, page);
  program.settle = [&](const std::set<std::string>& given) {
    check(bad_step.empty() || given.empty(), "--replay: {} has the settings of its step; leave --{} out",
          bad_step, given.empty() ? "" : *given.begin());
    if (!config.init_from.empty()) {
      start = load_start(config.init_from);
      take_model(config, given, *start);
    }
    return give_way(config, given);
  };
  program.check = [&] { config.check_together(); };
  return run_program(program, config, argc, argv, [&](Run& run) {
    if (start) run.environment()[init_from_key] = checksum_of(start->model);
    const auto train = [&](Run& part, const LmConfig& single) { train_and_report(part, single, start); };
    if (config.seeds > 1)
      train_seeds(run, config, train);
    else
      train(run, config);
  });
}
