// Is LayerNorm's centring redundant in a Transformer?
//
// Claims: hidden states have no component along (1, …, 1) during training and after it, so centring is
// redundant (Gupta et al. 2024, G03); a pre-LayerNorm Transformer becomes a pre-RMSNorm one with the same
// outputs once its embedding and the outputs of its branches are centred (Jiang et al. 2023, G02).
//
// A row's share along 1 is its cosine with (1, …, 1), here over the outputs of all blocks; a random direction
// has 1/√d = 0.125 in the root mean square. LayerNorm's net has biases everywhere, as GPT-2, RMSNorm's none.
#include "../../../nn/model.h"
#include "../../../nn/observe.h"
#include "../../lm/fold_centring.h"
#include "../../lm/training/small_config.h"
#include "../../run/grid.h"
#include "../../run/program.h"

using namespace isobar;

namespace {

struct Config : TinyConfig {
  Config() { seeds = 5; }
  int64_t n_layer = 4;
  int64_t n_embd = 64;
  int64_t steps = 250;
  double learning_rate = 3e-3;

  void fields(Fields& f) override {
    f("n_layer", n_layer, "blocks", at_least(1));
    f("n_embd", n_embd, "width of the residual stream", at_least(1));
    f("steps", steps, "steps of a training; the share is measured after each quarter of them", at_least(4));
    f("learning_rate", learning_rate, "learning rate of AdamW", at_least(0));
    TinyConfig::fields(f);
  }
  LmConfig training_of(const std::string& net) const {
    LmConfig training = TinyConfig::training(n_embd, n_layer, steps, learning_rate);
    training.norm = net;
    training.bias = net == "layernorm";
    training.check_together();
    return training;
  }
};

constexpr std::array<const char*, 2> nets = {"layernorm", "rmsnorm"};

struct Shares : Observer {
  std::vector<double> squares;  // of each block
  void on_output(const Module& module, const Tensor& y) override {
    if (module.type_name() == "TransformerBlock") squares.push_back(std::pow(rms_alignment(y), 2));
  }
  void on_output_gradient(const Module&, const Tensor&) override {}
};

double mean_square_share(LanguageModel& model, const Tensor& tokens) {
  Shares seen;
  const Watch watch(model, seen);
  model(tokens);
  return spread_of(seen.squares).linear.mean;
}

// Of the logits, over the largest one.
double relative_difference(LanguageModel& other, LanguageModel& model, const Tensor& tokens) {
  const Tensor logits = model(tokens);
  return (max(abs(other(tokens) - logits)) / max(abs(logits))).item();
}

bool is_measured_at(const Config& config, int64_t step) { return step * 4 % config.steps < 4; }

// What is measured of one training, in order: the share at every quarter of it first.
std::vector<std::string> names_of(const Config& config, const std::string& net) {
  std::vector<std::string> names;
  for (int64_t step = 0; step <= config.steps; ++step)
    if (is_measured_at(config, step)) names.push_back(fmt::format("quarter_{}.along_one", names.size()));
  if (net == "layernorm")
    names.insert(names.end(), {"unfolded.loss_share_of_gain", "unfolded.relative_difference",
                               "folded.relative_difference", "folded.relative_difference_f64"});
  return names;
}

NamedValues train(const Config& config, const TinyText& text, const char* net, int64_t seed) {
  const LmConfig training = config.training_of(net);
  const Rng rng(static_cast<uint64_t>(seed)), validation = Rng(0).split("validation");
  const Tensor tokens = text.validation.random_batch(config.batch_size, validation.split("logits")).x;
  LanguageModel model(config.model(training, text.vocab_size()), rng.split("model"));
  AdamW optimizer(decay_matrices_only(model), adam_w_options(training));
  const Schedule schedule = schedule_of(training);
  NamedValues outcome;
  for (int64_t step = 0; step <= config.steps; ++step) {
    if (is_measured_at(config, step))
      outcome[fmt::format("quarter_{}.along_one", outcome.size())] =
          std::sqrt(mean_square_share(model, tokens));
    if (step == config.steps) break;
    const Batch batch = text.train.random_batch(config.batch_size, rng.split("batch").split(step));
    const Gradients gradients = gradients_of(model, batch, rng.split("dropout").split(step));
    if (!gradients.finite())
      throw Diverged(fmt::format("{}, seed {}, step {}: a gradient is not finite; lower --learning_rate", net,
                                 seed, step));
    optimizer.set_lr(schedule(step));
    optimizer.step(clipping(gradients.norm, training));
  }
  if (training.norm != "layernorm") return outcome;
  const auto val_loss = [&](LanguageModel& of) {
    return mean_loss(of, text.validation, config.eval_iters, config.batch_size, validation);
  };
  LanguageModel swapped = without_centring(model);
  const double loss = val_loss(model), gain = text.unigram_loss() - loss;
  outcome["unfolded.loss_share_of_gain"] = (val_loss(swapped) - loss) / gain;
  outcome["unfolded.relative_difference"] = relative_difference(swapped, model, tokens);
  fold_centring(swapped);
  outcome["folded.relative_difference"] = relative_difference(swapped, model, tokens);
  convert(model, Dtype::f64);
  LanguageModel exact = without_centring(model);
  fold_centring(exact);
  outcome["folded.relative_difference_f64"] = relative_difference(exact, model, tokens);
  return outcome;
}

// A random direction's squared cosine with 1 has the mean 1/d; with few letters one net has 1/√d to 15 %.
void measure_start(Grid& grid, Run& run, const Config& config, const TinyText& text) {
  constexpr int64_t n = 200;
  const LanguageModelConfig shape = config.model(config.training_of("layernorm"), text.vocab_size());
  const Tensor tokens = text.validation.random_batch(config.batch_size, Rng(0).split("start")).x;
  std::vector<Json> rows;
  for (int64_t i = 0; i < n; ++i) rows.push_back({{"trained", false}, {"seed", run.seed() + i}});
  const Spread spread = spread_of(grid.train<double>(rows, [&](size_t i) {
    LanguageModel model(shape, Rng(static_cast<uint64_t>(run.seed()) + i).split("model"));
    return static_cast<double>(config.n_embd) * mean_square_share(model, tokens);
  }));
  run.measured("start.d_times_square_share", spread, 1);
  const double error = spread.linear.sd / std::sqrt(static_cast<double>(n));
  run.expect("before training a row's share along 1 is a random direction's",
             std::abs(spread.linear.mean - 1) < 4 * error,
             fmt::format("d cos² is {:.4f} in the mean of {} nets, theory 1, standard error {:.4f}",
                         spread.linear.mean, n, error));
}

void study(Run& run, const Config& config) {
  const TinyText text(config.corpus, config.block_size);
  text.corpus.announce(run);
  run.summary()["corpus"] = text.name();
  config.training_of("layernorm");  // throws Error for sizes that do not fit, before the grid writes a file
  Grid grid(run);
  measure_start(grid, run, config, text);
  std::vector<Json> rows;
  for (int64_t seed = run.seed(); seed < run.seed() + config.seeds; ++seed)
    for (const char* net : nets) rows.push_back({{"trained", true}, {"net", net}, {"seed", seed}});
  const auto all = grid.train<NamedValues>(rows, [&](size_t i) {
    return train(config, text, nets[i % 2], run.seed() + static_cast<int64_t>(i / 2));
  });
  grid.finish();
  const double random = 1 / std::sqrt(static_cast<double>(config.n_embd));
  const double end = static_cast<double>(config.steps);
  Plot plot{.title = {"share of a row of the stream along (1, …, 1)", "主干的一行沿 (1, …, 1) 方向的占比"},
            .x = {"step", "步"},
            .y = {"root mean square of the cosine", "余弦的均方根"},
            .curves = {{{"a random direction", "随机方向"}, Role::theory, {0, end}, {random, random}}},
            .key = "along_one",
            .figures = {".along_one"}};
  Table table({"net", "measured", "median [min, max]", "theory"}, "llrr");
  for (size_t net = 0; net < nets.size(); ++net) {
    PlotCurve curve{.label = nets[net]};
    for (size_t k = 0; const std::string& name : names_of(config, nets[net])) {
      const bool share = name.ends_with("along_one");
      const double theory = share ? random : name.starts_with("folded") ? 0 : Run::no_theory;
      std::vector<double> values;
      for (size_t i = net; i < all.size(); i += 2) values.push_back(all[i].at(name));
      const Spread spread = spread_of(values);
      for (const double value : values) run.record(fmt::format("{}/{}", nets[net], name), value);
      run.measured(fmt::format("{}.{}", nets[net], name), spread, theory);
      if (name.ends_with("f64"))
        run.expect("folded, the logits are those of LayerNorm but for rounding in f64", spread.max < 1e-10,
                   fmt::format("they differ by {} of the largest at most", spread.max));
      table.row({nets[net], name, spread_text(spread), std::isnan(theory) ? "" : number_text(theory)});
      if (share) curve.add(static_cast<double>(k++) / 4 * end, spread);
    }
    plot.curves.push_back(curve);
  }
  run.plot(plot);
  run.say("{}\nunfolded, folded: with RMSNorm in place of LayerNorm; logits over the largest one.\n",
          table.text());
}

const std::vector<TrainedOn> trained = {
    {.of = "start."},
    {.en = "{n_layer} blocks of width {n_embd}, {steps} steps on {corpus}, rate {learning_rate}",
     .zh = "{n_layer} 块、宽 {n_embd}，在{corpus}上训练 {steps} 步，学习率 {learning_rate}"}};

}  // namespace

int main(int argc, char** argv) {
  Config config;
  return run_program({.name = "centering",
                      .about = "Is LayerNorm's centring redundant in a Transformer?",
                      .example = "centering --corpus synthetic --seeds 1",
                      .page = "studies/centering/README.md",
                      .trained = trained,
                      .presets = {{"quick", "five seeds, 250 steps"},
                                  {"full", "33 seeds, 500 steps", "--seeds 33 --steps 500"}},
                      .tiny = "--n_layer 1 --n_embd 16 --steps 4 --seeds 1 --eval_iters 1",
                      .shares = true},
                     config, argc, argv, [&](Run& run) { study(run, config); });
}
