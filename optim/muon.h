// Muon: momentum, orthogonalized, for the matrices inside a network (Jordan et al. 2024, "Muon: An optimizer
// for hidden layers in neural networks", https://kellerjordan.github.io/posts/muon). For w (rows, cols):
//
//   m ← momentum · m + dw
//   o = newton_schulz(dw + momentum · m)               (of m without Nesterov; see kernels/newton_schulz.h)
//   w ← (1 − lr · weight_decay) w − lr · √max(1, rows/cols) · o
//
// All singular values of o are about 1, whatever those of the gradient: rare directions are learned as fast
// as common ones. lr is the size of a step, about 0.02. The scale of the gradient has no influence if its
// norm is far above 1e-7, which newton_schulz adds to the norm as the paper does. Smaller gradients make
// smaller steps.
//
//   Muon muon(matrices, {.lr = 0.02});
//   AdamW rest(embeddings_head_and_vectors, {.lr = 3e-3});
#pragma once

#include "optimizer.h"

namespace isobar {

struct MuonOptions {
  double lr = 0.02;
  double momentum = 0.95;  // in [0, 1)
  bool nesterov = true;
  double weight_decay = 0;  // decoupled, as AdamW's
  int64_t rounds = 5;       // of Newton-Schulz, at least 1
};

// Every parameter must be a matrix; the constructor throws Error for others. Give embeddings and output
// layers to AdamW, although they have two dimensions.
class Muon final : public Optimizer {
 public:
  explicit Muon(const std::vector<Tensor>& parameters, const MuonOptions& options = {});
  explicit Muon(const std::vector<ParameterGroup>& groups, const MuonOptions& options = {});

 private:
  void update(const Update& u, int64_t begin, int64_t end) const override;
  void update_all(const std::vector<Update>& all) const override;
  template <class T>
  void orthogonal_step(const Update& u, const Slice<T>& run, T* x) const;

  const MuonOptions options_;
};

}  // namespace isobar
