#include "tree_sum.h"

#include <utility>

#include "kernels/map.h"
#include "kernels/sweep.h"
#include "raw.h"

namespace isobar {
namespace {

bool writable(const Tensor& x) { return raw::sole_owner(x) && x.is_contiguous(); }

// y = a + b for one tensor.
struct Addition {
  Tensor a, b, y;

  void run(int64_t begin, int64_t end) const {
    dispatch_float("tree_sum", y.dtype(), [&]<class T>() {
      T* const sum = static_cast<T*>(raw::Access::address(y, y.dtype()));
      kernels::map_elements(end - begin, a.data<T>() + begin, b.data<T>() + begin, sum + begin,
                            [](T left, T right) { return left + right; });
    });
  }
};

// Moves a and b into an addition whose result is one of them, where nobody else holds it.
Addition addition(Tensor a, Tensor b) {
  check(a.shape() == b.shape() && a.dtype() == b.dtype(), "tree_sum: {} {} and {} {} do not add", a.shape(),
        a.dtype(), b.shape(), b.dtype());
  Tensor y = writable(a) ? a : writable(b) ? b : Tensor(a.shape(), a.dtype());
  raw::Access::of(y).storage->version->count_write("TreeSum");
  return {raw::contiguous(std::move(a)), raw::contiguous(std::move(b)), std::move(y)};
}

}  // namespace

void TreeSum::add(std::vector<Tensor> piece) {
  check(parts_.empty() || piece.size() == parts_.back().sums.size(),
        "tree_sum: wanted {} tensors, as in the pieces before, got {}",
        parts_.empty() ? 0 : parts_.back().sums.size(), piece.size());
  for (size_t i = 0; i < piece.size(); ++i)
    if (piece[i].defined())
      check(is_float(piece[i].dtype()), "tree_sum: tensor {} must be f32 or f64, got {}", i,
            piece[i].dtype());
  parts_.push_back({1, std::move(piece)});
  // A binary counter: two parts of one size carry into one of twice that size.
  while (parts_.size() > 1 && parts_.end()[-1].pieces == parts_.end()[-2].pieces) add_last_two();
}

std::vector<Tensor> TreeSum::take() {
  while (parts_.size() > 1) add_last_two();
  std::vector<Tensor> sums;
  if (!parts_.empty()) sums = std::move(parts_.back().sums);
  parts_.clear();
  return sums;
}

void TreeSum::add_last_two() {
  Part right = std::move(parts_.back());
  parts_.pop_back();
  Part& left = parts_.back();
  left.pieces += right.pieces;
  std::vector<Addition> additions;
  std::vector<size_t> places;
  for (size_t i = 0; i < left.sums.size(); ++i) {
    if (!left.sums[i].defined()) {
      left.sums[i] = std::move(right.sums[i]);
    } else if (right.sums[i].defined()) {
      additions.push_back(addition(std::move(left.sums[i]), std::move(right.sums[i])));
      places.push_back(i);
    }
  }
  const kernels::Sweep sweep(additions.size(), [&](size_t i) { return additions[i].y.numel(); });
  sweep.each([&](size_t i, int64_t begin, int64_t end) { additions[i].run(begin, end); });
  for (size_t i = 0; i < additions.size(); ++i) left.sums[places[i]] = std::move(additions[i].y);
}

}  // namespace isobar
