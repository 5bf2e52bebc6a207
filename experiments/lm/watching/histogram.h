// Histogram: how the values of an array are spread; HistogramProbe: those of every module's output and gradient.
#pragma once

#include <array>
#include <map>

#include "../../../nn/observe.h"

namespace isobar {

// How many of the values seen so far lie in each of 64 bins of a signed logarithmic scale, whose bins are
// octaves: 32 of negative values, from the largest |x| to the smallest, and 32 of positive ones. bins[32 + k]
// counts 2^(lowest + k) <= x < 2^(lowest + k + 1) and bins[31 − k] the same of −x; smaller |x| count in the
// two innermost bins, larger ones and infinities in the two outermost. NaN counts in `total` alone.
struct Histogram {
  int lowest = 0;
  std::array<int64_t, 64> bins{};
  int64_t zeros = 0, total = 0;

  // Throws Error for integers.
  void add(const Tensor& x);
  // 65 of them, with 0 in the middle: bin i lies between edges[i] and edges[i + 1].
  std::vector<double> edges() const;
};

// Counts the values of every module's output and of its gradient, by path, over all calls until clear().
// Integers are left out.
class HistogramProbe : public Observer {
 public:
  // Outputs from 2^−20, about 1e-6, to 2^12; gradients of a mean loss from 2^−36, about 1e-11, to 2^−4.
  struct Signal {
    Histogram output{.lowest = -20}, gradient{.lowest = -36};
  };

  void on_output(const Module& module, const Tensor& y) override;
  void on_output_gradient(const Module& module, const Tensor& dy) override;

  // Null where the module was not called.
  const Signal* find(const std::string& path) const;
  void clear() { signals_.clear(); }

  // All counts as bytes, and those of another process, which saw the same modules, added to them.
  std::string counts() const;
  void add(const std::string& counts);

 private:
  std::map<std::string, Signal> signals_;
};

}  // namespace isobar
