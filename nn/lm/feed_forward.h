// FeedForward: y = linear2(dropout(activation(linear1(x)))), named as in PyTorch's
// nn.TransformerEncoderLayer.
#pragma once

#include <memory>

#include "../activation.h"
#include "../dropout.h"
#include "../linear.h"

namespace isobar {

struct FeedForwardOptions {
  bool bias = true;
  double dropout = 0;  // after the activation
};

// x (…, n_embd) → (…, n_embd), with `hidden` channels in between. The activation is any elementwise module.
struct FeedForward : Module {
  Linear linear1, linear2;
  std::unique_ptr<Module> activation;
  Dropout dropout;

  FeedForward(int64_t n_embd, int64_t hidden, std::unique_ptr<Module> chosen_activation, const Rng& rng,
              FeedForwardOptions options = {})
      : linear1(n_embd, hidden, rng.split("linear1"), {.bias = options.bias}),
        linear2(hidden, n_embd, rng.split("linear2"), {.bias = options.bias}),
        activation(std::move(chosen_activation)),
        dropout(options.dropout) {
    check(activation != nullptr, "feed_forward: the activation is null; wanted a module");
  }

  Tensor forward(const Tensor& x) override { return linear2(dropout((*activation)(linear1(x)))); }
  void fields(Fields& f) override {
    f("linear1", linear1);
    f("activation", activation);
    f("dropout", dropout);
    f("linear2", linear2);
  }
};

}  // namespace isobar
