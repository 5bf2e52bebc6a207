// Flatten: the dimensions of a sample as one, (N, C, H, W) → (N, C · H · W), between convolutions and a Linear.
#pragma once

#include "module.h"

namespace isobar {

// Joins the dimensions start_dim … end_dim, which are inclusive and may count from the back. Throws Error unless x
// has them, in this order.
struct Flatten : Module {
  int start_dim, end_dim;

  explicit Flatten(int first = 1, int last = -1) : start_dim(first), end_dim(last) {}

  Tensor forward(const Tensor& x) override {
    const int ndim = x.ndim(), first = start_dim < 0 ? start_dim + ndim : start_dim,
              last = end_dim < 0 ? end_dim + ndim : end_dim;
    check(0 <= first && first <= last && last < ndim,
          "flatten: wanted dimensions {} to {} in their order, got x {}", start_dim, end_dim, x.shape());
    std::vector<int64_t> sizes(x.shape().begin(), x.shape().begin() + first);
    int64_t joined = 1;
    for (int d = first; d <= last; ++d) joined *= x.size(d);
    sizes.push_back(joined);
    sizes.insert(sizes.end(), x.shape().begin() + last + 1, x.shape().end());
    return reshape(x, sizes);
  }
};

}  // namespace isobar
