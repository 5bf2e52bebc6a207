// Activations, softmax and cross-entropy, forward and backward. N rows of C channels or V symbols.
#include "../../autograd/autograd.h"
#include "case.h"

namespace isobar::bench {
namespace {

// x is read and y written; dy and x (or y) are read and dx written: 5 N C floats moved, in four arrays.
void add_activation(Cases& cases, const std::string& name, Tensor (*f)(const Tensor&)) {
  constexpr int64_t n = 4096, c = 1024;
  constexpr double bytes = 4.0 * n * c;
  cases.push_back(
      {.name = name + "_fwdbwd_4096x1024", .work = moved_bytes(5 * bytes, 4 * bytes), .setup = [f] {
         const Rng rng(0);
         Tensor x = rng.split("x").normal({n, c});
         x.set_trainable();
         return Step([f, x, dy = rng.split("dy").normal({n, c})] {
           Tape tape;
           tape.backward(f(x), dy);
           x.clear_grad();
         });
       }});
}

// y = silu(gate) · up: both are read and y written; dy and both are read and both gradients written: 8 N C floats moved, in
// six arrays.
void add_swiglu(Cases& cases) {
  constexpr int64_t n = 4096, c = 1024;
  constexpr double bytes = 4.0 * n * c;
  cases.push_back({.name = "swiglu_fwdbwd_4096x1024", .work = moved_bytes(8 * bytes, 6 * bytes), .setup = [] {
                     const Rng rng(0);
                     Tensor gate = rng.split("gate").normal({n, c}), up = rng.split("up").normal({n, c});
                     gate.set_trainable();
                     up.set_trainable();
                     return Step([gate, up, dy = rng.split("dy").normal({n, c})] {
                       Tape tape;
                       tape.backward(swiglu(gate, up), dy);
                       gate.clear_grad();
                       up.clear_grad();
                     });
                   }});
}

// The logits are read twice and their gradient is written: 3 N V floats moved, in two arrays.
void add_cross_entropy(Cases& cases) {
  constexpr int64_t n = 4096, v = 32000;
  constexpr double bytes = 4.0 * n * v;
  cases.push_back(
      {.name = "cross_entropy_fwdbwd_4096x32000", .work = moved_bytes(3 * bytes, 2 * bytes), .setup = [] {
         const Rng rng(0);
         Tensor logits = rng.split("logits").normal({n, v});
         logits.set_trainable();
         return Step([logits, targets = rng.split("targets").integers({n}, v)] {
           Tape tape;
           tape.backward(cross_entropy(logits, targets));
           logits.clear_grad();
         });
       }});
}

}  // namespace

void add_elementwise(Cases& cases) {
  add_activation(cases, "relu", relu);
  add_activation(cases, "silu", silu);
  add_activation(cases, "gelu_tanh", gelu_tanh);
  add_activation(cases, "mish", mish);
  add_activation(cases, "softmax", softmax);
  add_swiglu(cases);
  add_cross_entropy(cases);
}

}  // namespace isobar::bench
