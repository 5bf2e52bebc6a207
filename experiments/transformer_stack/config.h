// Config: every knob of transformer_stack. The defaults are a layer that is small enough for 384 of them.
#pragma once

#include "layer.h"

namespace isobar::transformer_stack {

// A stack to measure: where its norms are, in evaluation or in training (dropout), and its layers.
struct Kind {
  std::string name;  // "source001_train"; the key of its measured values
  LayerOptions options;
  bool training;
};

struct Config : HasFields {
  std::vector<std::string> kinds = {"source001", "source001_train", "none", "post", "residual_free"};
  std::vector<int64_t> depths = {6, 24, 96,
                                 384};  // each four times the one before; 96 is "96 layers and more" of 003
  int64_t d_model = 64;
  int64_t nhead = 4;
  int64_t dim_feedforward = 256;  // 4 d_model, as in source 001's (512, 8, 2048)
  int64_t length = 16;            // positions of a sequence, T
  int64_t batch = 8;              // sequences, B
  int64_t seeds = 20;             // stds differ by some percent from seed to seed, gradients by some ten

  void fields(Fields& f) override;
  // Takes fewer heads where those there are do not divide d_model. Returns a sentence that says so, or none.
  std::vector<std::string> fit_heads();
  // Throws Error naming the flag for sizes that do not go together.
  void check_together() const;
  std::vector<Kind> kind_list() const;
};

}  // namespace isobar::transformer_stack
