// TypedNorm: the norm of a formula that a user typed, by the library's ops: w is a weight per channel, b a
// bias.
#pragma once

#include "../../nn/module.h"
#include "../page/live/formula.h"

namespace isobar::duel {

struct TypedNorm : Module {
  live::Formula formula;
  Tensor weight, bias;  // undefined where the formula has none

  TypedNorm(live::Formula parsed, const Shape& width);
  // x (…, C); mean and sum are over the last dimension.
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;
};

}  // namespace isobar::duel
