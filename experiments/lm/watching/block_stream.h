// Stream: the output of each block of a Transformer in one step of its training.
#pragma once

#include "../../../nn/observe.h"
#include "../../run/grid.h"

namespace isobar {

// Of the output of each block: the residual stream, and the gradient that comes back to it.
struct Stream {
  std::vector<double> std, rms, gradient_norm;

  // Of the gradient, the first block's over the last one's.
  double gradient_ratio() const { return gradient_norm.front() / gradient_norm.back(); }

  void values(RowFields& f, const std::string& name) {
    f(name + ".std", std), f(name + ".rms", rms), f(name + ".gradient_norm", gradient_norm);
  }
};

// What the probe saw of the blocks; and NaN for all of them.
Stream stream_of(const Probe& probe);
Stream unknown_stream(int64_t layers);

}  // namespace isobar
