//   z = x Wᵀ     loss = mean over counted rows of (log Σ exp(z) − z[target])
//
//   dz = dloss / counted · (softmax(z) − onehot(target)), 0 in ignored rows
//   dx = dz · W
//   dW = dzᵀ · x
//
// x is (N, K), W (V, K), z (N, V). Only one chunk of rows of z exists at a time: forward computes it, turns
// it into dz in place, and multiplies it into dx and dW (the Liger kernel's fused linear cross-entropy, Hsu
// et al. 2024, arXiv 2410.10989, section 3.2). Backward only multiplies dx and dW by dloss. Cut Cross-Entropy
// (Wijmans et al. 2024, arXiv 2411.09009) keeps the rows' log-sums instead and computes z again in backward:
// four products instead of three, to save the memory of dW, which the optimizer needs anyway.
#include "../../core/bf16.h"
#include "../../core/kernels/softmax.h"
#include "../ops.h"
#include "../tape.h"
#include "bf16_products.h"
#include "class_targets.h"
#include "linear_products.h"

namespace isobar {
namespace {

// Rows of z in a chunk. Each chunk takes a pass over dW, which costs little beside its product (with 256 rows
// the op takes a tenth longer). The number does not depend on the number of threads, so the bits do not
// either.
constexpr int64_t chunk_rows = 512;

// What gemm multiplies: a tensor's own numbers, or a Bf16Copy of them.
template <class T>
struct OwnNumbers {
  explicit OwnNumbers(const Tensor& x) : packed(raw::contiguous(x)) {}
  const T* data() const { return packed.data<T>(); }
  Tensor packed;
};

// The losses of all rows, and dx and dW where they are defined, for dloss = scale · counted.
template <class T, class Operand, class Numbers>
void by_chunks(const Tensor& x, const Tensor& weight, const int64_t* target, T scale, double* losses,
               Tensor& dx, Tensor& dw) {
  const int64_t v = weight.size(0), k = weight.size(1), n = x.shape().without(-1).numel();
  const int64_t chunk = std::min(chunk_rows, n);
  const Numbers rows(x), w(weight);
  Tensor block({chunk, v}, x.dtype());
  for (int64_t begin = 0; begin < n; begin += chunk) {
    const int64_t count = std::min(chunk, n - begin);
    T* z = raw::write<T>(block);
    const LinearProducts<T, Operand> products{count, k, v};
    gemm(products.value(rows.data() + begin * k, w.data(), z));
    const bool backwards = dx.defined() || dw.defined();
    kernels::cross_entropy(count, v, z, target + begin, scale, losses + begin, backwards ? z : nullptr);
    if (!backwards) continue;
    const Numbers dz(raw::as_strided(block, {count, v}, block.strides()));
    if (dx.defined()) gemm(products.input_gradient(dz.data(), w.data(), raw::write<T>(dx) + begin * k));
    if (dw.defined()) {
      Gemm<T, Operand> part = products.weight_gradient(dz.data(), rows.data() + begin * k, raw::write<T>(dw));
      part.accumulate = begin > 0;
      gemm(part);
    }
  }
}

}  // namespace

Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& targets,
                            int64_t ignore_index) {
  check(weight.ndim() == 2, "linear_cross_entropy: weight must be (classes, channels), got {}",
        weight.shape());
  check(x.ndim() >= 1 && x.size(-1) == weight.size(1),
        "linear_cross_entropy: the last dimension of x {} must be {} for weight {}", x.shape(),
        weight.size(1), weight.shape());
  check(x.dtype() == weight.dtype(),
        "linear_cross_entropy: x is {} but weight is {}; convert one with cast()", x.dtype(), weight.dtype());
  check(x.shape().without(-1) == targets.shape(), "linear_cross_entropy: targets must be {} for x {}, got {}",
        x.shape().without(-1), x.shape(), targets.shape());
  const ClassTargets wanted("linear_cross_entropy", targets, weight.size(0), ignore_index);
  if (composed_wanted()) return cross_entropy(linear(x, weight), targets, {.ignore_index = ignore_index});

  const auto room = [](const Tensor& input, bool zeroed) {
    if (Tape::active() == nullptr || !Tape::active()->needs_gradient(input)) return Tensor();
    return zeroed ? zeros(input.shape(), input.dtype()) : Tensor(input.shape(), input.dtype());
  };
  Tensor dx = room(x, false), dw = room(weight, x.numel() == 0);
  const double count = static_cast<double>(wanted.counted);
  Tensor losses(targets.shape(), Dtype::f64), loss(Shape(), x.dtype());
  dispatch_float("linear_cross_entropy", x.dtype(), [&]<class T>() {
    double* each = raw::write<double>(losses);
    auto* compute = by_chunks<T, T, OwnNumbers<T>>;
    if constexpr (std::is_same_v<T, float>)
      if (bf16_products(x.dtype())) compute = by_chunks<float, Bf16, Bf16Copy>;
    compute(x, weight, wanted.index.data<int64_t>(), static_cast<T>(1 / count), each, dx, dw);
    *raw::write<T>(loss) =
        static_cast<T>(kernels::parallel_sum(losses.numel(), [=](int64_t r) { return each[r]; }) / count);
  });
  return record({"linear_cross_entropy", Node::Kind::product_loss}, loss, {x, weight},
                [dx, dw](const Tensor& dloss) mutable {
                  for (Tensor* gradient : {&dx, &dw})
                    if (gradient->defined()) multiply_in_place(*gradient, dloss.item());
                  return std::array{std::move(dx), std::move(dw)};
                });
}

}  // namespace isobar
