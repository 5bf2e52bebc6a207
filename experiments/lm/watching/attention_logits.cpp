#include "attention_logits.h"

#include "../../../autograd/ops.h"
#include "../../../nn/lm/grouped_query_attention.h"
#include "../../../nn/model.h"
#include "../../../nn/observe.h"

namespace isobar {
namespace {

// Keeps every module's last output by path.
struct Outputs : Observer {
  std::map<std::string, Tensor> by_path;

  void on_output(const Module& module, const Tensor& y) override { by_path[module.path()] = y.detach(); }
  void on_output_gradient(const Module&, const Tensor&) override {}
};

double largest(const Tensor& x) {
  double most = 0;
  for (const double value : x.to_vector<double>()) most = std::max(most, std::abs(value));
  return most;
}

// 1 where query t (row) may see key s (column), and 0 elsewhere.
Tensor causal_ones(int64_t length) {
  std::vector<float> seen;
  for (int64_t t = 0; t < length; ++t)
    for (int64_t s = 0; s < length; ++s) seen.push_back(s <= t ? 1 : 0);
  return tensor({length, length}, seen);
}

LogitPeaks peaks_of(const GroupedQueryAttention& attention, const std::string& path,
                    const std::map<std::string, Tensor>& outputs) {
  const GroupedQueryAttentionOptions& options = attention.options;
  const Tensor& y = outputs.at(path);
  const int64_t batch = y.size(0), length = y.size(1), width = y.size(2);
  const int64_t kv_heads = options.n_kv_head, group = attention.n_head / kv_heads,
                channels = width / attention.n_head;
  const auto heads = [&](const char* part, int64_t count) {
    return reshape(outputs.at(path + part), {batch, length, count, channels});
  };
  Tensor q = heads(options.qk_norm ? ".q_norm" : ".q_proj", attention.n_head);
  Tensor k = heads(options.qk_norm ? ".k_norm" : ".k_proj", kv_heads);
  const Tensor v = heads(".v_proj", kv_heads);
  if (options.rope_base) {
    q = rope(q, *options.rope_base, 0, options.rope_style);
    k = rope(k, *options.rope_base, 0, options.rope_style);
  }

  // (B, K, H/K, T, D) · (B, K, 1, D, T): a group of query heads shares a key head.
  const Tensor grouped_q =
      contiguous(permute(reshape(q, {batch, length, kv_heads, group, channels}), {0, 2, 3, 1, 4}));
  const Tensor grouped_k = reshape(permute(k, {0, 2, 3, 1}), {batch, kv_heads, 1, channels, length});
  const Tensor logits = matmul(grouped_q, grouped_k) / std::sqrt(static_cast<double>(channels));
  const Tensor capped = options.softcap > 0 ? softcap(logits, options.softcap) : logits;
  const Tensor seen = causal_ones(length);

  // The rest of attention, to see that these are its logits. A logit of −1e9 counts for nothing.
  const Tensor chances = softmax(capped * seen + (seen - 1.0) * 1e9);
  const Tensor grouped_v = reshape(permute(v, {0, 2, 1, 3}), {batch, kv_heads, 1, length, channels});
  const Tensor mixed = permute(matmul(chances, grouped_v), {0, 3, 1, 2, 4});
  const Tensor rebuilt =
      linear(reshape(mixed, y.shape()), attention.o_proj.weight.detach(), attention.o_proj.bias);
  const double bound = options.qk_norm
                           ? std::sqrt(static_cast<double>(channels)) * largest(attention.q_norm->weight) *
                                 largest(attention.k_norm->weight)
                           : std::numeric_limits<double>::infinity();
  return {.logit = largest(logits * seen),
          .capped = largest(capped * seen),
          .bound = bound,
          .rebuild_error = largest(rebuilt - y) / largest(y)};
}

}  // namespace

std::vector<LogitPeaks> logit_peaks(LanguageModel& model, const Tensor& symbols) {
  Outputs outputs;
  {
    const Evaluation here(model);
    const Watch watching(model, outputs);
    model(symbols);
  }
  std::vector<LogitPeaks> peaks;
  for (size_t i = 0; i < model.blocks.size(); ++i) {
    const auto* attention = dynamic_cast<const GroupedQueryAttention*>(model.blocks[i].self_attn.get());
    check(attention != nullptr && attention->options.causal, "logit_peaks: wanted causal attention");
    peaks.push_back(peaks_of(*attention, fmt::format("blocks.{}.self_attn", i), outputs.by_path));
  }
  return peaks;
}

}  // namespace isobar
