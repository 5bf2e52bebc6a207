// SGD: stochastic gradient descent, w ← w − lr · d with d = dw + weight_decay · w; with momentum
// m ← momentum · m + d takes the place of d, and with Nesterov d + momentum · m does (Sutskever et al. 2013).
// Results equal torch.optim.SGD with dampening 0.
//
//   SGD optimizer(parameters(model), {.lr = 0.1, .momentum = 0.9});
#pragma once

#include "optimizer.h"

namespace isobar {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;      // 0 keeps no state
  bool nesterov = false;    // needs momentum
  double weight_decay = 0;  // an L2 penalty
};

class SGD final : public Optimizer {
 public:
  explicit SGD(const std::vector<Tensor>& parameters, const SGDOptions& options = {});
  explicit SGD(const std::vector<ParameterGroup>& groups, const SGDOptions& options = {});

 private:
  void update(const Update& u, int64_t begin, int64_t end) const override;

  const SGDOptions options_;
};

}  // namespace isobar
