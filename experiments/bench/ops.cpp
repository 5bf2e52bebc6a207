// Single ops, forward and backward, and AdamW alone: what bounds them is memory, or, of tiny ones, the tape.
// N rows of C channels or V symbols.
#include "../../autograd/autograd.h"
#include "../../optim/optim.h"
#include "case.h"

namespace isobar::bench {

using Tensors = std::vector<Tensor>;

// y = f(tensors): `inputs` of (N, C), then the parameters. All are trainable, and dy is given. At least
// `moved` times N C floats are read or written, in as many different arrays as `arrays` says.
struct Op {
  std::string name;
  size_t inputs;
  double moved, arrays;
  std::function<Tensor(const Tensors&)> f;
  std::function<Tensors(int64_t c)> parameters = [](int64_t) { return Tensors(); };
};

void add_op(Cases& cases, const Op& op, int64_t n, int64_t c) {
  const double bytes = 4.0 * static_cast<double>(n * c);
  cases.push_back({.name = fmt::format("{}_fwdbwd_{}x{}", op.name, n, c),
                   .work = moved_bytes(op.moved * bytes, op.arrays * bytes),
                   .setup = [op, n, c] {
                     Tensors t;
                     for (size_t i = 0; i < op.inputs; ++i) t.push_back(Rng(0).split(i).normal({n, c}));
                     for (const Tensor& parameter : op.parameters(c)) t.push_back(parameter);
                     for (Tensor& x : t) x.set_trainable();
                     return Step([t, f = op.f, dy = Rng(0).split("dy").normal({n, c})] {
                       Tape tape;
                       tape.backward(f(t), dy);
                       for (const Tensor& x : t) x.clear_grad();
                     });
                   }});
}

// x is read and y written; dy and x (or y) are read and dx written.
void add_norms(Cases& cases) {
  const Op norms[] = {
      {"rmsnorm", 1, 5, 4, [](const Tensors& t) { return rms_norm(t[0], t[1].shape(), t[1], 1e-5); },
       [](int64_t c) { return Tensors{ones({c})}; }},
      {"layernorm", 1, 5, 4,
       [](const Tensors& t) { return layer_norm(t[0], t[1].shape(), t[1], t[2], 1e-5); },
       [](int64_t c) {
         return Tensors{ones({c}), zeros({c})};
       }},
      {"dyt", 1, 5, 4, [](const Tensors& t) { return dyt(t[0], t[1], t[2], t[3]); },
       [](int64_t c) {
         return Tensors{full({1}, 0.5), ones({c}), zeros({c})};
       }},
      {"dyisru", 1, 5, 4, [](const Tensors& t) { return dyisru(t[0], t[1], t[2], t[3]); },
       [](int64_t c) {
         return Tensors{ones({1}), ones({c}), zeros({c})};
       }}};
  for (const Op& norm : norms)
    for (const auto& [n, c] : {std::pair{4096, 512}, {4096, 2048}, {8192, 768}, {32, 512}})
      add_op(cases, norm, n, c);
}

// Of swiglu both arguments are read and y written; dy and both are read and both gradients written.
void add_elementwise(Cases& cases) {
  const Op ops[] = {{"relu", 1, 5, 4, [](const Tensors& t) { return relu(t[0]); }},
                    {"silu", 1, 5, 4, [](const Tensors& t) { return silu(t[0]); }},
                    {"gelu_tanh", 1, 5, 4, [](const Tensors& t) { return gelu_tanh(t[0]); }},
                    {"mish", 1, 5, 4, [](const Tensors& t) { return mish(t[0]); }},
                    {"softmax", 1, 5, 4, [](const Tensors& t) { return softmax(t[0]); }},
                    {"swiglu", 2, 8, 6, [](const Tensors& t) { return swiglu(t[0], t[1]); }}};
  for (const Op& op : ops) add_op(cases, op, 4096, 1024);
  // The logits are read twice and their gradient is written: 3 N V floats moved, in two arrays.
  constexpr int64_t n = 4096, v = 32000;
  constexpr double bytes = 4.0 * n * v;
  cases.push_back(
      {.name = "cross_entropy_fwdbwd_4096x32000", .work = moved_bytes(3 * bytes, 2 * bytes), .setup = [] {
         const Rng rng(0);
         return Step([logits = rng.split("logits").normal({n, v}).set_trainable(),
                      targets = rng.split("targets").integers({n}, v)] {
           Tape tape;
           tape.backward(cross_entropy(logits, targets));
           logits.clear_grad();
         });
       }});
}

// A product of the weight with windows of 3 × 3: 2 flops for each entry of a window, forward, for dx and for dw.
void add_convolutions(Cases& cases) {
  constexpr int64_t n = 64, c = 32, o = 64, side = 28;
  cases.push_back({.name = "conv2d_fwdbwd_64x32x28x28",
                   .work = product_flops(3 * 2.0 * n * side * side * o * c * 9),
                   .setup = [] {
                     const Rng rng(0);
                     return Step([x = rng.split("x").normal({n, c, side, side}).set_trainable(),
                                  weight = rng.split("weight").normal({o, c, 3, 3}).set_trainable(),
                                  bias = zeros({o}).set_trainable(),
                                  dy = rng.split("dy").normal({n, o, side, side})] {
                       Tape tape;
                       tape.backward(conv2d(x, weight, bias, {.padding = 1}), dy);
                       for (const Tensor& t : {x, weight, bias}) t.clear_grad();
                     });
                   }});
}

// What an op costs besides its arithmetic: ten thousand tiny additions on one tape.
void add_tape(Cases& cases) {
  constexpr int64_t count = 10000;
  cases.push_back({.name = "chain_add_10000_16x16_fwdbwd", .work = ops(count), .setup = [] {
                     const Rng rng(0);
                     return Step([w = rng.split("w").normal({16, 16}).set_trainable(),
                                  x = rng.split("x").normal({16, 16}), dy = ones({16, 16})] {
                       Tape tape;
                       Tensor y = x;
                       for (int64_t i = 0; i < count; ++i) y = y + w;
                       tape.backward(y, dy);
                       w.clear_grad();
                     });
                   }});
}

// Weight, gradient and both moments are read, all but the gradient written: 7 floats an element, in four
// arrays.
void add_optimizers(Cases& cases) {
  for (const auto& [tensors, elements] : {std::pair<size_t, int64_t>{64, 262144}, {128, 512}}) {
    const double bytes = 4.0 * static_cast<double>(tensors) * static_cast<double>(elements);
    const auto setup = [count = tensors, size = elements] {
      Tensors weights, gradients;
      for (size_t i = 0; i < count; ++i) {
        weights.push_back(Rng(0).split("weight").split(i).normal({size}).set_trainable());
        gradients.push_back(Rng(0).split("gradient").split(i).normal({size}));
      }
      return Step([weights, gradients, optimizer = std::make_shared<AdamW>(weights)] {
        for (size_t i = 0; i < weights.size(); ++i) weights[i].set_grad(gradients[i]);
        optimizer->step();
      });
    };
    cases.push_back({.name = fmt::format("opt_adamw_{}x{}", tensors, elements),
                     .work = moved_bytes(7 * bytes, 4 * bytes),
                     .setup = setup});
  }
}

}  // namespace isobar::bench
