// Scaled dot-product attention (Vaswani et al. 2017) with grouped key/value heads (Ainslie et al. 2023) and
// capped logits (Gemma 2). The kernel and its gradient are in core/kernels/attention.h.
//
//   y = softmax(scale · q kᵀ) v in each head; where causal, a query sees no later key
//   y = dropout(softmax(scale · q kᵀ + mask)) v, by composition
#include <cmath>

#include "../../core/kernels/attention.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

// True, (T, S), where query t may see key s.
Tensor causal_mask(int64_t queries, int64_t keys) {
  const Tensor key = arange(keys), last_seen = reshape(slice(key, 0, keys - queries, keys), {queries, 1});
  return key <= last_seen;
}

// Logits (B, H, T, S), unchanged where `visible`, elsewhere so low that their exponential is 0. Not −∞, which
// detect_anomaly would report.
Tensor hide(const Tensor& logits, const Tensor& visible) {
  const double lowest = dispatch_float("attention", logits.dtype(), []<class T>() {
    return static_cast<double>(std::numeric_limits<T>::lowest()) / 2;
  });
  return where(visible, logits, lowest);
}

// The probabilities (B, H, T, S) of logits under options.attn_mask and options.causal. A mask that is added hides a
// key where it is −∞. Where all keys are hidden by the mask, hide() leaves them equal, and all probabilities are 0.
Tensor masked_softmax(Tensor logits, const AttentionOptions& options) {
  const int64_t queries = logits.size(-2), keys = logits.size(-1);
  Tensor visible = options.attn_mask;
  if (visible.dtype() != Dtype::boolean) {
    visible = options.attn_mask != -std::numeric_limits<double>::infinity();
    logits = logits + where(visible, options.attn_mask, 0);
  }
  if (options.causal) visible = visible && causal_mask(queries, keys);
  return where(any(visible, -1, true), softmax(hide(logits, visible)), 0);
}

// Every key/value head repeated for its group of query heads: (B, S, K, D) → (B, S, H, D).
Tensor repeat_heads(const Tensor& x, int64_t group) {
  const Tensor grouped = reshape(x, {x.size(0), x.size(1), x.size(2), 1, x.size(3)});
  const Tensor repeated = broadcast_to(grouped, {x.size(0), x.size(1), x.size(2), group, x.size(3)});
  return reshape(repeated, {x.size(0), x.size(1), x.size(2) * group, x.size(3)});
}

Tensor attention_composed(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
                          double scale) {
  const int64_t group = q.size(2) / k.size(2);
  const auto heads_first = [](const Tensor& x) { return permute(x, {0, 2, 1, 3}); };
  const Tensor kh = heads_first(repeat_heads(k, group)), vh = heads_first(repeat_heads(v, group));
  Tensor logits = matmul(heads_first(q), transpose(kh)) * scale;
  if (options.softcap > 0) logits = softcap(logits, options.softcap);
  Tensor probabilities;
  if (options.attn_mask.defined())
    probabilities = masked_softmax(logits, options);
  else
    probabilities = softmax(options.causal ? hide(logits, causal_mask(q.size(1), k.size(1))) : logits);
  if (options.dropout_p > 0) probabilities = dropout(probabilities, options.dropout_p, *options.dropout_rng);
  return heads_first(matmul(probabilities, vh));
}

void check_mask(const Tensor& q, const Tensor& k, const Tensor& mask) {
  check(
      mask.dtype() == Dtype::boolean || mask.dtype() == q.dtype(),
      "attention: attn_mask must be bool, true where a query sees a key, or {} to be added to the logits, got {}; "
      "convert it with cast()",
      q.dtype(), mask.dtype());
  const Shape wanted{q.size(0), q.size(2), q.size(1), k.size(1)};
  bool fits = mask.ndim() <= 4;
  for (int d = 1; fits && d <= mask.ndim(); ++d) fits = mask.size(-d) == wanted[-d] || mask.size(-d) == 1;
  check(
      fits,
      "attention: attn_mask must broadcast to (B, H, T, S) = {} for q {} and k {}, got {}; one of the keys, "
      "(B, S), is reshape(mask, {{B, 1, 1, S}})",
      wanted, q.shape(), k.shape(), mask.shape());
}

