// Parameters: what leaving out beta saves, counted in real models.
#include "../../nn/nn.h"
#include "properties.h"

namespace isobar::properties {
namespace {

double count(HasFields& model) { return static_cast<double>(parameter_count(model)); }

// B10: source 001's TransformerLayer(512, 8, 2048): attention and a ReLU part, with biases.
double source_001_layer(const std::string& norm, const Rng& rng) {
  TransformerBlock block(512, std::make_unique<MultiheadAttention>(512, 8, rng.split("attention")),
                         std::make_unique<FeedForward>(512, 2048, std::make_unique<ReLU>(), rng.split("ffn")),
                         {.norm = norm});
  return count(block);
}

}  // namespace

void measure_counts(Measurements& measurements, const Rng& rng) {
  RMSNorm rms(Shape{512}), without_weight(512, {.elementwise_affine = false});
  LayerNorm layer(Shape{512});
  measurements.add("count.rmsnorm512", count(rms), 512, 0);
  measurements.add("count.rmsnorm512_without_weight", count(without_weight), 0, 0);
  measurements.add("count.layernorm512", count(layer), 1024, 0);
  measurements.add("count.source001_layer.rmsnorm", source_001_layer("rmsnorm", rng), 3151360, 0);
  measurements.add("count.source001_layer.layernorm", source_001_layer("layernorm", rng), 3152384, 0);

  // MiniMind as source 003 describes it (B05, D25): 2L + 1 norms of 512.
  LanguageModel model({.n_kv_head = 2, .rope_base = 1e6}, rng.split("minimind"));
  int64_t norms = 0, norm_parameters = 0;
  for (const NamedModule& part : named_modules(model))
    if (part.module->type_name() == "RMSNorm") {
      ++norms;
      norm_parameters += parameter_count(*part.module);
    }
  measurements.add("count.minimind.parameters", count(model), 25829888, 0);
  measurements.add("count.minimind.rmsnorms", static_cast<double>(norms), 2 * 8 + 1, 0);
  // A LayerNorm would have as many parameters again: what the missing beta saves of the whole.
  measurements.add("count.minimind.saved_share", static_cast<double>(norm_parameters) / count(model),
                   17 * 512 / 25829888.0);
}

}  // namespace isobar::properties
