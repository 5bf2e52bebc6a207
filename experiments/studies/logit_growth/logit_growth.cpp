// Do attention logits grow while a language model trains, and what do softcap and QK-norm do about it?
//
// Claims (source 004): softcap(x, t) = t tanh(x/t) approximates clipping (F11); Gemma 2 puts it on attention
// logits before the softmax (F13); after it the logits are bounded, but before it they still grow (F14);
// Gemma 3 has QK-norm in its place (F25), which curbs the growth better (F15).
#include "../../lm/training/small_config.h"
#include "../../lm/watching/attention_logits.h"
#include "../../run/grid.h"
#include "../../run/program.h"

using namespace isobar;

namespace {

struct Config : TinyConfig {
  // The log of the end's logit, over that of the plain model with the same seed, has an sd of 0.3 to 0.4: ten
  // seeds give its mean a 99 % interval of ±0.4, and the claims' ratios are 0.2 and 1.
  Config() {
    seeds = 10;
    eval_iters = 10;
  }

  int64_t n_layer = 4;
  int64_t n_embd = 64;
  int64_t steps = 250;
  double learning_rate = 1e-2;  // high: logits grow with the weights, and weights with the rate
  double softcap = 5;           // low enough to be reached within the run
  int64_t log_interval = 25;

  void fields(Fields& f) override {
    f("n_layer", n_layer, "blocks", at_least(1));
    f("n_embd", n_embd, "width of the residual stream", at_least(1));
    f("steps", steps, "steps of a training", at_least(1));
    f("learning_rate", learning_rate, "learning rate of AdamW", at_least(0));
    f("softcap", softcap, "bound on the attention logits of the model 'softcap'", above(0));
    f("log_interval", log_interval, "steps between measurements of the logits", at_least(1));
    TinyConfig::fields(f);
  }
};

// The attention logits of one model while it trains: a value per log step, the largest over the layers.
struct Trajectory {
  std::vector<double> logit, capped, bound, val_loss;
  std::vector<std::vector<LogitPeaks>> layers;
  double past_bound = 0;     // how far a logit passed its layer's bound at worst, as a share of it
  double rebuild_error = 0;  // at worst

  void add(const std::vector<LogitPeaks>& now, double loss) {
    const auto largest = [&](double LogitPeaks::*value) { return std::ranges::max(values_of(now, value)); };
    logit.push_back(largest(&LogitPeaks::logit));
    capped.push_back(largest(&LogitPeaks::capped));
    bound.push_back(largest(&LogitPeaks::bound));
    val_loss.push_back(loss);
    layers.push_back(now);
    rebuild_error = std::max(rebuild_error, largest(&LogitPeaks::rebuild_error));
    for (const LogitPeaks& peaks : now) past_bound = std::max(past_bound, peaks.logit / peaks.bound - 1);
  }

  void values(RowFields& f) {
    f("logit", logit), f("capped", capped), f("bound", bound), f("val_loss", val_loss);
    f("past_bound", past_bound), f("rebuild_error", rebuild_error);
    std::vector<LogitPeaks> all;  // of one look after the other
    for (const std::vector<LogitPeaks>& look : layers) all.insert(all.end(), look.begin(), look.end());
    f("layers", all);
    const size_t of_look = all.size() / val_loss.size();
    layers.clear();
    for (size_t i = 0; i < all.size(); i += of_look)
      layers.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(i),
                          all.begin() + static_cast<std::ptrdiff_t>(i + of_look));
  }
};

// The step of a log step.
int64_t step_of(const Config& config, size_t number) {
  return std::min(static_cast<int64_t>(number) * config.log_interval, config.steps);
}

// Over the seeds, in their order.
using T = Trajectory;
using Series = std::vector<double> T::*;

