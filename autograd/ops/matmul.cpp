// Matrix products.
//
//   matmul:  y = a · b             da = dy · bᵀ    db = aᵀ · dy
//   linear:  y = x Wᵀ + bias       dx = dy · W     dW = dyᵀ · x     dbias = Σ dy over rows
//
// The tape sums the gradients of batches that were broadcast.
//
// x, y of linear are seen as (N, K) and (N, M); W is (M, K).

#include "../../core/kernels/reduce.h"
#include "../ops.h"
#include "../tape.h"
#include "bf16_products.h"
#include "linear_products.h"

namespace isobar {
namespace {

// How gemm reads the last two dimensions of a tensor: as stored, or transposed. Other layouts are copied.
struct Matrix {
  Tensor x;
  bool transposed = false;
  int64_t stride = 0;  // from row to row of what is stored

  explicit Matrix(const Tensor& tensor) : x(tensor) {
    if (fits(x.size(-2), x.size(-1), step(-2), step(-1))) {
      stride = x.size(-2) > 1 ? step(-2) : x.size(-1);
    } else if (fits(x.size(-1), x.size(-2), step(-1), step(-2))) {
      transposed = true;
      stride = step(-1);  // a single column fits as stored
    } else {
      x = raw::contiguous(x);
      stride = x.size(-1);
    }
    stride = std::max<int64_t>(stride, 1);
  }

 private:
  int64_t step(int dim) const { return x.strides()[x.ndim() + dim]; }
  // Rows of contiguous columns that do not overlap.
  static bool fits(int64_t rows, int64_t columns, int64_t row_step, int64_t column_step) {
    return (columns <= 1 || column_step == 1) && (rows <= 1 || row_step >= columns);
  }
};

// Up to this many multiply-adds, one thread computes a whole product.
constexpr int64_t serial_product = int64_t{1} << 21;

Shape leading(const Tensor& x) { return Shape(std::span<const int64_t>(x.shape().begin(), x.ndim() - 2)); }

// y = a · b for every matrix of the batch, over which a and b are repeated where they have an extent of one.
template <class T>
void multiply_batch(const Matrix& a, const Matrix& b, const Shape& batch, Tensor& y) {
  const int64_t m = y.size(-2), n = y.size(-1), k = a.x.size(-1), count = batch.numel();
  const Strides a_steps = broadcast_strides(leading(a.x), a.x.strides(), batch);
  const Strides b_steps = broadcast_strides(leading(b.x), b.x.strides(), batch);
  T* const numbers = raw::write<T>(y);
  const auto product = [&](int64_t i) {
    return Gemm<T>{.transpose_a = a.transposed,
                   .transpose_b = b.transposed,
                   .m = m,
                   .n = n,
                   .k = k,
                   .a = a.x.data<T>() + offset_at(i, batch, a_steps, batch.ndim()),
                   .lda = a.stride,
                   .b = b.x.data<T>() + offset_at(i, batch, b_steps, batch.ndim()),
                   .ldb = b.stride,
                   .c = numbers + i * m * n,
                   .ldc = n};
  };
  if (count > 1 && m * n * k <= serial_product) {
    const int64_t grain = std::max<int64_t>(1, serial_product / 8 / std::max<int64_t>(m * n * k, 1));
    parallel_for(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) gemm_serial(product(i));
    });
  } else {
    for (int64_t i = 0; i < count; ++i) gemm(product(i));
  }
}

Tensor linear_composed(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  // A vector has no rows: give it one for the product.
  const Tensor rows = x.ndim() == 1 ? reshape(x, {1, x.size(0)}) : x;
  Tensor y = matmul(rows, transpose(weight));
  if (x.ndim() == 1) y = reshape(y, {weight.size(0)});
  return bias.defined() ? y + bias : y;
}

