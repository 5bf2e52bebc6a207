// Adam: steps scaled by running moments of the gradient (Kingma & Ba 2015, algorithm 1), and AdamW: the same
// with decoupled weight decay (Loshchilov & Hutter 2019, algorithm 2). Adam's weight decay is an L2 penalty:
// its gradient weight_decay · w passes through the moments. AdamW decays the weights themselves:
// w ← (1 − lr · weight_decay) w, then Adam's step on the loss gradient alone. Results equal
// torch.optim.Adam and torch.optim.AdamW.
//
//   AdamW optimizer(parameters(model), {.lr = 1e-3, .beta2 = 0.99, .weight_decay = 0.1});
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

class Adam : public Optimizer {
 public:
  explicit Adam(const std::vector<Tensor>& parameters, const AdamOptions& options = {});
  explicit Adam(const std::vector<ParameterGroup>& groups, const AdamOptions& options = {});

 protected:
  enum class Decay { penalty, decoupled };
  Adam(const char* op, const char* writer, Decay decay, const std::vector<ParameterGroup>& groups,
       const AdamOptions& options);

 private:
  void update(const Update& u, int64_t begin, int64_t end) const override;

  const AdamOptions options_;
  const Decay decay_;
};

// As AdamOptions, with another default for weight_decay.
struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
};

class AdamW final : public Adam {
 public:
  explicit AdamW(const std::vector<Tensor>& parameters, const AdamWOptions& options = {});
  explicit AdamW(const std::vector<ParameterGroup>& groups, const AdamWOptions& options = {});
};

}  // namespace isobar
