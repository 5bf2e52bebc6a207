//   loss = mean over counted rows of (log Σ exp(x) − x[target])
//   dx = dloss / counted · (softmax(x) − onehot(target)), 0 in ignored rows
#include <numeric>

#include "../../core/kernels/softmax.h"
#include "../ops.h"
#include "../tape.h"
#include "class_targets.h"

namespace isobar {
namespace {

Tensor cross_entropy_composed(const Tensor& logits, const ClassTargets& targets) {
  // The counted rows' targets as positions in the flattened logits. They are selected, not multiplied by 1
  // and 0: a class masked with −∞ would give 0 · ∞.
  std::vector<int64_t> positions;
  const int64_t* target = targets.index.data<int64_t>();
  for (int64_t r = 0; r < targets.index.numel(); ++r)
    if (target[r] >= 0) positions.push_back(r * logits.size(-1) + target[r]);
  const Tensor flat = reshape(log_softmax(logits), {logits.numel()});
  const Tensor chosen = index_select(flat, 0, tensor({targets.counted}, positions));
  return sum(chosen) * (-1 / static_cast<double>(targets.counted));
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options) {
  const Shape& shape = logits.shape();
  const int dim = logits.ndim() >= 1 ? shape.index(options.dim) : 0;
  check(logits.ndim() >= 1 && shape.without(dim) == targets.shape(),
        "cross_entropy: targets must be {} for logits {}, got {}{}",
        logits.ndim() >= 1 ? shape.without(dim) : Shape(), shape, targets.shape(),
        targets.shape() == shape ? "; give the index of the class, not a row of zeros and a one"
        : logits.ndim() > 1 && shape.without(1) == targets.shape()                   ? "; give .dim = 1"
        : logits.ndim() >= 1 && targets.numel() * logits.size(dim) == logits.numel() ? "; reshape() them"
                                                                                     : "");
  if (dim != std::max(logits.ndim() - 1, 0)) {
    std::vector<int> order(logits.ndim());
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin() + dim, order.begin() + dim + 1, order.end());
    return cross_entropy(permute(logits, order), targets, {.ignore_index = options.ignore_index});
  }
  const int64_t classes = logits.size(-1), rows = targets.numel();
  const ClassTargets wanted("cross_entropy", targets, classes, options.ignore_index);
  if (composed_wanted()) return cross_entropy_composed(logits, wanted);

  // The gradient is computed in forward, while each row is in cache: with a large vocabulary the op is bound
  // by memory, and this reads the logits once.
  const bool needed = Tape::active() != nullptr && Tape::active()->needs_gradient(logits);
  const Tensor x = raw::contiguous(logits);
  const double count = static_cast<double>(wanted.counted);
  Tensor dx = needed ? Tensor(x.shape(), x.dtype()) : Tensor();
  Tensor losses(targets.shape(), Dtype::f64), loss(Shape(), x.dtype());
  dispatch_float("cross_entropy", x.dtype(), [&]<class T>() {
    double* each = raw::write<double>(losses);
    kernels::cross_entropy(rows, classes, x.data<T>(), wanted.index.data<int64_t>(),
                           static_cast<T>(1 / count), each, needed ? raw::write<T>(dx) : nullptr);
    *raw::write<T>(loss) =
        static_cast<T>(kernels::parallel_sum(rows, [=](int64_t r) { return each[r]; }) / count);
  });
  return record("cross_entropy", loss, {logits}, [dx](const Tensor& dloss) mutable {
    multiply_in_place(dx, dloss.item());
    return std::move(dx);
  });
}

}  // namespace isobar
