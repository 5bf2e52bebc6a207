// Mish: y = x tanh(ln(1 + eˣ))                                                      (Misra 2019, equation 1)
//   s = ln(1 + eˣ), t = tanh(s)     dx = dy (t + x (1 − t²) sigmoid(x))
#pragma once

#include <isobar/autograd/tape.h>
#include <isobar/nn/module.h>

struct Mish : isobar::Module {
  isobar::Tensor forward(const isobar::Tensor& x) override {
    if (isobar::composed_wanted()) return x * tanh_of_softplus(x);
    isobar::Tensor t, y;
    {
      const isobar::NoTape pause;
      t = tanh_of_softplus(x);
      y = x * t;
    }
    return record("mish", y, {x}, [x = x.detach(), t](const isobar::Tensor& dy) {
      return dy * (t + x * (1 - square(t)) * sigmoid(x));
    });
  }
  void fields(isobar::Fields&) override {}

 private:
  // ln(1 + eˣ) = max(x, 0) + ln(1 + e^−|x|) does not overflow.
  static isobar::Tensor tanh_of_softplus(const isobar::Tensor& x) {
    const isobar::Tensor size = relu(x) + relu(-x);
    return tanh(relu(x) + log(exp(-size) + 1));
  }
};
