// The index of the largest or smallest element, i64, a constant: the first of ties, or the first NaN, as in
// PyTorch.
#include "../../core/parallel.h"
#include "axes.h"

namespace isobar {
namespace {

template <class Better>
Tensor place(const char* op, const Tensor& x, const Axes& over, bool keepdim, const Better& better) {
  check(over.count > 0, "{}: nothing to choose from in {}", op, x.shape());
  const Tensor packed = over.reduced_last(x);
  Tensor y(keepdim ? over.kept : over.dropped, Dtype::i64);
  dispatch_any(x.dtype(), [&]<class T>() {
    const T* from = packed.data<T>();
    int64_t* to = raw::write<int64_t>(y);
    parallel_for(over.rows, std::max<int64_t>(1, (1 << 14) / over.count), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* row = from + r * over.count;
        int64_t best = 0;
        for (int64_t i = 1; i < over.count && row[best] == row[best]; ++i)
          if (better(row[i], row[best]) || row[i] != row[i]) best = i;  // NaN differs from itself
        to[r] = best;
      }
    });
  });
  return y;
}

constexpr auto larger = [](auto v, auto best) { return v > best; };
constexpr auto smaller = [](auto v, auto best) { return v < best; };

}  // namespace

Tensor argmax(const Tensor& x) { return place("argmax", x, Axes(x.shape()), false, larger); }
Tensor argmax(const Tensor& x, int dim, KeepDim keepdim) {
  return place("argmax", x, Axes(x.shape(), {dim}), keepdim, larger);
}

Tensor argmin(const Tensor& x) { return place("argmin", x, Axes(x.shape()), false, smaller); }
Tensor argmin(const Tensor& x, int dim, KeepDim keepdim) {
  return place("argmin", x, Axes(x.shape(), {dim}), keepdim, smaller);
}

}  // namespace isobar
