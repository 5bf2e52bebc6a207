#include "driver.h"

#include <algorithm>

#include <isobar/autograd/ops.h>

#include "a7.h"

namespace {

// A sequence in pieces of these lengths, each with the rest of the sequence still unknown.
// With q1, k1, v1 a second sequence is decoded in turn with the first, with a cache of its own; and what was
// handed over is written over after each piece.
void decode_pieces(const Request& in, Answer& out) {
  Cache cache, other;
  std::vector<Tensor> all, others;
  int64_t done = 0;
  for (const double length : in["lengths"].to_vector<double>()) {
    const int64_t end = done + static_cast<int64_t>(length);
    const auto piece = [&](const char* name) { return raw::clone(isobar::slice(in[name], 0, done, end)); };
    Tensor k = piece("k"), v = piece("v");
    all.push_back(decode(cache, piece("q"), k, v));
    if (in.has("q1")) {
      std::fill_n(raw::write<double>(k), k.numel(), 7.0);
      std::fill_n(raw::write<double>(v), v.numel(), -7.0);
      others.push_back(decode(other, piece("q1"), piece("k1"), piece("v1")));
    }
    done = end;
  }
  out("y", isobar::concat(all, 0));
  if (in.has("q1")) out("y1", isobar::concat(others, 0));
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
