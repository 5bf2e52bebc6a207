// Net: a deep net of equal layers, in any of the study's topologies. N is the norm (identity for "none"),
// f(x) = W2 relu(W1 x + b1) + b2:
//
//   plain      relu(N(W1 x + b1)), or N(relu(W1 x + b1)) for order relu_norm
//   residual   x + f(x)
//   pre        x + f(N(x))
//   post       N(x + f(x))
//   skipinit   x + a f(x), a = 1/√depth                                                  (De & Smith 2020)
//   rezero     x + a f(x), a = 0                                                 (Bachlechner et al. 2021)
//   fixup      x + s W2 relu(W1 (x + c1) + c2) + c3, W2 = 0, W1 He's × depth^(−1/2), s = 1, c = 0
//                                                                                    (Zhang et al. 2019)
//
// The modules are the library's own; a Layer only says how they are put together.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "../../core/rng.h"
#include "../../nn/nn.h"
#include "config.h"

namespace isobar::decay {

// x (B, C) → (B, C). Parts that its topology lacks are absent or undefined.
struct Layer : Module {
  std::string topology, order;
  Linear linear1;
  std::unique_ptr<Module> norm;
  ReLU relu;
  std::optional<Linear> linear2;
  Tensor scale;                   // a or s, [1]
  Tensor shift1, shift2, shift3;  // c of fixup, [1]

  Layer(const Config& config, const Rng& rng);
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;
};

// `depth` layers, named "1", "2", … Each part of each layer draws from a stream of its own name, so nets that
// differ in one setting share all other random numbers.
struct Net : Module {
  std::vector<Layer> layers;

  Net(const Config& config, const Rng& rng);
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;
};

}  // namespace isobar::decay