std::vector<double> at_look(const std::vector<Trajectory>& runs, Series series, size_t number) {
  return values_of(runs, [&](const Trajectory& run) { return (run.*series)[number]; });
}
std::vector<double> at_end(const std::vector<Trajectory>& runs, Series series) {
  return at_look(runs, series, (runs.front().*series).size() - 1);
}
// The quotient of two series at the end, seed by seed.
Spread quotient(const std::vector<T>& over, Series a, const std::vector<T>& under, Series b) {
  return spread_of(pairwise(at_end(over, a), at_end(under, b), std::divides()));
}
double worst(const std::vector<Trajectory>& runs, double Trajectory::*value) {
  return std::ranges::max(values_of(runs, value));
}
// At 10, 50, 100, 200 and 500 with Gemma 2's cap of 50: the op and its gradient in f64 against t tanh(x/t)
// and 1/cosh²(x/t), the gradient in f32, and the distance from clipping; softcap.csv.
void softcap_table(Run& run) {
  constexpr double cap = 50;  // Gemma 2's, on attention logits
  Csv& csv = run.csv("softcap.csv", {"x", "softcap", "theory", "slope", "slope_theory", "slope_f32"});
  Table table({"x", "softcap(x, 50)", "theory", "slope", "theory", "slope in f32"}, "rrrrrr");
  const auto value_and_slope = [](double x, Dtype dtype) {
    Tensor input = full({1}, x, dtype).set_trainable();
    Tape tape;
    const Tensor y = softcap(input, cap);
    tape.backward(y);
    return std::pair{y.item(), input.grad().item()};
  };
  double worst_value = 0, worst_slope = 0, clip_gap = 0;
  for (const double x : {10.0, 50.0, 100.0, 200.0, 500.0}) {
    const auto [value, slope] = value_and_slope(x, Dtype::f64);
    const double slope_f32 = value_and_slope(x, Dtype::f32).second;
    const double value_theory = cap * std::tanh(x / cap);
    const double slope_theory = 1 / (std::cosh(x / cap) * std::cosh(x / cap));
    run.measured(fmt::format("softcap50.value.x{}", x), value, value_theory);
    run.measured(fmt::format("softcap50.slope.x{}", x), slope, slope_theory);
    worst_value = std::max(worst_value, std::abs(value - value_theory));
    worst_slope = std::max(worst_slope, std::abs(slope - slope_theory));
    clip_gap = std::max(clip_gap, std::abs(value - std::min(x, cap)) / cap);
    csv.row({x, value, value_theory, slope, slope_theory, slope_f32});
    table.row({number_text(x), number_text(value), number_text(value_theory), number_text(slope),
               number_text(slope_theory), number_text(slope_f32)});
  }
  run.measured("softcap50.largest_gap_to_clip_over_cap", clip_gap, 1 - std::tanh(1.0));
  run.say("\n{}", table.text());
  // Numbers up to 50 and up to 1, a few roundings each.
  run.expect("softcap is t tanh(x/t)", worst_value < 1e-13,
             fmt::format("off by {}", number_text(worst_value)));
  run.expect("its slope is 1 − tanh²(x/t)", worst_slope < 1e-14,
             fmt::format("off by {}", number_text(worst_slope)));
}

struct Attention {
  const char* name;
  bool capped, qk_norm;
};
constexpr std::array<Attention, 3> attentions = {
    {{"none", false, false}, {"softcap", true, false}, {"qk_norm", false, true}}};

Trajectory train(const Config& config, const TinyText& text, const Attention& attention, int64_t seed) {
  LmConfig training = config.training(config.n_embd, config.n_layer, config.steps, config.learning_rate);
  training.softcap = attention.capped ? config.softcap : 0;
  training.qk_norm = attention.qk_norm;
  training.check_together();
  const Rng rng(static_cast<uint64_t>(seed)), validation = Rng(0).split("validation");
  LanguageModel model(config.model(training, text.vocab_size()), rng.split("model"));
  AdamW optimizer(decay_matrices_only(model), adam_w_options(training));
  const Schedule schedule = schedule_of(training);
  const Tensor symbols = text.validation.random_batch(config.batch_size, validation.split("logits")).x;

  Trajectory seen;
  for (int64_t step = 0; step <= config.steps; ++step) {
    if (step % config.log_interval == 0 || step == config.steps) {
      const double loss = mean_loss(model, text.validation, config.eval_iters, config.batch_size, validation);
      seen.add(logit_peaks(model, symbols), loss);
    }
    if (step == config.steps) break;
    const Batch batch = text.train.random_batch(config.batch_size, rng.split("batch").split(step));
    const Gradients gradients = gradients_of(model, batch, rng.split("dropout").split(step));
    if (!gradients.finite())
      throw Diverged(
          fmt::format("{}, seed {}, step {}: the loss or a gradient is not finite; lower --learning_rate",
                      attention.name, seed, step));
    optimizer.set_lr(schedule(step));
    optimizer.step(clipping(gradients.norm, training));
  }
  return seen;
}

using Runs = std::array<std::vector<Trajectory>, 3>;  // over the seeds, in the order of `attentions`

