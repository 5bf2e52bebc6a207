// Activations as modules, for Sequential and for observation. Each calls the op of the same name.
#pragma once

#include "module.h"

namespace isobar {

// max(0, x)
struct ReLU : Module {
  Tensor forward(const Tensor& x) override { return relu(x); }
};

// max(0, x)² (So et al. 2021, Primer)
struct SquaredReLU : Module {
  Tensor forward(const Tensor& x) override { return squared_relu(x); }
};

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

}  // namespace isobar
