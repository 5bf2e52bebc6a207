#include "grouped_query_attention.h"

namespace isobar {
namespace {

GroupedQueryAttentionOptions checked(int64_t n_embd, int64_t n_head, GroupedQueryAttentionOptions options) {
  if (options.n_kv_head == 0) options.n_kv_head = n_head;
  check(n_head >= 1 && n_embd % n_head == 0, "attention: a width of {} does not divide into {} heads", n_embd,
        n_head);
  check(options.n_kv_head >= 1 && n_head % options.n_kv_head == 0,
        "attention: {} query heads do not divide among {} key/value heads", n_head, options.n_kv_head);
  check(!options.rope_base || n_embd / n_head % 2 == 0,
        "attention: rope rotates pairs of channels; wanted an even number of channels per head, got {}",
        n_embd / n_head);
  return options;
}

}  // namespace

GroupedQueryAttention::GroupedQueryAttention(int64_t n_embd, int64_t head_count, const Rng& rng,
                                             const GroupedQueryAttentionOptions& chosen)
    : n_head(head_count),
      options(checked(n_embd, head_count, chosen)),
      q_proj(n_embd, n_embd, rng.split("q_proj"), {.bias = chosen.bias}),
      k_proj(n_embd, n_embd / n_head * options.n_kv_head, rng.split("k_proj"), {.bias = chosen.bias}),
      v_proj(n_embd, n_embd / n_head * options.n_kv_head, rng.split("v_proj"), {.bias = chosen.bias}),
      o_proj(n_embd, n_embd, rng.split("o_proj"), {.bias = chosen.bias}) {
  if (options.qk_norm) {
    q_norm.emplace(n_embd / n_head, RMSNormOptions{.eps = options.qk_norm_eps});
    k_norm.emplace(n_embd / n_head, RMSNormOptions{.eps = options.qk_norm_eps});
  }
}

Tensor GroupedQueryAttention::forward(const Tensor& x) { return attend(x, nullptr); }
Tensor GroupedQueryAttention::operator()(const Tensor& x, KeyValues& past) {
  return appending(past, [&] {
    return call([&] {
      check(options.causal,
            "attention: a key/value cache needs causal attention; build the layer with {{.causal = true}}");
      return attend(x, &past);
    });
  });
}

// Appends the keys and values of x to `past`. Null means that no tokens come before x and nothing is kept.
Tensor GroupedQueryAttention::attend(const Tensor& x, KeyValues* past) {
  const int64_t width = q_proj.weight.size(1);
  check(x.ndim() == 3 && x.size(2) == width, "attention: wanted x (B, T, {}), got {}", width, x.shape());
  const auto heads = [&](const Tensor& y, int64_t count) {
    return reshape(y, {x.size(0), x.size(1), count, width / n_head});
  };
  Tensor q = heads(q_proj(x), n_head);
  Tensor k = heads(k_proj(x), options.n_kv_head);
  Tensor v = heads(v_proj(x), options.n_kv_head);
  if (options.qk_norm) {
    q = (*q_norm)(q);
    k = (*k_norm)(k);
  }
  const bool cached = past != nullptr && past->k.defined();
  if (options.rope_base) {
    const int64_t start = cached ? past->k.size(1) : 0;
    q = rope(q, *options.rope_base, start, options.rope_style);
    k = rope(k, *options.rope_base, start, options.rope_style);
  }
  if (cached) {
    k = concat({past->k, k}, 1);
    v = concat({past->v, v}, 1);
  }
  if (past != nullptr) *past = {k, v};
  const Tensor mixed = attention(q, k, v, {.causal = options.causal, .softcap = options.softcap});
  return o_proj(reshape(mixed, x.shape()));
}

void GroupedQueryAttention::fields(Fields& f) {
  f("q_proj", q_proj);
  f("k_proj", k_proj);
  f("v_proj", v_proj);
  f("q_norm", q_norm);
  f("k_norm", k_norm);
  f("o_proj", o_proj);
}

}  // namespace isobar
