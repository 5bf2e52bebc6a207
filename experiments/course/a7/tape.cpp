// A page of your own functions: rotations, attention and a gate, recorded on the library's tape with what you
// have written. Change the numbers as you like.
//
//   cmake --build build --target tape && build/tape      # after ./check; writes tape.html, for a browser
#include <isobar/autograd/check/tape_page.h>
#include <isobar/autograd/ops.h>
#include <isobar/core/rng.h>

#include <array>
#include <cstdio>

#include "a7.h"

using isobar::record, isobar::Scope, isobar::Tape, isobar::TapeTrace;

namespace {

constexpr double base = 100;

Tensor your_rope(const Tensor& x) {
  return record("your rope", ::rope(x, base, 0), {x},
                [](const Tensor& dy) { return ::rope_backward(dy, base, 0); });
}

Tensor your_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Attention out = ::attention(q, k, v, true);
  return record("your attention", out.y, {q, k, v}, [=, p = out.probability](const Tensor& dy) {
    const AttentionGradients found = attention_backward(dy, q, k, v, p);
    return std::array{found.dq, found.dk, found.dv};
  });
}

Tensor your_swiglu(const Tensor& gate, const Tensor& up) {
  return record("your swiglu", ::swiglu(gate, up), {gate, up}, [=](const Tensor& dy) {
    const SwigluGradients found = swiglu_backward(dy, gate, up);
    return std::array{found.dgate, found.dup};
  });
}

Tensor loss_of(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& up) {
  Tensor y;
  {
    const Scope scope(Scope::intern("attention"));
    const Tensor turned_q = your_rope(q), turned_k = your_rope(k);
    y = your_attention(turned_q, turned_k, v);
  }
  return isobar::sum(your_swiglu(y, up));
}

}  // namespace

// Three positions, two heads that share one head of keys and values, two channels.
int main() try {
  const isobar::Rng rng(1);
  const auto draw = [&](const char* name, const Shape& shape) {
    return rng.split(name).normal(shape, 0, 1, Dtype::f64).set_trainable();
  };
  const Tensor q = draw("q", {3, 2, 2}), k = draw("k", {3, 1, 2}), v = draw("v", {3, 1, 2});
  const Tensor up = draw("up", {3, 2, 2});
  const TapeTrace trace;
  Tape tape;
  tape.backward(loss_of(q, k, v, up));
  isobar::tape_page(trace, "tape.html", {{"q", q}, {"k", k}, {"v", v}, {"up", up}});
} catch (const std::exception& error) {
  std::fprintf(stderr, "tape: %s\n", error.what());
  return 1;
}
