// SaturationProbe: which share of a module's output is zero, and which share of a bounded layer's elements is
// saturated.
//
// An element is saturated where the slope of its layer is less than a tenth of its greatest slope, at 0:
// there a gradient hardly passes any more (Glorot & Bengio 2010, "Understanding the difficulty of training
// deep feedforward neural networks", sections 3 and 4; the tenth is ours). With u the output before weight
// and bias as a share of its bound, the slope as a share of the greatest one is
//   tanh: 1 − u²                  saturated for |u| > √0.9        (DyT, DyTSqrtD, Softcap)
//   x / √(x² + c): (1 − u²)^3/2              |u| > √(1 − 0.1^2/3)  (DyISRU, ISRUClip)
//   erf: exp(−erf⁻¹(u)²)                     |u| > erf(√(ln 10))   (Derf)
#pragma once

#include "../../../nn/observe.h"

namespace isobar {

// Shares of the elements, 0 … 1. NaN: an output of integers or of no elements; saturated is NaN too for a
// layer that is not in the list above, and counts no element whose weight is 0.
struct SaturatedShares {
  double zeros, saturated;
};
// `y` is an output of the module.
SaturatedShares shares_of(const Module& module, const Tensor& y);

// Keeps the shares of each module's last output, by path. One pass over an output, and one more for a bounded
// layer.
class SaturationProbe : public Observer {
 public:
  void on_output(const Module& module, const Tensor& y) override;
  void on_output_gradient(const Module&, const Tensor&) override {}

  // Null where the module was not called.
  const SaturatedShares* find(const std::string& path) const;
  void clear() { shares_.clear(); }

 private:
  std::map<std::string, SaturatedShares> shares_;
};

}  // namespace isobar
