// DyISRU: y = √d x / √(x² + C) · weight + bias. It is RMSNorm with the sum of squares of all other elements
// replaced by one trainable C (Stollenwerk 2025).
#pragma once

#include <cmath>
#include <optional>

#include "module.h"

namespace isobar {

struct DyISRUOptions {
  std::optional<double> c = std::nullopt;  // initial C, above 0; default d, which gives slope 1 at x = 0
  bool bias = true;
};

// d is the number of elements of normalized_shape, the last dimensions of x. log_c = ln C is [1]; the
// logarithm keeps C positive. weight starts at 1, bias at 0, both of normalized_shape.
struct DyISRU : Module {
  Tensor log_c, weight, bias;

  explicit DyISRU(const Shape& normalized_shape, DyISRUOptions options = {})
      : weight(ones(normalized_shape).set_trainable()) {
    const double c = options.c.value_or(static_cast<double>(normalized_shape.numel()));
    check(c > 0, "dyisru: wanted an initial C above 0, got {}", c);
    log_c = full({1}, std::log(c)).set_trainable();
    if (options.bias) bias = zeros(normalized_shape).set_trainable();
  }

  Tensor forward(const Tensor& x) override { return dyisru(x, log_c, weight, bias); }
  void fields(Fields& f) override {
    f("log_c", log_c);
    f("weight", weight);
    f("bias", bias);
  }
};

}  // namespace isobar
