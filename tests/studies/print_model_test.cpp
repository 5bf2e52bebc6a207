// train_lm --print-model: the sizes that the presets' sources print, and costs held against counts of their
// own.
#include "../../experiments/lm/watching/print_model.h"

#include <doctest/doctest.h>

#include "../../nn/observe.h"
#include "../message_of.h"
#include "../run.h"
#include "../sanitizers.h"
#include "../values_of.h"

namespace isobar::print_model_test {

const ModuleCost& part_of(const ModelCosts& costs, const std::string& path) {
  return *std::ranges::find(costs.modules, path, &ModuleCost::path);
}

TEST_CASE("--preset minimind --print-model: 25,829,888 parameters and 17 RMSNorms, no corpus needed") {
  const Outcome run = ran("train_lm", "--preset minimind --print-model --corpus missing.txt");
  CHECK(holds(run.out, "total: 25,829,888 parameters in "));
  CHECK(holds(run.out, " 17 RMSNorms"));
  CHECK(holds(run.out, "blocks.7.self_attn.k_proj"));
  // 6 · (6400 · 512 + 8 · (655,360 + 2,162,688)) + 8 · 12 · 512 · 512
  CHECK(holds(run.out, "1.801e+08 flops a token"));
}

TEST_CASE("train_lm --preset babygpt --print-model: nanoGPT's 10.65 million without the positions") {
  // 65·384 + 256·384 + 6 (2·384 + 12·384²) + 384
  const Outcome run = ran("train_lm", "--preset babygpt --print-model");
  CHECK(holds(run.out, "total: 10,745,088 parameters in "));
}

TEST_CASE("train_lm --print-model counts the tokens of a token store") {
  const TemporaryFolder folder;
  folder.write("abc.txt", "abcabcabc");
  ran("isobar prepare", "abc.txt -o tokens.safetensors", folder.path());
  const Outcome run = ran("train_lm", "--corpus tokens.safetensors --print-model", folder.path());
  CHECK(holds(run.out, "weight [3, 128]"));
}

TEST_CASE("parts of a model cost what the whole does") {
  for (const bool tied : {true, false}) {
    LanguageModel model({.vocab_size = 32,
                         .block_size = 256,
                         .n_layer = 2,
                         .n_head = 4,
                         .n_kv_head = 2,
                         .n_embd = 64,
                         .tie_embeddings = tied},
                        Rng(1));
    const ModelCosts costs = costs_of(model);
    const auto part = [&](const std::string& path) { return part_of(costs, path); };
    CHECK(part("").parameters == parameter_count(model));
    // Chowdhery et al. 2022, appendix B: 6 a weight, of q and o [64, 64] and k and v [32, 64], and 12 T C.
    CHECK(part("blocks.0.self_attn").flops == 6 * (2 * 64 * 64 + 2 * 32 * 64) + 12 * 256 * 64);
    CHECK(part("lm_head").parameters == (tied ? 0 : 32 * 64));
    int64_t parameters_of_parts = 0;
    double flops_of_parts = 0;
    for (const char* path : {"embed_tokens", "blocks.0", "blocks.1", "norm", "lm_head"}) {
      parameters_of_parts += part(path).parameters;
      flops_of_parts += part(path).flops;
    }
    CHECK(parameters_of_parts == part("").parameters);
    CHECK(flops_of_parts == part("").flops);
    // Equal but for the tape's lists, which double now and then.
    CHECK(static_cast<double>(*part("blocks.0").kept) ==
          doctest::Approx(static_cast<double>(*part("blocks.1").kept)).epsilon(0.05));
    // q, k, v, attention's result with its log-sums, two norms and two sums, and three results of SwiGLU:
    // 2 + 1 + 1/16 + 4 of 64 channels and 3 of 192, 256 tokens of 4 bytes.
    CHECK(static_cast<double>(*part("blocks.1").kept) ==
          doctest::Approx(256 * 4 * (64 * 7.0625 + 192 * 3)).epsilon(0.05));
    // The embedding keeps its rows, the last norm its result and a number or two of each row, and the tape no
    // logits, half as large as these rows; debug builds keep lists beside.
    const int64_t rows = 256 * 4 * 64, lists = rows / 10;
    CHECK(*part("embed_tokens").kept >= rows);
    CHECK(*part("embed_tokens").kept <= rows + lists);
    CHECK(*part("norm").kept >= rows + rows / 64);
    CHECK(*part("norm").kept <= rows + rows / 32 + lists);
    CHECK(*part("lm_head").kept <= lists);
    CHECK(*part("").kept + costs.loss_kept == costs.kept);
  }
}

TEST_CASE("the bytes kept of one sequence are those that a tape holds of it") {
  LanguageModel model({.vocab_size = 32, .block_size = 256, .n_layer = 2, .n_head = 4, .n_embd = 64}, Rng(1));
  const ModelCosts costs = costs_of(model);
  const Tensor symbols = zeros({1, 256}, Dtype::i64), next = raw::clone(symbols);
  const size_t before = memory::stats().bytes_in_use;
  const Tape tape({.rng = Rng(0)});
  const Tensor loss = cross_entropy(model(symbols), next);
  const auto held = static_cast<double>(memory::stats().bytes_in_use - before);
  // The watched tape has one small node a module more; its list of nodes may fall into the next size class.
  CHECK(static_cast<double>(costs.kept) == doctest::Approx(held).epsilon(0.05));
}

TEST_CASE("a fused loss keeps the gradient of what lm_head reads, not of logits") {
  LanguageModel model({.vocab_size = 4096, .block_size = 256, .n_layer = 1, .n_head = 4, .n_embd = 64},
                      Rng(1));
  const ModelCosts costs = costs_of(model);
  CHECK(static_cast<double>(costs.loss_kept) == doctest::Approx(256 * 64 * 4).epsilon(0.05));
  CHECK(costs.kept < 256 * 4096 * 4);
}

TEST_CASE("costs of a model that is observed are refused") {
  LanguageModel model({.vocab_size = 7, .block_size = 4, .n_layer = 2, .n_head = 2, .n_embd = 8}, Rng(1));
  Probe probe;
  {
    const Watch watch(*model.blocks[1].mlp, probe);
    CHECK(
        message_of([&] { costs_of(model); }) ==
        "costs_of: the model is observed, and what observers keep would count as its own; call it without a Watch");
  }
  CHECK(probe.signals().empty());
}

TEST_CASE("what a model costs is measured without a change of its running statistics") {
  LanguageModel model(
      {.vocab_size = 7, .block_size = 4, .n_layer = 2, .n_head = 2, .n_embd = 8, .norm = "batchnorm"},
      Rng(1));
  const auto before = values_of(model);
  costs_of(model);
  CHECK((values_of(model) == before));
}

}  // namespace isobar::print_model_test
