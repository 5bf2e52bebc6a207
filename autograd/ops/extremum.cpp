//   y = max x over axes     dx = dy where x = y, shared equally among ties; min likewise
// A NaN among the elements makes the result NaN. argmax and argmin, which are constants, give the index of
// that element, i64: the first of ties, or the first NaN, as in PyTorch.
#include "../tape.h"
#include "axes.h"

namespace isobar {
namespace {

constexpr auto larger = [](auto v, auto best) { return v > best; };
constexpr auto smaller = [](auto v, auto best) { return v < best; };

// y[r] = of(row, place of its best element) for the rows of x; better(v, best) compares two elements.
template <class Better, class Of>
void each_best(const Tensor& x, const Axes& over, Tensor& y, const Better& better, const Of& of) {
  const Tensor packed = over.reduced_last(x);
  dispatch_any(x.dtype(), [&]<class T>() {
    const T* from = packed.data<T>();
    auto* to = raw::write<decltype(of(from, int64_t{}))>(y);
    over.each_row(1 << 14, [&](int64_t r) {
      const T* row = from + r * over.count;
      int64_t best = 0;
      T most = row[0];
      for (int64_t i = 1; i < over.count && most == most; ++i)  // NaN differs from itself
        if (const T v = row[i]; better(v, most) || v != v) most = v, best = i;
      to[r] = of(row, best);
    });
  });
}

template <class Better>
Tensor extremum(OpName op, const Tensor& x, const Dims& dims, bool keepdim, const Better& better) {
  const Axes over(op.text(), x.shape(), dims);
  check(over.count > 0, "{}: nothing to take the {}imum of in {}", op, op, x.shape());
  Tensor y(over.kept, x.dtype());
  each_best(x, over, y, better, [](auto* row, int64_t best) { return row[best]; });
  if (!is_float(x.dtype())) return keepdim ? y : reshape(y, over.dropped);  // a constant
  y = record(op, y, {x}, [x = x.detach(), y = y.detach(), over](const Tensor& dy) {
    const Tensor ties = cast(x == y, x.dtype());
    return reshape(dy, y.shape()) / sum_over(ties, over, true) * ties;
  });
  return keepdim ? y : reshape(y, over.dropped);
}

template <class Better>
Tensor place(const char* op, const Tensor& x, const Dims& dim, bool keepdim, const Better& better) {
  if (!dim.all()) dim.one(op, x.shape());
  const Axes over(op, x.shape(), dim);
  check(over.count > 0, "{}: nothing to choose from in {}", op, x.shape());
  Tensor y(over.kept, Dtype::i64);
  each_best(x, over, y, better, [](auto*, int64_t best) { return best; });
  return keepdim ? y : reshape(y, over.dropped);
}

template <class Better>
Sorted with_indices(const char* op, const Tensor& x, const Dims& dims, bool keepdim, const Better& better) {
  const int dim = dims.one(op, x.shape());
  const Tensor at = place(op, x, dim, true, better), y = gather(x, dim, at);
  return keepdim ? Sorted{y, at} : Sorted{squeeze(y, dim), squeeze(at, dim)};
}

}  // namespace

Tensor max(const Tensor& x, const Dims& dims, KeepDim keepdim) {
  return extremum("max", x, dims, keepdim, larger);
}
Tensor min(const Tensor& x, const Dims& dims, KeepDim keepdim) {
  return extremum("min", x, dims, keepdim, smaller);
}

Tensor argmax(const Tensor& x, const Dims& dim, KeepDim keepdim) {
  return place("argmax", x, dim, keepdim, larger);
}
Tensor argmin(const Tensor& x, const Dims& dim, KeepDim keepdim) {
  return place("argmin", x, dim, keepdim, smaller);
}

Sorted max_with_indices(const Tensor& x, const Dims& dim, KeepDim keepdim) {
  return with_indices("max_with_indices", x, dim, keepdim, larger);
}
Sorted min_with_indices(const Tensor& x, const Dims& dim, KeepDim keepdim) {
  return with_indices("min_with_indices", x, dim, keepdim, smaller);
}

}  // namespace isobar
