// Do language models without norms train as well as one with norms, but fine-tune worse?
//
// Claim (source 004): replacements of normalization such as SkipInit, ReZero and Fixup come level in some
// respects and fall short in others, "pretraining is passable, fine-tuning is worse" (F22).
//
// The second training has a fresh AdamW. The vocabulary is that of the first text: Tiny Shakespeare's 65
// characters hold the other's 16 letters. All nets of a seed see the same batches.
#include "../../lm/training/small_config.h"
#include "../../run/measurements.h"
#include "../../run/program.h"

using namespace isobar;

namespace {

const std::string reference = "pre.rmsnorm";

struct Config : TinyConfig {
  std::vector<std::string> nets = {"skipinit.none", "rezero.none", "fixup.none"};
  int64_t n_layer = 4;
  int64_t n_embd = 32;
  int64_t steps = 130;
  double learning_rate = 3e-3;  // best for norm-free nets and for RMSNorm in lm_norms
  int64_t finetuning_steps = 125;
  double finetuning_rate = 3e-3;

  void fields(Fields& f) override {
    f("nets", nets, "placement.norm, each compared with pre.rmsnorm", one_of(net_names()));
    f("n_layer", n_layer, "blocks", at_least(1));
    f("n_embd", n_embd, "width of the residual stream", at_least(1));
    f("steps", steps, "of the first training", at_least(1));
    f("learning_rate", learning_rate, "of AdamW in it", at_least(0));
    f("finetuning_steps", finetuning_steps, "of the second training, on the other text", at_least(1));
    f("finetuning_rate", finetuning_rate, "of AdamW in it", at_least(0));
    TinyConfig::fields(f);
  }
  LmConfig training_of(const std::string& net, bool finetuning) const {
    LmConfig training = TinyConfig::training(n_embd, n_layer, finetuning ? finetuning_steps : steps,
                                             finetuning ? finetuning_rate : learning_rate);
    set_net(training, net);
    training.check_together();
    return training;
  }
};

using Gains = std::vector<double>;  // pretrained, fine-tuned

Gains train_twice(const Config& config, const std::string& net, const TinyText& first, const TinyText& second,
                  int64_t seed) {
  const Rng rng(static_cast<uint64_t>(seed));
  const LmConfig pretraining = config.training_of(net, false), finetuning = config.training_of(net, true);
  LanguageModel model(config.model(pretraining, first.vocab_size()), rng.split("model"));
  const double pretrained = gain_of(model, pretraining, first, rng.split("first"));
  return {pretrained, gain_of(model, finetuning, second, rng.split("second"))};
}

void study(Run& run, const Config& config) {
  std::vector<std::string> nets{reference};
  nets.insert(nets.end(), config.nets.begin(), config.nets.end());
  for (const std::string& net : nets)
    for (const bool finetuning : {false, true})
      LanguageModel(config.model(config.training_of(net, finetuning), 1), Rng(0));  // a slip shows at once
  check(config.corpus != "synthetic",
        "--corpus: wanted a text besides the synthetic language, got synthetic");
  const TinyText text(config.corpus, config.block_size);
  text.corpus.announce(run);
  const TinyText synthetic(open_corpus_with("synthetic", *text.corpus.text.tokenizer), config.block_size);
  const std::array<const TinyText*, 2> texts = {&text, &synthetic};
  const std::array<const char*, 2> names = {"text", "synthetic"};

  const auto n = nets.size();
  std::vector<Json> rows;
  for (int64_t seed = run.seed(); seed < run.seed() + config.seeds; ++seed)
    for (const char* pretrained_on : names)
      for (const std::string& net : nets)
        rows.push_back({{"net", net}, {"pretrained_on", pretrained_on}, {"seed", seed}});
  Grid grid(run);
  const std::vector<Gains> gains = grid.train<Gains>(rows, [&](size_t i) {
    const size_t order = i / n % 2;
    return train_twice(config, nets[i % n], *texts[order], *texts[1 - order],
                       run.seed() + static_cast<int64_t>(i / n / 2));
  });
  grid.finish();
  Measurements measured;
  for (int64_t seed = 0; seed < config.seeds; ++seed)
    for (size_t text_index = 0; text_index < 2; ++text_index) {  // the text on which losses are compared
      // Trained on it first, and on it after the other.
      const Gains* const first = &gains[(static_cast<size_t>(seed) * 2 + text_index) * n];
      const Gains* const second = &gains[(static_cast<size_t>(seed) * 2 + 1 - text_index) * n];
      for (size_t net = 0; net < n; ++net) {
        const std::string key = fmt::format("{}.{}.", names[text_index], nets[net]);
        const double pretrained = 1 - first[net][0] / first[0][0],
                     finetuned = 1 - second[net][1] / second[0][1];
        measured.add(key + "pretrained.gain", first[net][0]);
        measured.add(key + "finetuned.gain", second[net][1]);
        if (net == 0) continue;
        measured.add(key + "pretrained.minus_rmsnorm.share_of_gain", pretrained);
        measured.add(key + "finetuned.minus_rmsnorm.share_of_gain", finetuned);
        measured.add(key + "finetuned_minus_pretrained.share_of_gain", finetuned - pretrained);
      }
    }
  measured.publish(run);
  measured.print(run);
  Plot plot{.title = {"loss above RMSNorm's, as a share of its gain", "高出 RMSNorm 的损失，占其增益的比例"},
            .x = {"net and text", "网络与文本"},
            .y = {"share", "占比"},
            .curves = {{.label = {"pretrained", "预训练"}}, {.label = {"fine-tuned", "微调"}}},
            .figures = {".share_of_gain"}};
  for (const char* name : names)
    for (size_t net = 1; net < n; ++net) {
      for (size_t phase = 0; phase < 2; ++phase) {
        const Spread spread =
            measured.spread(fmt::format("{}.{}.{}.minus_rmsnorm.share_of_gain", name, nets[net],
                                        phase == 0 ? "pretrained" : "finetuned"));
        plot.curves[phase].add(static_cast<double>(plot.ticks.size()), spread);
      }
      plot.ticks.push_back(fmt::format("{}, {}", nets[net], name));
    }
  run.plot(plot);
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  return run_program(
      {.name = "fine_tuning",
       .about = "Do language models without norms train as well as one with norms, but fine-tune worse?",
       .example = "fine_tuning --nets pre.none,post.rmsnorm --seeds 3",
       .page = "studies/fine_tuning/README.md",
       .trained =
           {{.en = "{n_layer} blocks of width {n_embd}, {steps} steps on one of two texts at rate "
                   "{learning_rate}, then {finetuning_steps} on the other at {finetuning_rate}",
             .zh =
                 "{n_layer} 块、宽 {n_embd}，在两种文本之一上训练 {steps} 步（学习率 {learning_rate}），再在另一种上训练 "
                 "{finetuning_steps} 步（学习率 {finetuning_rate}）"}},
       .presets = {{"quick", "32 wide, 130 and 125 steps"},
                   {"full", "64 wide, 250 and 250 steps, twelve seeds",
                    "--seeds 12 --n_embd 64 --steps 250 --finetuning_steps 250"}},
       .tiny = "--n_layer 1 --n_embd 16 --steps 2 --finetuning_steps 2 --seeds 1 --eval_iters 1",
       .shares = true},
      config, argc, argv, [&](Run& run) { study(run, config); });
}
