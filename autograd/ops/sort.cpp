//   y, i = sort(x)     y[j] = x[i[j]]; dx = scatter_add(0, i, dy)
//   topk               the first k of them
// one_hot and nonzero, which are constants.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "axes.h"
#include "checks.h"

namespace isobar {
namespace {

// Whether a stands before b in ascending order; NaN is the largest.
template <class T>
bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(b) && !std::isnan(a);
  return a < b;
}

}  // namespace

Sorted sort(const Tensor& x, const Dims& dims, bool descending) {
  const int dim = dims.one("sort", x.shape());
  const Axes over("sort", x.shape(), dims);
  const Tensor packed = over.reduced_last(x);
  Tensor order(packed.shape(), Dtype::i64);
  dispatch_any(x.dtype(), [&]<class T>() {
    const T* from = packed.data<T>();
    int64_t* to = raw::write<int64_t>(order);
    over.each_row(1 << 12, [&](int64_t r) {
      const T* row = from + r * over.count;
      int64_t* places = to + r * over.count;
      std::iota(places, places + over.count, int64_t{0});
      std::stable_sort(places, places + over.count, [&](int64_t i, int64_t j) {
        return descending ? before(row[j], row[i]) : before(row[i], row[j]);
      });
    });
  });
  const Tensor indices = raw::contiguous(over.in_order(order, x.shape()));
  return {gather(x, dim, indices), indices};
}

Sorted topk(const Tensor& x, int64_t k, const Dims& dims, bool largest) {
  const int dim = dims.one("topk", x.shape());
  check(0 <= k && k <= x.size(dim), "topk: wanted 0 <= k <= {} along dimension {} of {}, got {}", x.size(dim),
        x.shape().index(dim), x.shape(), k);
  const Sorted all = sort(x, dim, largest);
  return {slice(all.values, dim, 0, k), slice(all.indices, dim, 0, k)};
}

Tensor one_hot(const Tensor& indices, int64_t classes, Dtype dtype) {
  const Tensor places = checked_indices("one_hot", indices, classes);
  return cast(unsqueeze(places, -1) == arange(classes), dtype);
}

Tensor nonzero(const Tensor& x) {
  const Tensor packed = raw::contiguous(x);
  std::vector<int64_t> found;
  dispatch_any(x.dtype(), [&]<class T>() {
    const T* from = packed.data<T>();
    for (int64_t i = 0; i < x.numel(); ++i)
      if (from[i] != T(0)) {
        const std::vector<int64_t> index = x.shape().index_at(i);
        found.insert(found.end(), index.begin(), index.end());
      }
  });
  const int64_t width = x.ndim();
  check(width > 0, "nonzero: wanted at least one dimension, got a single number; reshape() it to {{1}}");
  return tensor({static_cast<int64_t>(found.size()) / width, width}, found);
}

}  // namespace isobar
