// Matrix products.
//
//   matmul:  y = a · b             da = dy · bᵀ    db = aᵀ · dy      a vector is reshaped to a matrix
//   linear:  y = x Wᵀ + bias       dx = dy · W     dW = dyᵀ · x     dbias = Σ dy over rows
//
// The tape sums the gradients of batches that were broadcast.
//
// x, y of linear are seen as (N, K) and (N, M); W is (M, K).

#include "../../core/blas.h"
#include "../../core/kernels/reduce.h"
#include "../../core/raw.h"
#include "../ops.h"
#include "../tape.h"
#include "checks.h"

namespace isobar {
namespace {

// How gemm reads the last two dimensions of a tensor: as stored, or transposed. Other layouts are copied.
template <class T>
struct Matrix {
  Tensor x;
  Strided<const T> first = {};  // of the batch

  explicit Matrix(const Tensor& tensor) : x(tensor) {
    const int64_t rows = x.size(-2), columns = x.size(-1);
    const bool as_stored = fits(rows, columns, step(-2), step(-1));  // as a single column does
    const bool transposed = !as_stored && fits(columns, rows, step(-1), step(-2));
    const int64_t stride = transposed ? step(-1) : as_stored && rows > 1 ? step(-2) : columns;
    if (!as_stored && !transposed) x = raw::contiguous(x);
    first = {x.data<T>(), std::max<int64_t>(stride, 1)};
    if (transposed) first = first.transposed();
  }
  // The matrix of the batch that begins so many elements after the first one.
  Strided<const T> at(int64_t offset) const { return {first.data + offset, first.row, first.column}; }

 private:
  int64_t step(int dim) const { return x.strides()[x.ndim() + dim]; }
  // Rows of contiguous columns that do not overlap.
  static bool fits(int64_t rows, int64_t columns, int64_t row_step, int64_t column_step) {
    return (columns <= 1 || column_step == 1) && (rows <= 1 || row_step >= columns);
  }
};

Shape leading(const Tensor& x) { return Shape(std::span<const int64_t>(x.shape().begin(), x.ndim() - 2)); }

// y = a · b for every matrix of the batch, over which a and b are repeated where they have an extent of one.
template <class T>
void multiply_batch(const Matrix<T>& a, const Matrix<T>& b, int64_t k, const Shape& batch, Tensor& y) {
  // Up to this many multiply-adds, one thread computes a whole product.
  constexpr int64_t serial_product = int64_t{1} << 21;
  const int64_t m = y.size(-2), n = y.size(-1), count = batch.numel();
  const Strides a_steps = broadcast_strides(leading(a.x), a.x.strides(), batch);
  const Strides b_steps = broadcast_strides(leading(b.x), b.x.strides(), batch);
  T* const numbers = raw::write<T>(y);
  const auto multiply = [&](int64_t i) {
    const auto left = a.at(offset_at(i, batch, a_steps, batch.ndim()));
    const auto right = b.at(offset_at(i, batch, b_steps, batch.ndim()));
    gemm(Gemm<T>{m, n, k, left, right, {}, {numbers + i * m * n, n}});
  };
  if (count > 1 && m * n * k <= serial_product)
    parallel_each(count, grain_of_rows(m * n * k, serial_product / 8), multiply);
  else
    for (int64_t i = 0; i < count; ++i) multiply(i);
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
  check_same_dtype("linear", "x", x, "weight", weight);
  check_same_dtype("linear", "x", x, "bias", bias);
}

template <class T>
Tensor linear_of(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const int64_t n = x.shape().without(-1).numel(), k = weight.size(1), m = weight.size(0);
  const Tensor rows = raw::contiguous(x), w = raw::contiguous(weight);
  const Tensor start = bias.defined() ? raw::contiguous(bias) : bias;
  Tensor y(x.shape().with(-1, m), x.dtype());
  const T* const first = bias.defined() ? start.data<T>() : nullptr;
  gemm(Gemm<T>{n, m, k, {rows.data<T>(), k}, {w.data<T>(), 1, k}, {first, 0}, {raw::write<T>(y), m}});
  return record({"linear", Node::Kind::product}, y, {x, weight, bias},
                [=, shape = x.shape()](const Tensor& upstream, Wants wants) {
                  const Tensor dy = raw::contiguous(upstream);
                  Tensor dx, dw, dbias;
                  if (wants[0]) dx = Tensor(shape, dy.dtype());
                  if (wants[1]) dw = Tensor(Shape{m, k}, dy.dtype());
                  if (wants[2]) dbias = Tensor(Shape{m}, dy.dtype());
                  const Strided<const T> d{dy.data<T>(), m}, in{rows.data<T>(), k}, matrix{w.data<T>(), k};
                  if (wants[0]) gemm(Gemm<T>{n, k, m, d, matrix, {}, {raw::write<T>(dx), k}});
                  if (wants[1]) gemm(Gemm<T>{m, k, n, d.transposed(), in, {}, {raw::write<T>(dw), k}});
                  if (wants[2]) kernels::column_sums(n, m, dy.data<T>(), raw::write<T>(dbias));
                  return std::array{dx, dw, dbias};
                });
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  check(a.ndim() >= 1 && b.ndim() >= 1,
        "matmul: both must have at least 1 dimension, got {} and {}; multiply by a single number with *",
        a.shape(), b.shape());
  if (a.ndim() == 1 || b.ndim() == 1) {
    check(a.size(-1) == b.size(b.ndim() == 1 ? 0 : -2),
          "matmul: inner dimensions must match, got {} and {} ({} against {})", a.shape(), b.shape(),
          a.size(-1), b.size(b.ndim() == 1 ? 0 : -2));
    const Tensor y = matmul(a.ndim() == 1 ? unsqueeze(a, 0) : a, b.ndim() == 1 ? unsqueeze(b, -1) : b);
    const Tensor left = b.ndim() == 1 ? squeeze(y, -1) : y;
    return a.ndim() == 1 ? squeeze(left, b.ndim() == 1 ? -1 : -2) : left;
  }
  check(a.size(-1) == b.size(-2), "matmul: inner dimensions must match, got {} and {} ({} against {}){}",
        a.shape(), b.shape(), a.size(-1), b.size(-2),
        a.size(-1) == b.size(-1) ? "; did you mean matmul(a, transpose(b))?" : "");
  check(a.dtype() == b.dtype(),
        "matmul: operands must have one dtype, got {} and {}; convert one with cast()", a.dtype(), b.dtype());
  const Shape batch = broadcast("matmul", leading(a), leading(b));
  Tensor y(batch.inserted(batch.ndim(), a.size(-2)).inserted(batch.ndim() + 1, b.size(-1)), a.dtype());
  dispatch_float("matmul", a.dtype(),
                 [&]<class T>() { multiply_batch<T>(Matrix<T>(a), Matrix<T>(b), a.size(-1), batch, y); });
  return record({"matmul", Node::Kind::product}, y, {a, b}, [a, b](const Tensor& dy, Wants wants) {
    return std::array{wants[0] ? matmul(dy, transpose(b)) : Tensor(),
                      wants[1] ? matmul(transpose(a), dy) : Tensor()};
  });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(x, weight, bias);
  if (composed_wanted()) return linear_composed(x, weight, bias);
  check_float("linear", x.dtype());
  return x.dtype() == Dtype::f32 ? linear_of<float>(x, weight, bias) : linear_of<double>(x, weight, bias);
}

}  // namespace isobar
