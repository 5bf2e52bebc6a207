// The parts of a Transformer block: rotary positions, attention, SwiGLU.
//
// This file is given and stays as it is. Tensors hold doubles (Dtype::f64) and are contiguous; functions
// return new ones. T queries, S keys, H heads, K key/value heads (K divides H; query head h reads h / (H/K)),
// D channels a head.
#pragma once

#include "tensors.h"

// --- task 1: x (T, H, D), D even. Row t, channels j and j + D/2, are turned by the angle (start + t) ·
// base^(−2j/D) (Su et al. 2021; the halves as in GPT-NeoX). Throws isobar::Error naming the shape when D is
// odd.
Tensor rope(const Tensor& x, double base, int64_t start);
Tensor rope_backward(const Tensor& dy, double base, int64_t start);

// --- tasks 2 and 3: q (T, H, D), k and v (S, K, D)
struct Attention {
  Tensor y;            // (T, H, D)
  Tensor probability;  // (H, T, S); 0 where a query does not see a key
};
// softmax(q kᵀ / √D) v per head. With `causal`, query t sees the keys s ≤ t + (S − T): the last query sees
// all. Finite for any finite q and k. Throws isobar::Error naming q's and k's shape when K does not divide H,
// D differs, or causal and S < T. attention_backward() takes the probability as it is handed in.
Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal);
struct AttentionGradients {
  Tensor dq, dk, dv;
};
AttentionGradients attention_backward(const Tensor& dy, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const Tensor& probability);

// --- task 4: y = silu(gate) · up, silu(x) = x / (1 + e^−x) (Shazeer 2020), elementwise
Tensor swiglu(const Tensor& gate, const Tensor& up);
struct SwigluGradients {
  Tensor dgate, dup;
};
SwigluGradients swiglu_backward(const Tensor& dy, const Tensor& gate, const Tensor& up);

// --- task 5: the same attention, some tokens at a time
struct Cache {
  Tensor k, v;  // (S, K, D) of all tokens so far; undefined before the first
};
// Takes up copies of the new tokens' k and v (the caller may write over them), and lets the new queries see
// them and all before, causally: what attention() of the whole sequence gives for these rows.
Tensor decode(Cache& cache, const Tensor& q, const Tensor& k, const Tensor& v);
