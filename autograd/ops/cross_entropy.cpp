// The loss of logits z against classes, and the same of z = x Wᵀ, of which only some rows exist at a time.
//
//   cross_entropy:         loss = mean over counted rows of (log Σ exp(z) − z[target])
//                          dz = dloss / counted · (softmax(z) − onehot(target)), 0 in ignored rows; with weights or
//                          label smoothing by composition
//   linear_cross_entropy:  z = x Wᵀ, and loss and dz as above
//                          dx = dz · W
//                          dW = dzᵀ · x
//
// In linear_cross_entropy x is (N, K), W (V, K), z (N, V). Forward computes a chunk of rows of z, turns it into
// dz in place, and multiplies it into dx and dW (the Liger kernel's fused linear cross-entropy, Hsu et al. 2024,
// arXiv 2410.10989, section 3.2). Backward only multiplies dx and dW by dloss. Cut Cross-Entropy (Wijmans et al.
// 2024, arXiv 2411.09009) keeps the rows' log-sums instead and computes z again in backward: four products
// instead of three, to save the memory of dW, which the optimizer needs anyway.
#include <numeric>

#include "../../core/blas.h"
#include "../../core/kernels/softmax.h"
#include "../../core/raw.h"
#include "../ops.h"
#include "../tape.h"
#include "checks.h"

namespace isobar {
namespace {

// Targets as i64 with −1 where ignored, and how many count. Throws Error in the name of `op`.
struct ClassTargets {
  Tensor index;
  int64_t counted = 0;

  ClassTargets(const char* op, const Tensor& targets, int64_t classes, int64_t ignore_index) {
    check(is_integer(targets.dtype()), "{}: targets must be class indices (i32 or i64), got {}", op,
          targets.dtype());
    index = raw::cast(targets, Dtype::i64);
    int64_t* target = raw::write<int64_t>(index);
    for (int64_t r = 0; r < index.numel(); ++r) {
      if (target[r] == ignore_index) {
        target[r] = -1;
        continue;
      }
      check(target[r] >= 0 && target[r] < classes,
            "{}: target {} at position {} is outside of [0, {}) and is not ignore_index {}", op, target[r], r,
            classes, ignore_index);
      ++counted;
    }
  }

  // What the sum of the losses is divided by. A piece that counts no target has weight 0: its loss is 0, not NaN.
  double divisor() const {
    return counted == 0 && recording.counts_targets ? 1 : static_cast<double>(counted);
  }

