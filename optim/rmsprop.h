// RMSprop: steps divided by the root of a running mean of squared gradients (Tieleman & Hinton 2012, lecture 6.5;
// Graves 2013 for the centred form). Results equal torch.optim.RMSprop.
//
//   RMSprop optimizer(parameters(model), {.lr = 1e-3, .momentum = 0.9});
#pragma once

#include "optimizer.h"

namespace isobar {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;      // decay of the running mean of squares, in [0, 1)
  double eps = 1e-8;        // added to the root
  double weight_decay = 0;  // an L2 penalty
  double momentum = 0;      // 0 keeps no state for it
  bool centered = false;    // true: divides by an estimate of the standard deviation
};

class RMSprop final : public Optimizer {
 public:
  explicit RMSprop(const std::vector<Tensor>& parameters, const RMSpropOptions& options = {});
  explicit RMSprop(const std::vector<ParameterGroup>& groups, const RMSpropOptions& options = {});

 private:
  void update(const Update& u, int64_t begin, int64_t end) const override;

  const RMSpropOptions options_;
};

}  // namespace isobar
