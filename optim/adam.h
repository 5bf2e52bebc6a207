// Adam: steps scaled by running moments of the gradient (Kingma & Ba 2015). Weight decay is an L2 penalty:
// its gradient passes through the moments; AdamW decays the weights themselves. Results equal
// torch.optim.Adam.
//
//   Adam optimizer(parameters(model), {.lr = 3e-4});
#pragma once

#include "optimizer.h"

namespace isobar {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;    // decay of the running mean of gradients, in [0, 1)
  double beta2 = 0.999;  // decay of the running mean of their squares, in [0, 1)
  double eps = 1e-8;     // added to the root of the second moment
  double weight_decay = 0;
};

class Adam final : public Optimizer {
 public:
  explicit Adam(const std::vector<Tensor>& parameters, const AdamOptions& options = {});
  explicit Adam(const std::vector<ParameterGroup>& groups, const AdamOptions& options = {});

 private:
  void update(const Update& u) const override;

  const AdamOptions options_;
};

}  // namespace isobar