  // For the piece that runs on this thread, if any, which `loss` may be a part of.
  Tensor noted(const Tensor& loss) const {
    if (recording.counts_targets && Tape::active() != nullptr)
      Tape::active()->note_targets(loss, {index.numel(), counted, 1});
    return loss;
  }
};

// x ← factor · x in place; x must be contiguous.
void multiply_in_place(Tensor& x, double factor) {
  if (factor == 1) return;
  dispatch_float("multiply_in_place", x.dtype(), [&]<class T>() {
    T* values = raw::write<T>(x);
    const auto scaled = [s = static_cast<T>(factor)](auto v) { return v * s; };
    kernels::map_registers(x.numel(), values, scaled, values);
  });
}

Tensor cross_entropy_composed(const Tensor& logits, const ClassTargets& targets, double divisor) {
  // The counted rows' targets as positions in the flattened logits. They are selected, not multiplied by 1
  // and 0: a class masked with −∞ would give 0 · ∞.
  std::vector<int64_t> positions;
  const int64_t* target = targets.index.data<int64_t>();
  for (int64_t r = 0; r < targets.index.numel(); ++r)
    if (target[r] >= 0) positions.push_back(r * logits.size(-1) + target[r]);
  const Tensor flat = reshape(log_softmax(logits), {logits.numel()});
  const Tensor chosen = index_select(flat, 0, tensor({targets.counted}, positions));
  return sum(chosen) * (-1 / divisor);
}

void check_options(const CrossEntropyOptions& options, const Tensor& logits, int64_t classes) {
  check(options.label_smoothing >= 0 && options.label_smoothing < 1,
        "cross_entropy: wanted a label_smoothing in [0, 1), got {}", options.label_smoothing);
  if (!options.weight.defined()) return;
  check(options.weight.shape() == Shape{classes}, "cross_entropy: weight must be [{}] for logits {}, got {}",
        classes, logits.shape(), options.weight.shape());
  check_same_dtype("cross_entropy", "logits", logits, "weight", options.weight);
  check(!options.weight.trainable() && !raw::slot(options.weight).recorded(),
        "cross_entropy: a weight of the classes is a constant, and this one wants a gradient; detach() it");
}

// With weights w and label smoothing ε, per target; l = −log_softmax(logits), (N, V):
//
//   loss = (1 − ε) w[target] l[target] + ε / V Σ w_c l_c, 0 where ignored; the mean divides by Σ w[target]
Tensor cross_entropy_general(const Tensor& logits, const ClassTargets& targets,
                             const CrossEntropyOptions& options) {
  const int64_t classes = logits.size(-1), rows = targets.index.numel();
  const bool averaged = options.reduction == Reduction::mean;
  check(
      !options.weight.defined() || !averaged || !recording.counts_targets,
      "cross_entropy: backward_in_pieces() weighs pieces by their number of targets, not by weights of classes; "
      "take .reduction = Reduction::sum, divided by the batch's sum of weights over the number of pieces");
  const Tensor flat = reshape(targets.index, {rows}), counted = flat >= 0;
  const Tensor place = where(counted, flat, 0);
  const double smoothing = options.label_smoothing;
  const Tensor l = -reshape(log_softmax(logits), {rows, classes});
  Tensor loss = squeeze(gather(l, 1, unsqueeze(place, 1)), 1), total;
  if (options.weight.defined()) {
    total = index_select(options.weight, 0, place);
    loss = loss * total;
  }
  if (smoothing > 0) {
    const Tensor of_all = options.weight.defined() ? l * options.weight : l;
    loss = loss * (1 - smoothing) + sum(of_all, 1) * (smoothing / static_cast<double>(classes));
  }
  loss = where(counted, loss, 0);
  if (options.reduction == Reduction::none) return reshape(loss, targets.index.shape());
  if (!averaged) return sum(loss);
  if (total.defined()) return sum(loss) / sum(where(counted, total, 0)).item();
  return targets.noted(sum(loss) / targets.divisor());
}

// Rows of z in a chunk. Each chunk takes a pass over dW, which costs little beside its product (with 256 rows
// the op takes a tenth longer). The number does not depend on the number of threads, so the bits do not
// either.
constexpr int64_t chunk_rows = 512;

// The losses of all rows, and dx and dW where they are defined, for dloss = scale · counted.
template <class T>
void by_chunks(const Tensor& x, const Tensor& weight, const int64_t* target, T scale, double* losses,
               Tensor& dx, Tensor& dw) {
  const int64_t v = weight.size(0), k = weight.size(1), n = x.shape().without(-1).numel();
  const int64_t chunk = std::min(chunk_rows, n);
  const Tensor rows = raw::contiguous(x), w = raw::contiguous(weight);
  const Strided<const T> in{rows.data<T>(), k}, matrix{w.data<T>(), k};
  Tensor block({chunk, v}, x.dtype());
  for (int64_t begin = 0; begin < n; begin += chunk) {
    const int64_t count = std::min(chunk, n - begin);
    T* z = raw::write<T>(block);
    gemm(Gemm<T>{count, v, k, in.from(begin, 0), matrix.transposed(), {}, {z, v}});
    const bool backwards = dx.defined() || dw.defined();
    kernels::cross_entropy(count, v, z, target + begin, scale, losses + begin, backwards ? z : nullptr);
    if (!backwards) continue;
    const Strided<const T> dz{z, v};
    if (dx.defined()) gemm(Gemm<T>{count, k, v, dz, matrix, {}, {raw::write<T>(dx) + begin * k, k}});
    if (!dw.defined()) continue;
    const Strided<T> sum{raw::write<T>(dw), k}, start = begin > 0 ? sum : Strided<T>{};
    gemm(Gemm<T>{v, k, count, dz.transposed(), in.from(begin, 0), start, sum});
  }
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  const Shape& shape = logits.shape();
  const int dim = logits.ndim() >= 1 ? shape.index(options.dim, "cross_entropy") : 0;
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
    CrossEntropyOptions last = options;
    last.dim = -1;
    return cross_entropy(permute(logits, order), targets, last);
  }
  const int64_t classes = logits.size(-1), rows = targets.numel();
  check_options(options, logits, classes);
  const ClassTargets wanted("cross_entropy", targets, classes, options.ignore_index);
  if (options.weight.defined() || options.label_smoothing > 0 || options.reduction == Reduction::none)
    return cross_entropy_general(logits, wanted, options);
  const bool summed = options.reduction == Reduction::sum;
  if (composed_wanted())
    return cross_entropy_composed(logits, wanted, summed ? 1 : static_cast<double>(wanted.counted));

