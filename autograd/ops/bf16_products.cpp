// Matrix products on operands rounded to bf16, summed in f32. With r(x) for x rounded:
//
//   y = r(a) · r(b)           da = r(dy) · r(b)ᵀ    db = r(a)ᵀ · r(dy)
//   y = r(x) r(W)ᵀ + bias     dx = r(dy) · r(W)     dW = r(dy)ᵀ · r(x)     dbias = Σ dy over rows
//
// Rounding counts as the identity in the gradients, as usual in mixed precision (Micikevicius et al. 2018).
// x, y of linear are seen as (N, K) and (N, M); W is (M, K).
#include "bf16_products.h"

#include "../../core/bf16.h"
#include "../../core/kernels/reduce.h"
#include "../../core/precision.h"
#include "../ops.h"
#include "../tape.h"
#include "linear_products.h"

namespace isobar {
namespace {

// Up to this many multiply-adds, one thread computes a whole product.
constexpr int64_t serial_bf16_product = int64_t{1} << 25;

// The last two dimensions as they are stored: a transposed view is converted without a transpose.
struct Operand {
  bool transposed;
  Tensor stored;
  Bf16Copy numbers;

  explicit Operand(const Tensor& x)
      : transposed(x.size(-2) > 1 && x.strides()[x.ndim() - 2] == 1),
        stored(transposed ? raw::contiguous(transpose(x.detach())) : raw::contiguous(x)),
        numbers(stored) {}
  int64_t stride() const { return stored.size(-1); }
  Shape leading() const { return Shape(std::span(stored.shape().begin(), stored.ndim() - 2)); }
  // Elements from matrix to matrix along each dimension of the batch; 0 where it is broadcast.
  Strides steps(const Shape& batch) const { return broadcast_strides(leading(), stored.strides(), batch); }
};

void add_bias(int64_t rows, int64_t columns, const float* bias, float* y) {
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(columns, 1));
  parallel_for(rows, grain, [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t c = 0; c < columns; ++c) y[r * columns + c] += bias[c];
  });
}

}  // namespace

bool bf16_products(Dtype dtype) { return dtype == Dtype::f32 && recording.precision == Precision::bf16; }

Tensor matmul_bf16(const Tensor& a, const Tensor& b) {
  const Operand left(a), right(b);
  const Shape batch = broadcast("matmul", left.leading(), right.leading());
  const Strides left_steps = left.steps(batch), right_steps = right.steps(batch);
  const int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1), count = batch.numel();
  Tensor y(batch.inserted(batch.ndim(), m).inserted(batch.ndim() + 1, n), Dtype::f32);
  float* numbers = raw::write<float>(y);
  const auto multiply = [&](int64_t i) {
    gemm(Gemm<float, Bf16>{.transpose_a = left.transposed,
                           .transpose_b = right.transposed,
                           .m = m,
                           .n = n,
                           .k = k,
                           .a = left.numbers.data() + offset_at(i, batch, left_steps, batch.ndim()),
                           .lda = left.stride(),
                           .b = right.numbers.data() + offset_at(i, batch, right_steps, batch.ndim()),
                           .ldb = right.stride(),
                           .c = numbers + i * m * n,
                           .ldc = n});
  };
  if (m * n * k <= serial_bf16_product) {
    parallel_for(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) multiply(i);
    });
  } else {
    for (int64_t i = 0; i < count; ++i) multiply(i);
  }
  return record({"matmul", Node::Kind::product}, y, {a, b}, [a, b](const Tensor& dy, Wants wants) {
    const WithPrecision scope(Precision::bf16);
    return std::array{wants[0] ? matmul(dy, transpose(b)) : Tensor(),
                      wants[1] ? matmul(transpose(a), dy) : Tensor()};
  });
}

// The rounded x and W are kept for the gradients: W is converted once per step, and x takes half the memory.
Tensor linear_bf16(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Bf16Copy rows(x), w(weight);
  const int64_t m = weight.size(0), k = weight.size(1), n = x.shape().without(-1).numel();
  Tensor y(x.shape().with(-1, m), Dtype::f32);
  float* numbers = raw::write<float>(y);
  const LinearProducts<float, Bf16> products{n, k, m};
  gemm(products.value(rows.data(), w.data(), numbers));
  if (bias.defined()) add_bias(n, m, raw::contiguous(bias).data<float>(), numbers);

  return record({"linear", Node::Kind::product}, y, {x, weight, bias},
                [shape = x.shape(), rows, w, products](const Tensor& upstream, Wants wants) {
                  const Tensor dy = raw::contiguous(upstream);
                  std::array<Tensor, 3> result;
                  if (wants[0]) result[0] = Tensor(shape, Dtype::f32);
                  if (wants[1]) result[1] = Tensor(Shape{products.m, products.k}, Dtype::f32);
                  if (wants[2]) result[2] = Tensor(Shape{products.m}, Dtype::f32);
                  if (wants[0] || wants[1]) {
                    const Bf16Copy d(dy);
                    if (wants[0])
                      gemm(products.input_gradient(d.data(), w.data(), raw::write<float>(result[0])));
                    if (wants[1])
                      gemm(products.weight_gradient(d.data(), rows.data(), raw::write<float>(result[1])));
                  }
                  if (wants[2])
                    kernels::column_sums(products.n, products.m, dy.data<float>(),
                                         raw::write<float>(result[2]));
                  return result;
                });
}

}  // namespace isobar
