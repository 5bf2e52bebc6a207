// AdamW: Adam with decoupled weight decay (Loshchilov & Hutter 2019): w ← (1 − lr · weight_decay) w, then
// Adam's step on the loss gradient alone. Results equal torch.optim.AdamW.
//
//   AdamW optimizer(parameters(model), {.lr = 1e-3, .beta2 = 0.99, .weight_decay = 0.1});
#pragma once

#include "optimizer.h"

namespace isobar {

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;    // decay of the running mean of gradients, in [0, 1)
  double beta2 = 0.999;  // decay of the running mean of their squares, in [0, 1)
  double eps = 1e-8;     // added to the root of the second moment
  double weight_decay = 0.01;
};

class AdamW final : public Optimizer {
 public:
  explicit AdamW(const std::vector<Tensor>& parameters, const AdamWOptions& options = {});
  explicit AdamW(const std::vector<ParameterGroup>& groups, const AdamWOptions& options = {});

 private:
  void update(const Update& u) const override;

  const AdamWOptions options_;
};

}  // namespace isobar
