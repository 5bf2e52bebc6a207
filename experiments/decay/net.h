// Net: a deep net of equal layers, in any of the study's topologies. N is the norm (identity for "none"),
// f(x) = W2 relu(W1 x + b1) + b2:
//
//   plain      relu(N(W1 x + b1)), or N(relu(W1 x + b1)) for order relu_norm
//   residual   x + f(x)
//   pre        x + f(N(x))
//   post       N(x + f(x))
//   skipinit   x + a f(x), a = 1/√depth                 nn/skip_init.h
//   rezero     x + a f(x), a = 0                        nn/skip_init.h
//   fixup      x + s f(x + c1) + c3, c2 before relu     nn/fixup.h
#pragma once

#include "../../nn/nn.h"
#include "config.h"

namespace isobar::decay {

// One layer, made of the library's modules, x (B, C) → (B, C), and the parts of it that the study measures.
struct Layer {
  std::unique_ptr<Module> whole = nullptr;
  Linear* linear1 = nullptr;
  Module* norm = nullptr;  // null without one
  Module* relu = nullptr;
};

Layer make_layer(const Config& config, const Rng& rng);

// `depth` layers, named "1", "2", … Each part of each layer draws from a stream of its own name, so nets that
// differ in one setting share all other random numbers.
struct Net : Module {
  std::vector<Layer> layers;

  Net(const Config& config, const Rng& rng);
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;
};

}  // namespace isobar::decay
