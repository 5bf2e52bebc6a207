// Cutting and joining along one dimension. slice and unslice are each other's gradient.
//
//   y = slice(x, begin, end)     dx = dy in zeros, at begin
//   y = unslice(x, begin, n)     dx = slice(dy, begin, begin + size of x)
//   y = concat(x₀, x₁, …)        dx_i = the slice of dy that came from x_i
#include <algorithm>

#include "../../core/raw.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

// The window begin ≤ i < end of x along dim, not recorded.
Tensor window(const Tensor& x, int dim, int64_t begin, int64_t end) {
  return raw::as_strided(x, x.shape().with(dim, end - begin), x.strides(),
                         begin * x.strides()[x.shape().index(dim)]);
}

// Copies `from` into the window of `to` that starts at `begin` along dim. Both are cut into (outer, along,
// inner).
void write_window(Tensor& to, int dim, int64_t begin, const Tensor& from) {
  const Tensor packed = raw::contiguous(from);
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < dim; ++d) outer *= to.size(d);
  for (int d = dim + 1; d < to.ndim(); ++d) inner *= to.size(d);
  const int64_t block = packed.size(dim) * inner, step = to.size(dim) * inner;
  dispatch_any(to.dtype(), [&]<class T>() {
    const T* x = packed.data<T>();
    T* y = raw::write<T>(to) + begin * inner;
    for (int64_t o = 0; o < outer; ++o) std::copy_n(x + o * block, block, y + o * step);
  });
}

}  // namespace

Tensor slice(const Tensor& x, int dim, int64_t begin, int64_t end) {
  const int d = x.shape().index(dim);
  check(0 <= begin && begin <= end && end <= x.size(d),
        "slice: wanted 0 <= begin <= end <= {} along dimension {} of {}, got {} and {}", x.size(d), d,
        x.shape(), begin, end);
  Tensor y = window(x, d, begin, end);
  return record("slice", y, {x},
                [d, begin, extent = x.size(d)](const Tensor& dy) { return unslice(dy, d, begin, extent); });
}

Tensor unslice(const Tensor& x, int dim, int64_t begin, int64_t extent) {
  const int d = x.shape().index(dim);
  check(begin >= 0 && begin + x.size(d) <= extent,
        "unslice: {} at {} does not fit into {} along dimension {}", x.shape(), begin, extent, d);
  Tensor y = zeros(x.shape().with(d, extent), x.dtype());
  write_window(y, d, begin, x);
  return record("unslice", y, {x},
                [d, begin, end = begin + x.size(d)](const Tensor& dy) { return slice(dy, d, begin, end); });
}

Tensor concat(const std::vector<Tensor>& xs, int dim) {
  check(!xs.empty(), "concat: wanted at least one tensor");
  const int d = xs[0].shape().index(dim);
  std::vector<int64_t> begins{0};
  std::vector<const Tensor*> inputs;
  for (const Tensor& x : xs) {
    check(x.ndim() == xs[0].ndim() && x.dtype() == xs[0].dtype() &&
              x.shape().with(d, 0) == xs[0].shape().with(d, 0),
          "concat: along dimension {}, {} {} and {} {} do not join", d, xs[0].shape(), xs[0].dtype(),
          x.shape(), x.dtype());
    begins.push_back(begins.back() + x.size(d));
    inputs.push_back(&x);
  }
  Tensor y(xs[0].shape().with(d, begins.back()), xs[0].dtype());
  for (size_t i = 0; i < xs.size(); ++i) write_window(y, d, begins[i], xs[i]);
  return record("concat", y, std::span<const Tensor* const>(inputs), [d, begins](const Tensor& dy) {
    std::vector<Tensor> dx;
    for (size_t i = 0; i + 1 < begins.size(); ++i) dx.push_back(slice(dy, d, begins[i], begins[i + 1]));
    return dx;
  });
}

}  // namespace isobar
