#include "driver.h"

#include <algorithm>

#include "a7.h"

namespace {

// Rows begin … end − 1.
Tensor rows(const Tensor& x, int64_t begin, int64_t end) {
  return raw::clone(raw::as_strided(x, x.shape().with(0, end - begin), x.strides(), begin * x.strides()[0]));
}

// A sequence in pieces of these lengths, each with the rest of the sequence still unknown.
// With q1, k1, v1 a second sequence is decoded in turn with the first, with a cache of its own; and what was
// handed over is written over after each piece.
void decode_pieces(const Request& in, Answer& out) {
  Cache cache, other;
  std::vector<double> all, others;
  int64_t done = 0;
  for (const double length : in["lengths"].to_vector<double>()) {
    const int64_t end = done + static_cast<int64_t>(length);
    Tensor k = rows(in["k"], done, end), v = rows(in["v"], done, end);
    const Tensor y = decode(cache, rows(in["q"], done, end), k, v);
    for (const double value : y.to_vector<double>()) all.push_back(value);
    if (in.has("q1")) {
      std::fill_n(raw::write<double>(k), k.numel(), 7.0);
      std::fill_n(raw::write<double>(v), v.numel(), -7.0);
      const Tensor y1 =
          decode(other, rows(in["q1"], done, end), rows(in["k1"], done, end), rows(in["v1"], done, end));
      for (const double value : y1.to_vector<double>()) others.push_back(value);
    }
    done = end;
  }
  out("y", isobar::tensor(in["q"].shape(), all));
  if (in.has("q1")) out("y1", isobar::tensor(in["q1"].shape(), others));
  out("k", cache.k)("v", cache.v);
}

}  // namespace

int main() {
  return serve({
      {"rope", of(rope, {"x", "base", "start"}, {"y"})},
      {"rope_backward", of(rope_backward, {"dy", "base", "start"}, {"dx"})},
      {"attention", of(attention, {"q", "k", "v", "causal"}, {"y", "probability"})},
      // The probabilities come from the request: your forward pass is not in the way.
      {"attention_backward",
       of(attention_backward, {"dy", "q", "k", "v", "probability"}, {"dq", "dk", "dv"})},
      {"swiglu", of(swiglu, {"gate", "up"}, {"y"})},
      {"swiglu_backward", of(swiglu_backward, {"dy", "gate", "up"}, {"dgate", "dup"})},
      {"decode", decode_pieces},
  });
}
