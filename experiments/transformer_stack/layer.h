// TransformerLayer: the layer that source 001 prints in section 7, with its four ways of placing the norms.
//
//   source001       h = x + dropout1(self_attn(norm1(x)))    y = h + linear2(dropout2(relu(linear1(norm2(h)))))
//   none            the same without norms
//   post            h = norm1(x + dropout1(self_attn(x)))    y = norm2(h + linear2(dropout2(relu(linear1(h)))))
//   residual_free   h = self_attn(norm1(x))                  y = linear2(dropout2(relu(linear1(norm2(h)))))
//                                                                                 (source 003, section 1.1)
//
// There is no mask and no final norm. dropout2 is inside the feed-forward part, after the ReLU; nothing is
// dropped from that part's output. The parameters have PyTorch's names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../nn/nn.h"

namespace isobar::transformer_stack {

inline const Choices placements = {"source001", "none", "post", "residual_free"};

struct LayerOptions {
  int64_t d_model = 64, nhead = 4, dim_feedforward = 256;
  std::string placement = "source001";
  double dropout = 0.1;  // nn.Dropout(0.1), twice
  // A name for make_norm, with source 001's eps, 1e-6, and without a bias, so that norms differ in their formula alone.
  std::string norm = "rmsnorm";
};

// x (B, T, d_model) → (B, T, d_model).
struct TransformerLayer : Module {
  std::string placement;
  MultiheadAttention self_attn;
  Linear linear1, linear2;
  std::unique_ptr<Module> norm1, norm2;  // the identity for "none"
  Dropout dropout1, dropout2;
  ReLU activation;

  TransformerLayer(const LayerOptions& options, const Rng& rng);
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;

 private:
  Tensor feed_forward(const Tensor& x);
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
