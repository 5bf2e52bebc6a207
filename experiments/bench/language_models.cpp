// Training steps of small language models: forward, backward, AdamW. B batch, T time, C channels, V
// vocabulary.
#include "../../autograd/autograd.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../../nn/pieces.h"
#include "../../optim/optim.h"
#include "case.h"

namespace isobar::bench {

struct ModelTraining {
  LanguageModel model;
  Tensor symbols, next_symbols;
  AdamW optimizer;
  int64_t pieces;  // that the batch is cut into

  ModelTraining(const LanguageModelConfig& config, int64_t batch, int64_t cut_into, const Rng& rng)
      : model(config, rng.split("model")),
        symbols(rng.split("symbols").integers({batch, config.block_size}, config.vocab_size)),
        next_symbols(rng.split("next").integers({batch, config.block_size}, config.vocab_size)),
        optimizer(groups(model), {.lr = 1e-4, .beta2 = 0.99, .weight_decay = 0.1}),
        pieces(cut_into) {}

  void step() {
    const int64_t rows = symbols.size(0) / pieces;
    backward_in_pieces(model, pieces, [&](int64_t i) {
      const auto piece = [&](const Tensor& all) { return slice(all, 0, i * rows, (i + 1) * rows); };
      return cross_entropy(model(piece(symbols)), piece(next_symbols));
    });
    optimizer.step();
  }

  // Weight decay on matrices only.
  static std::vector<ParameterGroup> groups(LanguageModel& model) {
    ParameterGroup matrices, vectors{.parameters = {}, .weight_decay = 0.0};
    for (const Tensor& p : parameters(model)) (p.ndim() >= 2 ? matrices : vectors).parameters.push_back(p);
    return {matrices, vectors};
  }
};

// The products alone. A weight of a matrix is multiplied and added once for each symbol, in the forward
// product and in two of the backward one; so are the C channels of the T(T + 1)/2 pairs that causal attention
// sees, for the logits and for the values.
double training_flops(const LanguageModelConfig& m, int64_t batch) {
  const int64_t head = m.n_embd / m.n_head, kv_heads = m.n_kv_head > 0 ? m.n_kv_head : m.n_head;
  const int64_t attention_weights = 2 * m.n_embd * m.n_embd + 2 * m.n_embd * head * kv_heads;
  const int64_t ffn_weights =
      m.ffn == "swiglu" ? 3 * m.n_embd * m.hidden : 2 * m.n_embd * 4 * m.n_embd;  // hidden: 4 C by default
  const int64_t weights = m.n_layer * (attention_weights + ffn_weights) + m.n_embd * m.vocab_size;
  const int64_t pairs = m.block_size * (m.block_size + 1) / 2;
  return 3.0 * 2.0 * static_cast<double>(batch * (m.block_size * weights + m.n_layer * 2 * pairs * m.n_embd));
}

void add_model(Cases& cases, const std::string& name, const LanguageModelConfig& config, int64_t batch,
               int64_t pieces = 1) {
  cases.push_back(
      {.name = name, .work = product_flops(training_flops(config, batch)), .setup = [config, batch, pieces] {
         return Step([training = std::make_shared<ModelTraining>(config, batch, pieces, Rng(0))] {
           training->step();
         });
       }});
}

// nanoGPT's parts: LayerNorm without bias, learned positions, GELU, no dropout.
LanguageModelConfig nanogpt(int64_t layers, int64_t heads, int64_t width, int64_t block_size) {
  return {.vocab_size = 65,
          .block_size = block_size,
          .n_layer = layers,
          .n_head = heads,
          .n_embd = width,
          .positions = Positions::learned,
          .norm = "layernorm",
          .norm_options = {.bias = false},
          .ffn = "gelu"};
}

void add_language_models(Cases& cases) {
  add_model(cases, "lm_nanogpt_cpu", nanogpt(4, 4, 128, 64), 12);
  add_model(cases, "lm_nanogpt_cpu_pieces2", nanogpt(4, 4, 128, 64), 12, 2);
  add_model(cases, "lm_babygpt", nanogpt(6, 6, 384, 256), 16);
  // Llama's parts: RMSNorm, rotated positions, SwiGLU, four query heads to a key/value head.
  add_model(cases, "lm_minimind_small",
            {.vocab_size = 6400,
             .block_size = 256,
             .n_layer = 8,
             .n_head = 8,
             .n_kv_head = 2,
             .n_embd = 512,
             .hidden = 1408},
            4);
}

}  // namespace isobar::bench
