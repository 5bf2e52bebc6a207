// TransformerLayer: the layer that source 001 prints in section 7, with its ways of placing the norms.
//
//   source001       h = x + dropout1(self_attn(norm1(x)))  y = h + linear2(dropout2(relu(linear1(norm2(h)))))
//   none            the same without norms
//   post            h = norm1(x + dropout1(self_attn(x)))  y = norm2(h + linear2(dropout2(relu(linear1(h)))))
//   residual_free   h = dropout1(self_attn(norm1(x)))        y = linear2(dropout2(relu(linear1(norm2(h)))))
//                                                                                 (source 003, section 1.1)
//   peri            source001 with a norm at the end of each branch (Kim et al. 2025)
//
// There is no mask and no final norm. dropout2 is inside the feed-forward part, after the ReLU; nothing is
// dropped from that part's output. The parameters have PyTorch's names.
#pragma once

#include "../../../nn/lm/lm.h"
#include "../../../nn/nn.h"

namespace isobar::transformer_stack {

struct LayerOptions {
  int64_t d_model = 64, nhead = 4, dim_feedforward = 256;
  std::string placement = "source001";
  double dropout = 0.1;  // nn.Dropout(0.1), twice
  // For make_norm, with source 001's eps, 1e-6, and without a bias: norms differ in their formula alone.
  std::string norm = "rmsnorm";
};

// x (B, T, d_model) → (B, T, d_model): the library's block, whose fields have the names of source 001.
struct TransformerLayer : TransformerBlock {
  TransformerLayer(const LayerOptions& options, const Rng& rng);
  void fields(Fields& f) override;
};

// `depth` layers, named "1", "2", …, one after the other. Each draws its weights from a stream of its own
// name: stacks of other depths or placements have the same first layers.
struct Stack : Module {
  std::vector<TransformerLayer> layers;

  Stack(int64_t depth, const LayerOptions& options, const Rng& rng);
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;
};

}  // namespace isobar::transformer_stack
