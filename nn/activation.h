// Activations as modules, for Sequential and for observation: x of any shape → the same shape. Each calls the
// op of the same name, and has its gradient and errors.
#pragma once

#include "module.h"

namespace isobar {

// max(0, x)
struct ReLU : Module {
  Tensor forward(const Tensor& x) override { return relu(x); }
};

// x where x > 0, elsewhere negative_slope · x (Maas et al. 2013)
struct LeakyReLU : Module {
  double negative_slope;

  explicit LeakyReLU(double slope = 0.01) : negative_slope(slope) {}
  Tensor forward(const Tensor& x) override { return leaky_relu(x, negative_slope); }
};

// x where x > 0, elsewhere alpha · (eˣ − 1) (Clevert et al. 2016)
struct ELU : Module {
  double alpha;

  explicit ELU(double scale = 1) : alpha(scale) {}
  Tensor forward(const Tensor& x) override { return elu(x, alpha); }
};

// (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ)
struct Tanh : Module {
  Tensor forward(const Tensor& x) override { return tanh(x); }
};

// 1 / (1 + e⁻ˣ)
struct Sigmoid : Module {
  Tensor forward(const Tensor& x) override { return sigmoid(x); }
};

// eˣ / Σ eˣ along dim. cross_entropy() takes logits, so a classifier has no Softmax before it.
struct Softmax : Module {
  int dim;

  explicit Softmax(int along = -1) : dim(along) {}
  Tensor forward(const Tensor& x) override { return softmax(x, dim); }
};

// max(0, x)² (So et al. 2021, Primer)
struct SquaredReLU : Module {
  Tensor forward(const Tensor& x) override { return squared_relu(x); }
};

// The forms of GELU: exact by erf, or approximated by tanh.
enum class GeluForm { erf, tanh };

// x Φ(x), with Φ the standard normal distribution function; GPT-2 uses the tanh approximation.
struct GELU : Module {
  GeluForm form;

  explicit GELU(GeluForm chosen = GeluForm::erf) : form(chosen) {}
  Tensor forward(const Tensor& x) override { return form == GeluForm::erf ? gelu(x) : gelu_tanh(x); }
};

// x sigmoid(x)
struct SiLU : Module {
  Tensor forward(const Tensor& x) override { return silu(x); }
};

// x tanh(softplus(x)) (Misra 2019)
struct Mish : Module {
  Tensor forward(const Tensor& x) override { return mish(x); }
};

// Identity: y = x. It replaces a layer that is left out, so that the code around it needs no condition.
struct Identity : Module {
  Tensor forward(const Tensor& x) override { return x; }
};

// Softcap: y = cap · tanh(x / cap), so |y| < cap (Gemma 2).
struct Softcap : Module {
  double cap;  // above 0

  explicit Softcap(double bound) : cap(bound) {
    check(cap > 0, "softcap: wanted a cap above 0, got {}", cap);
  }
  Tensor forward(const Tensor& x) override { return softcap(x, cap); }
};

// ISRUClip: y = x / √(1 + (x/cap)²), so |y| < cap: the clip that the inverse square root unit (Carlile et al.
// 2017) gives in place of Softcap's tanh. |x| up to 1e19 · cap in f32: beyond, (x/cap)² is infinite and y
// falls to 0.
struct ISRUClip : Module {
  double cap;  // above 0

  explicit ISRUClip(double bound) : cap(bound) {
    check(cap > 0, "isru_clip: wanted a cap above 0, got {}", cap);
  }
  Tensor forward(const Tensor& x) override { return x / sqrt(square(x / cap) + 1); }
};

}  // namespace isobar
