#include "tree_sum.h"

#include "../kernels/map.h"
#include "../kernels/sweep.h"
#include "../raw.h"

namespace isobar {
namespace {

bool writable(const Tensor& x) { return raw::sole_owner(x) && x.is_contiguous(); }

// y = a + b for one tensor.
struct Addition {
  Tensor a, b, y;
  void* sum;  // y's numbers, for writing

  void run(int64_t begin, int64_t end) const {
    dispatch_float("tree_sum", y.dtype(), [&]<class T>() {
      kernels::map_elements(
          end - begin, static_cast<T*>(sum) + begin, [](T left, T right) { return left + right; },
          a.data<T>() + begin, b.data<T>() + begin);
    });
  }
};

// Moves a and b into an addition whose result is one of them, where nobody else holds it.
Addition addition(Tensor a, Tensor b) {
  check(a.shape() == b.shape() && a.dtype() == b.dtype(), "tree_sum: {} {} and {} {} do not add", a.shape(),
        a.dtype(), b.shape(), b.dtype());
  Tensor y = writable(a) ? a : writable(b) ? b : Tensor(a.shape(), a.dtype());
  void* const sum = raw::write_any(y, "TreeSum");
  return {raw::contiguous(std::move(a)), raw::contiguous(std::move(b)), std::move(y), sum};
}

}  // namespace

// A binary counter: two blocks of one size that are the halves of a larger one become that one.
void TreeSum::add(std::vector<Tensor> sums, int64_t pieces) {
  check(blocks_.empty() || sums.size() == blocks_.back().sums.size(),
        "tree_sum: wanted {} tensors, as in the pieces before, got {}",
        blocks_.empty() ? 0 : blocks_.back().sums.size(), sums.size());
  for (size_t i = 0; i < sums.size(); ++i)
    if (sums[i].defined())
      check(is_float(sums[i].dtype()), "tree_sum: tensor {} must be f32 or f64, got {}", i, sums[i].dtype());
  assert(next_ % pieces == 0);
  blocks_.push_back({next_, pieces, std::move(sums)});
  next_ += pieces;
  while (blocks_.size() > 1 && blocks_.end()[-1].pieces == blocks_.end()[-2].pieces &&
         blocks_.end()[-2].first % (2 * blocks_.back().pieces) == 0)
    add_last_two();
}

std::vector<TreeSum::Block> TreeSum::blocks_of(int64_t begin, int64_t end) {
  std::vector<Block> blocks;
  for (int64_t pieces = 1; begin < end; begin += pieces) {
    for (pieces = 1; begin % (2 * pieces) == 0 && begin + 2 * pieces <= end;) pieces *= 2;
    blocks.push_back({begin, pieces, {}});
  }
  return blocks;
}

std::vector<Tensor> TreeSum::take() {
  while (blocks_.size() > 1) add_last_two();
  std::vector<Tensor> sums;
  if (!blocks_.empty()) sums = std::move(blocks_.back().sums);
  blocks_.clear();
  next_ = 0;
  return sums;
}

void TreeSum::add_last_two() {
  Block right = std::move(blocks_.back());
  blocks_.pop_back();
  Block& left = blocks_.back();
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