  // The gradient is computed in forward, while each row is in cache: with a large vocabulary the op is bound
  // by memory, and this reads the logits once.
  const bool needed = Tape::active() != nullptr && Tape::active()->needs_gradient(logits);
  const Tensor x = raw::contiguous(logits);
  const double count = summed ? 1 : wanted.divisor();
  Tensor dx = needed ? Tensor(x.shape(), x.dtype()) : Tensor();
  Tensor losses(targets.shape(), Dtype::f64), loss(Shape(), x.dtype());
  dispatch_float("cross_entropy", x.dtype(), [&]<class T>() {
    double* each = raw::write<double>(losses);
    kernels::cross_entropy(rows, classes, x.data<T>(), wanted.index.data<int64_t>(),
                           static_cast<T>(1 / count), each, needed ? raw::write<T>(dx) : nullptr);
    *raw::write<T>(loss) =
        static_cast<T>(kernels::parallel_sum(rows, [=](int64_t r) { return each[r]; }) / count);
  });
  const Tensor y = record("cross_entropy", loss, {logits}, [dx](const Tensor& dloss) mutable {
    multiply_in_place(dx, dloss.item());
    return std::move(dx);
  });
  return summed ? y : wanted.noted(y);
}

Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& targets,
                            int64_t ignore_index) {
  check(weight.ndim() == 2, "linear_cross_entropy: weight must be (classes, channels), got {}",
        weight.shape());
  check(x.ndim() >= 1 && x.size(-1) == weight.size(1),
        "linear_cross_entropy: the last dimension of x {} must be {} for weight {}", x.shape(),
        weight.size(1), weight.shape());
  check_same_dtype("linear_cross_entropy", "x", x, "weight", weight);
  check(x.shape().without(-1) == targets.shape(), "linear_cross_entropy: targets must be {} for x {}, got {}",
        x.shape().without(-1), x.shape(), targets.shape());
  const ClassTargets wanted("linear_cross_entropy", targets, weight.size(0), ignore_index);
  if (composed_wanted()) return cross_entropy(linear(x, weight), targets, {.ignore_index = ignore_index});

  const auto room = [](const Tensor& input, bool zeroed) {
    if (Tape::active() == nullptr || !Tape::active()->needs_gradient(input)) return Tensor();
    return zeroed ? zeros(input.shape(), input.dtype()) : Tensor(input.shape(), input.dtype());
  };
  Tensor dx = room(x, false), dw = room(weight, x.numel() == 0);
  const double count = wanted.divisor();
  Tensor losses(targets.shape(), Dtype::f64), loss(Shape(), x.dtype());
  dispatch_float("linear_cross_entropy", x.dtype(), [&]<class T>() {
    double* each = raw::write<double>(losses);
    by_chunks<T>(x, weight, wanted.index.data<int64_t>(), static_cast<T>(1 / count), each, dx, dw);
    *raw::write<T>(loss) =
        static_cast<T>(kernels::parallel_sum(losses.numel(), [=](int64_t r) { return each[r]; }) / count);
  });
  return wanted.noted(record({"linear_cross_entropy", Node::Kind::product_loss}, loss, {x, weight},
                             [dx, dw](const Tensor& dloss) mutable {
                               for (Tensor* gradient : {&dx, &dw})
                                 if (gradient->defined()) multiply_in_place(*gradient, dloss.item());
                               return std::array{std::move(dx), std::move(dw)};
                             }));
}

}  // namespace isobar
