//   y = pad(x, {l, r, …})    y[…, l + i] = x[…, i], `value` elsewhere; l or r below zero crops that side
//   dx = pad(dy, {−l, −r, …})

#include "../ops.h"
#include "../tape.h"
#include "window.h"

namespace isobar {
namespace {

// One dimension after padding: `from` of its elements, from index `first` on, are at `begin` in an extent of
// `extent`.
struct Padded {
  int64_t first, from, begin, extent;
};

Padded padded(const Shape& shape, int d, int64_t before, int64_t after) {
  const int64_t n = shape[d];
  int64_t extent = 0;
  const bool overflow =
      __builtin_add_overflow(n, before, &extent) || __builtin_add_overflow(extent, after, &extent);
  check(!overflow && before >= -n && after >= -n && extent >= 0,
        "pad: {} and {} do not fit dimension {} of {}; a negative amount may take away up to {} in all",
        before, after, d, shape, n);
  const int64_t first = before < 0 ? -before : 0, cut = after < 0 ? -after : 0;
  return {first, n - first - cut, before > 0 ? before : 0, extent};
}

}  // namespace

Tensor pad(const Tensor& x, const std::vector<int64_t>& amounts, double value) {
  check(amounts.size() % 2 == 0 && amounts.size() <= 2 * static_cast<size_t>(x.ndim()),
        "pad: wanted two numbers for each of the last dimensions of {}, got {} numbers", x.shape(),
        amounts.size());
  Shape kept = x.shape(), shape = x.shape();
  std::array<int64_t, max_dims> begin{};
  int64_t offset = 0;
  for (size_t i = 0; i < amounts.size(); i += 2) {
    const int d = x.ndim() - 1 - static_cast<int>(i / 2);
    const Padded p = padded(x.shape(), d, amounts[i], amounts[i + 1]);
    kept = kept.with(d, p.from);
    shape = shape.with(d, p.extent);
    begin[d] = p.begin;
    offset += p.first * x.strides()[d];
  }
  Tensor y = value == 0 ? zeros(shape, x.dtype()) : full(shape, value, x.dtype());
  if (kept.numel() > 0) write_window(y, begin, raw::as_strided(x, kept, x.strides(), offset));
  return record("pad", y, {x}, [amounts](const Tensor& dy) {
    std::vector<int64_t> back = amounts;
    for (int64_t& amount : back) amount = -amount;
    return pad(dy, back);
  });
}

}  // namespace isobar
