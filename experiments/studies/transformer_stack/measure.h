// Config: every knob of transformer_stack. The defaults are a layer that is small enough for 384 of them.
#pragma once

#include "../../nets/transformer/layer.h"

namespace isobar::transformer_stack {

// A stack to measure: where its norms are, in evaluation or in training (dropout), and its layers.
struct Kind {
  std::string name;  // "source001_train"; the key of its measured values
  LayerOptions options;
  bool training;
};

struct Config : HasFields {
  std::vector<std::string> kinds = {"source001", "source001_train", "none", "post", "residual_free"};
  std::vector<int64_t> depths = {6, 24, 96, 384};  // 96 is "96 layers and more" of 003
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

// --- What the study measures in a stack: the signal after every layer, and every layer's gradient.

// Of one layer in one run, over all elements of the stream (B, T, C), summed in double; stds have n − 1.
struct LayerSignal {
  double std, mean;
  double along_one;     // root mean square over the rows of cos(row, (1, …, 1))
  double token_cosine;  // Σ x_s · x_t over pairs s ≠ t of positions of a sequence, over their mean square
  double gradient_norm;  // of all parameters of the layer together

  template <class Visitor>
  void values(Visitor& f) {
    f("std", std), f("mean", mean), f("along_one", along_one), f("token_cosine", token_cosine);
    f("gradient_norm", gradient_norm);
  }
};

// One run: builds the stack of this seed, sends B sequences of normal numbers up, and a random cotangent
// (normal numbers, which the loss multiplies the output with) down. Both depend on seed and sizes alone.
std::vector<LayerSignal> measure(const Config& config, const Kind& kind, int64_t depth, int64_t seed);

// --- The closed form of the stream's std, for initial weights and an input of independent normal numbers.
//
// Followed are q, the mean square of the stream, and r, the mean product of two positions of a sequence; the
// mean over nets is 0, so std = √q. A branch reads u = q and v = r, or after a norm u = 1, v = r/q.
//   attention   in_proj is Xavier uniform on (3C, C): variance 1/(2C), so values have mean square u/2, and
//               logits q·k/√D differ by a variance s² = (u/2)² (1 − v/u). The softmax's weights over T positions
//               sum to 1, their squares to about e^(s²)/T (normal logits, s² ≤ 1). out_proj, U(±1/√C), takes 1/3
//               of it: own position a = (v + (u − v) e^(s²)/T) / 6, two positions a' = (v + (u − v)/T) / 6.
//   feed-forward   p = u/3 + 1/3C before the ReLU, p/2 after it (two positions: p/2 κ(ρ), see nets/decay/theory.h);
//               linear2 takes 1/3 and adds its bias, 1/3F: f = p/6 + 1/3F, f' = p κ(ρ)/6 + 1/3F.
// Dropout multiplies a position's own mean squares, a and p/6, by 1/(1 − 0.1), and leaves the products alone.
// Source 001's layer adds: q ← q + a + f, r ← r + a' + f', with branches that do not grow. So
//   std after L layers = √(1 + c L),
// where c grows from 1/14 (T = 16, independent positions) to 1/6 + 1/18 (equal positions): the positions
// become alike. A norm at the end of each branch (peri) makes a = f = 1: std √(1 + 2L). Without norms u grows
// with the stream; from the layer where s² > 1 on there is no closed form (NaN).

struct LayerTheory {
  double std, token_cosine;
};

// One per layer.
std::vector<LayerTheory> theory_of(const Config& config, const Kind& kind, int64_t depth);

}  // namespace isobar::transformer_stack