// Whether the last dimensions of a shape hold this many elements, as an image's of 28 × 28 do.
bool ends_in_product(const Shape& shape, int64_t wanted) {
  int64_t product = 1;
  for (int d = shape.ndim() - 1; d >= 0 && product < wanted; --d) product *= shape[d];
  return product == wanted;
}

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check(weight.ndim() == 2, "linear: weight must be (out, in), got {}", weight.shape());
  check(x.ndim() >= 1 && x.size(-1) == weight.size(1),
        "linear: the last dimension of x {} must be {} for weight {}{}", x.shape(), weight.size(1),
        weight.shape(),
        x.ndim() >= 1 && x.size(-1) == weight.size(0) ? "; weight is (out, in): is it transposed?"
        : ends_in_product(x.shape(), weight.size(1))  ? "; flatten x with reshape()"
                                                      : "");
  check(!bias.defined() || bias.shape() == Shape{weight.size(0)},
        "linear: bias must be [{}] for weight {}, got {}", weight.size(0), weight.shape(),
        bias.defined() ? bias.shape() : Shape());
  for (const auto& [name, parameter] : {std::pair{"weight", &weight}, std::pair{"bias", &bias}})
    check(!parameter->defined() || parameter->dtype() == x.dtype(),
          "linear: x is {} but {} is {}; convert one with cast()", x.dtype(), name,
          parameter->defined() ? parameter->dtype() : x.dtype());
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  check(a.ndim() >= 2 && b.ndim() >= 2, "matmul: both must have at least 2 dimensions, got {} and {}",
        a.shape(), b.shape());
  check(a.size(-1) == b.size(-2), "matmul: inner dimensions must match, got {} and {} ({} against {}){}",
        a.shape(), b.shape(), a.size(-1), b.size(-2),
        a.size(-1) == b.size(-1) ? "; did you mean matmul(a, transpose(b))?" : "");
  check(a.dtype() == b.dtype(),
        "matmul: operands must have one dtype, got {} and {}; convert one with cast()", a.dtype(), b.dtype());
  if (bf16_products(a.dtype())) return matmul_bf16(a, b);
  const Shape batch = broadcast("matmul", leading(a), leading(b));
  Tensor y(batch.inserted(batch.ndim(), a.size(-2)).inserted(batch.ndim() + 1, b.size(-1)), a.dtype());
  dispatch_float("matmul", a.dtype(), [&]<class T>() { multiply_batch<T>(Matrix(a), Matrix(b), batch, y); });
  return record({"matmul", Node::Kind::product}, y, {a, b}, [a, b](const Tensor& dy, Wants wants) {
    return std::array{wants[0] ? matmul(dy, transpose(b)) : Tensor(),
                      wants[1] ? matmul(transpose(a), dy) : Tensor()};
  });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(x, weight, bias);
  if (composed_wanted()) return linear_composed(x, weight, bias);
  if (bf16_products(x.dtype())) return linear_bf16(x, weight, bias);

  const Tensor rows = raw::contiguous(x), w = raw::contiguous(weight);
  const int64_t m = weight.size(0), k = weight.size(1), n = x.shape().without(-1).numel();
  Tensor y(x.shape().with(-1, m), x.dtype());
  dispatch_float("linear", x.dtype(), [&]<class T>() {
    const Tensor start = bias.defined() ? raw::contiguous(bias) : Tensor();
    Gemm<T> product = LinearProducts<T>{n, k, m}.value(rows.data<T>(), w.data<T>(), raw::write<T>(y));
    product.bias = start.defined() ? start.data<T>() : nullptr;
    gemm(product);
  });
  return record({"linear", Node::Kind::product}, y, {x, weight, bias},
                [rows, w, m, k, n](const Tensor& upstream, Wants wants) {
                  const Tensor dy = raw::contiguous(upstream);
                  std::array<Tensor, 3> result;
                  if (wants[0]) result[0] = Tensor(rows.shape(), dy.dtype());
                  if (wants[1]) result[1] = Tensor(w.shape(), dy.dtype());
                  if (wants[2]) result[2] = Tensor(Shape{m}, dy.dtype());
                  dispatch_float("linear", dy.dtype(), [&]<class T>() {
                    const LinearProducts<T> products{n, k, m};
                    const T* d = dy.data<T>();
                    if (wants[0]) gemm(products.input_gradient(d, w.data<T>(), raw::write<T>(result[0])));
                    if (wants[1]) gemm(products.weight_gradient(d, rows.data<T>(), raw::write<T>(result[1])));
                    if (wants[2]) kernels::column_sums(n, m, d, raw::write<T>(result[2]));
                  });
                  return result;
                });
}

}  // namespace isobar
