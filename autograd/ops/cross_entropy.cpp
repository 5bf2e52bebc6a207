//   loss = mean over counted rows of (log Σ exp(x) − x[target])
//   dx = dloss / counted · (softmax(x) − onehot(target)), 0 in ignored rows
#include <cmath>

#include "../../core/kernels/softmax.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

// Targets as i64 with −1 where ignored, and how many count.
struct Targets {
  Tensor index;
  int64_t counted = 0;

  Targets(const Tensor& targets, int64_t classes, int64_t ignore_index) : index(targets.to(Dtype::i64)) {
    int64_t* target = index.write<int64_t>();
    for (int64_t r = 0; r < index.numel(); ++r) {
      if (target[r] == ignore_index) {
        target[r] = -1;
        continue;
      }
      check(target[r] >= 0 && target[r] < classes,
            "cross_entropy: target {} at position {} is outside of [0, {}) and is not ignore_index {}",
            target[r], r, classes, ignore_index);
      ++counted;
    }
  }
};

Tensor cross_entropy_composed(const Tensor& logits, const Targets& targets) {
  // The counted rows' targets as positions in the logits, read row after row. Picked, not multiplied by one
  // and zero: a class masked with −∞ would give 0 · ∞.
  std::vector<int64_t> positions;
  const int64_t* target = targets.index.data<int64_t>();
  for (int64_t r = 0; r < targets.index.numel(); ++r)
    if (target[r] >= 0) positions.push_back(r * logits.size(-1) + target[r]);
  const Tensor flat = reshape(log_softmax(logits), {logits.numel()});
  const Tensor chosen = index(flat, 0, tensor({targets.counted}, positions));
  return sum(chosen) * (-1 / static_cast<double>(targets.counted));
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, int64_t ignore_index) {
  check(logits.ndim() >= 1 && logits.shape().without(-1) == targets.shape(),
        "cross_entropy: targets must be {} for logits {}, got {}",
        logits.ndim() >= 1 ? logits.shape().without(-1) : Shape(), logits.shape(), targets.shape());
  check(!is_float(targets.dtype()), "cross_entropy: targets must be class indices (i32 or i64), got {}",
        targets.dtype());
  const int64_t classes = logits.size(-1), rows = targets.numel();
  const Targets wanted(targets, classes, ignore_index);
  if (composed_wanted()) return cross_entropy_composed(logits, wanted);

  // The gradient is made on the way forward, while each row is in cache: for a large vocabulary memory is
  // what costs, and this reads the logits once.
  const bool needed = Tape::active() != nullptr && Tape::active()->tracks(logits);
  const Tensor x = logits.packed();
  const double count = static_cast<double>(wanted.counted);
  Tensor dx = needed ? Tensor(x.shape(), x.dtype()) : Tensor();
  Tensor losses(targets.shape(), Dtype::f64), loss(Shape(), x.dtype());
  dispatch_float("cross_entropy", x.dtype(), [&]<class T>() {
    double* each = losses.write<double>();
    kernels::cross_entropy(rows, classes, x.data<T>(), wanted.index.data<int64_t>(),
                           static_cast<T>(1 / count), each, needed ? dx.write<T>() : nullptr);
    *loss.write<T>() =
        static_cast<T>(kernels::parallel_sum(rows, [=](int64_t r) { return each[r]; }) / count);
  });
  return record("cross_entropy", loss, {logits}, [dx](const Tensor& dloss) mutable {
    const double slope = dloss.item();
    if (slope != 1)
      dispatch_float("cross_entropy", dx.dtype(), [&]<class T>() {
        T* values = dx.write<T>();
        kernels::vmap(dx.numel(), values, values, [s = static_cast<T>(slope)](auto v) { return v * s; });
      });
    return std::move(dx);
  });
}

}  // namespace isobar