void check_shapes(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  check(q.ndim() == 4 && k.ndim() == 4,
        "attention: wanted q (B, T, H, D) and k, v (B, S, K, D), got {} and {}", q.shape(), k.shape());
  check(k.shape() == v.shape(), "attention: k and v must have one shape, got {} and {}", k.shape(),
        v.shape());
  check(q.size(0) == k.size(0) && q.size(3) == k.size(3), "attention: q {} and k {} must agree in B and D",
        q.shape(), k.shape());
  check(
      k.size(2) > 0 && q.size(2) % k.size(2) == 0,
      "attention: {} key/value heads do not divide {} query heads, for q {} and k {}; both are (B, T, H, D)",
      k.size(2), q.size(2), q.shape(), k.shape());
  check(!options.causal || k.size(1) >= q.size(1),
        "attention: causal needs at least as many keys as queries, got {} and {}", k.size(1), q.size(1));
  check(q.dtype() == k.dtype() && q.dtype() == v.dtype(),
        "attention: q, k, v must have one dtype, got {}, {}, {}; convert with cast()", q.dtype(), k.dtype(),
        v.dtype());
  check(options.softcap >= 0, "attention: wanted a softcap of at least 0, got {}", options.softcap);
  check(options.dropout_p >= 0 && options.dropout_p < 1, "attention: wanted a dropout_p in [0, 1), got {}",
        options.dropout_p);
  check(options.dropout_p == 0 || options.dropout_rng.has_value(),
        "attention: dropout_p needs dropout_rng, the key of its masks, such as Tape::active()->next_rng()");
  if (options.attn_mask.defined()) check_mask(q, k, options.attn_mask);
}

// The kernel for the shapes of q and k.
template <class T>
kernels::Attention<T> kernel_for(const Tensor& q, const Tensor& k, const AttentionOptions& options,
                                 double scale) {
  return {.batch = q.size(0),
          .queries = q.size(1),
          .keys = k.size(1),
          .heads = q.size(2),
          .kv_heads = k.size(2),
          .dim = q.size(3),
          .causal = options.causal,
          .scale = static_cast<T>(scale),
          .softcap = static_cast<T>(options.softcap)};
}

}  // namespace

Tensor attention(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                 const AttentionOptions& options) {
  check_shapes(q_in, k_in, v_in, options);
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q_in.size(3))));
  if (composed_wanted() || options.attn_mask.defined() || options.dropout_p > 0)
    return attention_composed(q_in, k_in, v_in, options, scale);

  const Tensor q = raw::contiguous(q_in), k = raw::contiguous(k_in), v = raw::contiguous(v_in);
  Tensor out(q.shape(), q.dtype()), softmax_rows(Shape{q.size(0), q.size(2), q.size(1), 2}, q.dtype());
  dispatch_float("attention", q.dtype(), [&]<class T>() {
    kernel_for<T>(q, k, options, scale)
        .forward(q.data<T>(), k.data<T>(), v.data<T>(), raw::write<T>(out), raw::write<T>(softmax_rows));
  });
  return record(
      {"attention", Node::Kind::attention}, out, {q_in, k_in, v_in},
      [=, q = q.detach(), k = k.detach(), v = v.detach(), out = out.detach()](const Tensor& upstream) {
        const Tensor dout = raw::contiguous(upstream);
        std::array dx{Tensor(q.shape(), q.dtype()), Tensor(k.shape(), k.dtype()),
                      Tensor(v.shape(), v.dtype())};
        dispatch_float("attention", q.dtype(), [&]<class T>() {
          kernel_for<T>(q, k, options, scale)
              .backward({.q = q.data<T>(),
                         .k = k.data<T>(),
                         .v = v.data<T>(),
                         .out = out.data<T>(),
                         .softmax = softmax_rows.data<T>(),
                         .dout = dout.data<T>(),
                         .dq = raw::write<T>(dx[0]),
                         .dk = raw::write<T>(dx[1]),
                         .dv = raw::write<T>(dx[2])});
        });
        return dx;
      });
}

}  // namespace isobar