// All trainings, side by side, and logits.csv.
Runs train_all(Run& run, const Config& config, const TinyText& text) {
  std::vector<Json> rows;
  for (const Attention& attention : attentions)
    for (int64_t seed = run.seed(); seed < run.seed() + config.seeds; ++seed)
      rows.push_back({{"attention", attention.name}, {"seed", seed}});
  Grid grid(run);
  const auto seeds = static_cast<size_t>(config.seeds);
  const std::vector<Trajectory> all = grid.train<Trajectory>(rows, [&](size_t i) {
    return train(config, text, attentions[i / seeds], run.seed() + static_cast<int64_t>(i % seeds));
  });
  grid.finish();
  Csv& csv =
      run.csv("logits.csv", {"model", "seed", "step", "layer", "logit", "capped", "bound", "val_loss"});
  Runs runs;
  for (size_t i = 0; i < attentions.size(); ++i)
    for (int64_t seed = 0; seed < config.seeds; ++seed) {
      const T& seen =
          runs[i].emplace_back(all[i * static_cast<size_t>(config.seeds) + static_cast<size_t>(seed)]);
      for (size_t number = 0; number < seen.layers.size(); ++number)
        for (int64_t layer = 0; layer < config.n_layer; ++layer) {
          const LogitPeaks& peaks = seen.layers[number][static_cast<size_t>(layer)];
          csv.row({std::string(attentions[i].name), run.seed() + seed, step_of(config, number), layer,
                   peaks.logit, peaks.capped, peaks.bound, seen.val_loss[number]});
        }
    }
  return runs;
}

void measure_one(Run& run, const std::string& name, const std::vector<T>& runs) {
  const std::vector<double> start = at_look(runs, &T::logit, 0), end = at_end(runs, &T::logit);
  run.measured(name + ".logit.start", spread_of(start));
  run.measured(name + ".logit.end", spread_of(end));
  run.measured(name + ".logit.growth", spread_of(pairwise(end, start, std::divides())));
  run.measured(name + ".val_loss", spread_of(at_end(runs, &T::val_loss)));
  const double error = worst(runs, &T::rebuild_error);
  run.expect(name + ": the logits are those of the module", error < 1e-4,
             fmt::format("the attention's output, built anew, differs by {} of its largest number",
                         number_text(error)));
}

// The same seeds' runs of the three models, in the order of `attentions`.
void measure_all(Run& run, const Config& config, double unigram_loss, const Runs& runs) {
  for (size_t i = 0; i < attentions.size(); ++i) measure_one(run, attentions[i].name, runs[i]);
  const auto& [none, capped, normed] = runs;
  run.measured("softcap.precap.start", spread_of(at_look(capped, &T::logit, 0)));
  run.measured("softcap.precap.end", spread_of(at_end(capped, &T::logit)));
  run.measured("softcap.capped.end", spread_of(at_end(capped, &T::capped)), config.softcap);
  const Spread highest = spread_over(capped, [](const T& seen) { return std::ranges::max(seen.capped); });
  run.measured("softcap.capped.highest", highest, config.softcap);
  // The cap itself is rounded to f32.
  run.expect("no logit passes the cap", highest.max <= config.softcap * (1 + 1e-6),
             fmt::format("highest {}, cap {}", highest.max, config.softcap));
  const auto over_cap = [&](double logit) { return logit / config.softcap; };
  run.measured("softcap.precap_over_cap.end", spread_over(at_end(capped, &T::logit), over_cap));
  run.measured("softcap.precap_over_none.end", quotient(capped, &T::logit, none, &T::logit));

  const double past = worst(normed, &T::past_bound);
  run.measured("qk_norm.logit.bound.end", spread_of(at_end(normed, &T::bound)));
  run.measured("qk_norm.logit.share_of_bound.end", quotient(normed, &T::logit, normed, &T::bound));
  run.measured("qk_norm.logit.bound.start", spread_of(at_look(normed, &T::bound, 0)),
               std::sqrt(static_cast<double>(config.n_embd) / static_cast<double>(config.n_head)));
  run.measured("qk_norm.logit.bound_violation", past, 0);
  run.expect("no logit passes the bound of QK-norm", past < 1e-5,
             fmt::format("by {} of it at worst, in f32", number_text(past)));
  run.measured("qk_norm.logit_over_none.end", quotient(normed, &T::logit, none, &T::logit));
  const std::vector<double> none_loss = at_end(none, &T::val_loss);
  const std::vector<double> gains = values_of(none_loss, [&](double loss) { return unigram_loss - loss; });
  run.measured("unigram_loss", unigram_loss);
  for (const auto& [name, other] : {std::pair{"softcap", &capped}, {"qk_norm", &normed}}) {
    const std::string key = fmt::format("{}_minus_none.val_loss", name);
    const std::vector<double> nats = pairwise(at_end(*other, &T::val_loss), none_loss, std::minus());
    run.measured(key, spread_of(nats));
    run.measured(key + ".share_of_gain", spread_of(pairwise(nats, gains, std::divides())));
  }
}

