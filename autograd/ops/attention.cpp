// Scaled dot-product attention (Vaswani et al. 2017) with grouped key/value heads (Ainslie et al. 2023) and
// capped logits (Gemma 2). The kernel and its gradient are in core/kernels/attention.h.
//
//   y = softmax(scale · q kᵀ) v in each head; where causal, a query sees no later key
#include <cmath>

#include "../../core/kernels/attention.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

// Logits (B, H, T, S), unchanged where query t may see key s, elsewhere so low that their exponential is 0.
// Not −∞, which detect_anomaly would report.
Tensor hide_later_keys(const Tensor& logits) {
  const int64_t queries = logits.size(-2), keys = logits.size(-1);
  const Tensor key = arange(keys), last_seen = reshape(slice(key, 0, keys - queries, keys), {queries, 1});
  const double lowest = dispatch_float("attention", logits.dtype(), []<class T>() {
    return static_cast<double>(std::numeric_limits<T>::lowest()) / 2;
  });
  return where(key <= last_seen, logits, lowest);
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
  if (options.causal) logits = hide_later_keys(logits);
  return heads_first(matmul(softmax(logits), vh));
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
  if (composed_wanted()) return attention_composed(q_in, k_in, v_in, options, scale);

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