void record_all(Run& run, const Config& config, const Runs& runs) {
  Table table({"step", "none", "softcap, before", "softcap, after", "qk_norm"}, "rrrrr");
  const size_t log_steps = runs[0][0].logit.size();
  for (size_t number = 0; number < log_steps; ++number) {
    const int64_t step = step_of(config, number);
    run.record("step", static_cast<double>(step));
    for (size_t i = 0; i < attentions.size(); ++i)
      for (const auto& [name, series] : {std::pair{"logit", &T::logit},
                                         {"capped", &T::capped},
                                         {"bound", &T::bound},
                                         {"val_loss", &T::val_loss}})
        run.record(fmt::format("{}/{}", attentions[i].name, name), at_look(runs[i], series, number));
    const auto cell = [&](size_t i, Series series) {
      return spread_text(spread_of(at_look(runs[i], series, number)));
    };
    table.row({fmt::format("{}", step), cell(0, &T::logit), cell(1, &T::logit), cell(1, &T::capped),
               cell(2, &T::logit)});
  }
  run.say("\nLargest |attention logit| of all layers, median and range of {} seeds\n\n", config.seeds);
  run.say_text(table.text());
  const auto loss = [&](size_t i) { return spread_text(spread_of(at_end(runs[i], &T::val_loss))); };
  run.say("\nval loss: none {}, softcap {}, qk_norm {}\n", loss(0), loss(1), loss(2));
}

void plot_all(Run& run, const Config& config, const Runs& runs) {
  const auto& [none, capped, normed] = runs;
  const auto curve = [&](const Phrase& label, const std::vector<T>& seeds, Series series,
                         Role role = Role::measured) {
    PlotCurve made{label, role};
    for (size_t number = 0; number < seeds.front().logit.size(); ++number)
      made.add(static_cast<double>(step_of(config, number)), spread_of(at_look(seeds, series, number)));
    return made;
  };
  const auto steps = static_cast<double>(config.steps);
  run.plot({.title = {"largest |attention logit| of all layers", "所有层中最大的 |注意力 logit|"},
            .x = {"step", "步"},
            .y = "|q·k|/√D",
            .log = true,
            .curves = {curve("none", none, &T::logit),
                       curve({"softcap, before the cap", "softcap，上限之前"}, capped, &T::logit),
                       curve({"softcap, after the cap", "softcap，上限之后"}, capped, &T::capped),
                       curve("QK-norm", normed, &T::logit),
                       {{"the cap", "上限"}, Role::theory, {0, steps}, {config.softcap, config.softcap}},
                       curve({"QK-norm's bound", "QK-norm 的界"}, normed, &T::bound, Role::theory)},
            .key = "logit",
            .figures = {"softcap.", "qk_norm.", "none."}});
  run.plot({.title = {"validation loss", "验证损失"},
            .x = {"step", "步"},
            .y = {"nats a token", "纳特/词元"},
            .curves = {curve("none", none, &T::val_loss), curve("softcap", capped, &T::val_loss),
                       curve("QK-norm", normed, &T::val_loss)},
            .key = "val_loss",
            .figures = {"val_loss"}});
}

void study(Run& run, const Config& config) {
  const TinyText text(config.corpus, config.block_size);
  text.corpus.announce(run);
  run.summary()["corpus"] = text.name();
  const Runs runs = train_all(run, config, text);
  record_all(run, config, runs);
  measure_all(run, config, text.unigram_loss(), runs);
  plot_all(run, config, runs);
  softcap_table(run);
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  return run_program(
      {.name = "logit_growth",
       .about = "Do attention logits grow in training, and what do softcap and QK-norm do "
                "about it?\nThe largest |q·k|/√D against the step, of three small language models.",
       .example = "logit_growth --softcap 50 --steps 500",
       .page = "studies/logit_growth/README.md",
       .trained = {{.of = "softcap50."},
                   {.of = ".start"},
                   {.of = "unigram_loss"},
                   {.en =
                        "{n_layer} blocks of width {n_embd}, {steps} steps on {corpus}, rate {learning_rate}",
                    .zh = "{n_layer} 块、宽 {n_embd}，在{corpus}上训练 {steps} 步，学习率 {learning_rate}"}},
       .tiny = "--n_layer 1 --n_embd 16 --steps 2 --log_interval 1 --seeds 1 --eval_iters 1",
       .shares = true,
       .settle =
           [&](const std::set<std::string>& given) {
             LmConfig training =
                 config.training(config.n_embd, config.n_layer, config.steps, config.learning_rate);
             const std::vector<std::string> gave_way = give_way(training, given);
             config.n_embd = training.n_embd;
             config.n_head = training.n_head;
             config.n_kv_head = training.n_kv_head;
             return gave_way;
           }},
      config, argc, argv, [&](Run& run) { study(run, config); });
}
