// Every differentiable function, by groups. Each is defined in a file of ops/ with its formula and its
// gradient.
//
// All ops return new tensors and never write to their inputs. Float ops take f32 or f64. Operands of one op
// must have the same dtype. Every op throws Error for mixed dtypes and for shapes that do not fit; the
// message names the op, what it wanted and what it got. Two shapes "broadcast" as in NumPy. `dims` and `dim`
// may be negative: they count from the last dimension. Shape letters: N rows, B batch, T time, C channels, H
// heads, V vocabulary.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <utility>

#include "../core/rng.h"

namespace isobar {

// A tensor, or a number if the other operand is a tensor. The number is converted to that tensor's dtype.
struct Operand {
  Operand(const Tensor& x) : tensor(&x) {}
  Operand(double s) : number(s) {}
  const Tensor* tensor = nullptr;
  double number = 0;
};

// --- arithmetic; the operands broadcast: shapes (…) and (…) → their broadcast shape. Integers can be added,
//     subtracted and multiplied: the result is exact and is a constant. Throws Error on integer overflow, and for
//     shapes that do not broadcast
Tensor add(const Tensor& a, const Tensor& b);                // a + b
Tensor subtract(const Tensor& a, const Tensor& b);           // a − b
Tensor multiply(const Tensor& a, const Tensor& b);           // a · b, element by element
Tensor divide(const Tensor& a, const Tensor& b);             // a / b; ±∞ or NaN where b is 0
Tensor multiply(const Tensor& x, double s);                  // s · x
Tensor divide(const Tensor& x, double s);                    // x / s
Tensor affine(const Tensor& x, double scale, double shift);  // scale · x + shift
// x^y elementwise; NaN for a negative base with a fractional exponent. d(x⁰)/dx is 0, d(0^y)/dy is 0 for y ≥
// 0, and d(x^s)/dx at x = 0 is s · 0^(s − 1), which is infinite for 0 < s < 1.
Tensor pow(const Tensor& x, double s);
Tensor pow(double s, const Tensor& x);
Tensor pow(const Tensor& x, const Tensor& y);
// min(a, b) elementwise. NaN if either element is NaN. Equal elements get half of the gradient each.
Tensor minimum(const Operand& a, const Operand& b);
// max(a, b) elementwise. NaN if either element is NaN. Equal elements get half of the gradient each.
Tensor maximum(const Operand& a, const Operand& b);

// a + b: add(), or affine() with a number.
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& x, double s) { return affine(x, 1, s); }
inline Tensor operator+(double s, const Tensor& x) { return affine(x, 1, s); }
// a − b: subtract(), or affine() with a number; and −x.
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator-(const Tensor& x) { return multiply(x, -1); }
inline Tensor operator-(const Tensor& x, double s) { return affine(x, 1, -s); }
inline Tensor operator-(double s, const Tensor& x) { return affine(x, -1, s); }
// a · b, element by element: multiply(). The product of matrices is matmul().
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
inline Tensor operator*(const Tensor& x, double s) { return multiply(x, s); }
inline Tensor operator*(double s, const Tensor& x) { return multiply(x, s); }
// a / b: divide().
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
inline Tensor operator/(const Tensor& x, double s) { return divide(x, s); }
inline Tensor operator/(double s, const Tensor& x) { return divide(full({}, s, x.dtype()), x); }

// --- masks: comparisons return tensors of dtype bool. They are constants and are not recorded. Operands have the
//     same dtype, which may be any, and broadcast. Comparisons with NaN are false, except !=
Tensor operator==(const Operand& a, const Operand& b);  // whether a equals b, elementwise
Tensor operator!=(const Operand& a, const Operand& b);  // whether a differs from b, elementwise
Tensor operator<(const Operand& a, const Operand& b);   // whether a is below b, elementwise
Tensor operator<=(const Operand& a, const Operand& b);  // whether a is at most b, elementwise
Tensor operator>(const Operand& a, const Operand& b);   // whether a is above b, elementwise
Tensor operator>=(const Operand& a, const Operand& b);  // whether a is at least b, elementwise
Tensor operator&&(const Tensor& a,
                  const Tensor& b);  // whether both masks are true; always computes both operands
Tensor operator||(const Tensor& a,
                  const Tensor& b);    // whether one of two masks is true; computes both operands
Tensor operator!(const Tensor& mask);  // true where the mask is false
// a where mask is true, else b. The three shapes broadcast. The chosen operand gets the gradient dy, the
// other one 0, even where dy is NaN. The derivative of the other operand must still be finite: 0 times an
// infinite derivative, as that of sqrt(x) at x = 0, is NaN.
Tensor where(const Tensor& mask, const Operand& a, const Operand& b);

// --- elementwise; x of any shape → the same shape. Throws Error for integers and masks
Tensor abs(const Tensor& x);                    // |x|; derivative 0 at 0 and at NaN
Tensor sign(const Tensor& x);                   // −1, 0 or 1; 0 for NaN; derivative 0
Tensor floor(const Tensor& x);                  // the largest integer ≤ x; derivative 0
Tensor ceil(const Tensor& x);                   // the smallest integer ≥ x; derivative 0
Tensor trunc(const Tensor& x);                  // x without its fraction; derivative 0
Tensor round(const Tensor& x);                  // the nearest integer, halves to even; derivative 0
Tensor reciprocal(const Tensor& x);             // 1 / x
Tensor square(const Tensor& x);                 // x²
Tensor sqrt(const Tensor& x);                   // √x; NaN below zero
Tensor rsqrt(const Tensor& x);                  // 1 / √x
Tensor isru(const Tensor& x, const Tensor& c);  // x / √(x² + c); x and c broadcast (Carlile et al. 2017)
Tensor exp(const Tensor& x);                    // eˣ
Tensor log(const Tensor& x);                    // ln x; −∞ at zero, NaN below
Tensor expm1(const Tensor& x);                  // eˣ − 1, accurate near 0
Tensor log1p(const Tensor& x);                  // ln(1 + x), accurate near 0; −∞ at −1, NaN below
Tensor sin(const Tensor& x);                    // sin x, x in radians
Tensor cos(const Tensor& x);                    // cos x, x in radians
Tensor tanh(const Tensor& x);                   // (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ)
Tensor sigmoid(const Tensor& x);                // 1 / (1 + e⁻ˣ)
Tensor erf(const Tensor& x);                    // 2/√π ∫₀ˣ e^(−t²) dt
Tensor relu(const Tensor& x);                   // max(0, x); derivative 0 at 0
Tensor squared_relu(const Tensor& x);           // max(0, x)² (So et al. 2021, Primer)
Tensor gelu(const Tensor& x);                   // x Φ(x), Φ by erf (Hendrycks & Gimpel 2016)
Tensor gelu_tanh(const Tensor& x);              // the approximation of gelu() by tanh, as in GPT-2
Tensor silu(const Tensor& x);                   // x sigmoid(x)
Tensor softplus(const Tensor& x);               // ln(1 + eˣ)
Tensor mish(const Tensor& x);                   // x tanh(softplus(x)) (Misra 2019)
Tensor swiglu(const Tensor& gate,
              const Tensor& up);              // silu(gate) · up; both of the same shape (Shazeer 2020)
Tensor softcap(const Tensor& x, double cap);  // cap · tanh(x / cap); throws Error unless cap > 0 (Gemma 2)
// x where x > 0, elsewhere negative_slope · x (Maas et al. 2013).
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
// x where x > 0, elsewhere alpha · (eˣ − 1) (Clevert et al. 2016).
Tensor elu(const Tensor& x, double alpha = 1);
// x limited to [min, max]. Either limit may be left out: clamp(x, {}, 1). The derivative is 1 at the limits,
// and 0 outside and at NaN. If min > max, all elements are max.
Tensor clamp(const Tensor& x, std::optional<double> min, std::optional<double> max = {});
// Sets each element to zero with probability p and multiplies the others by 1 / (1 − p). The mask is a
// function of rng. Throws Error unless p is in [0, 1). The backward pass throws Error if this key of rng was
// used for dropout in an earlier step, unless the tape has TapeOptions::again. On one tape, and without a
// tape, a key may be used any number of times.
Tensor dropout(const Tensor& x, double p, const Rng& rng);

// --- copies
Tensor clone(const Tensor& x);       // a copy of x in memory of its own; the gradient passes through
Tensor contiguous(const Tensor& x);  // x itself if it is stored in row-major order, otherwise a copy that is
Tensor cast(const Tensor& x,
            Dtype dtype);  // x itself if it has this dtype, otherwise a copy; integers are constants

// Copies all elements of `source` to `target`, which must be contiguous and of the same shape and dtype. This
// gives parameters new values. It is not recorded: the target does not depend on the tensors from which the
// source was computed. A later backward pass that needs the old values throws Error. Throws Error for a
// source that is recorded on a tape of another thread; and, if a tape is active, for a source that another
// thread computed from trainable tensors without a tape.
void assign(Tensor& target, const Tensor& source);

// --- layout; views where possible
// The sizes of a reshape. One of them may be −1: it is computed from the number of elements. Sizes refers to
// the caller's list and does not copy it.
class Sizes {
 public:
  Sizes(std::initializer_list<int64_t> sizes) : sizes_(sizes.begin(), sizes.size()) {}
  Sizes(const std::vector<int64_t>& sizes) : sizes_(sizes) {}
  Sizes(const Shape& shape) : sizes_(shape.begin(), shape.end()) {}
  Shape of(const Shape& x) const;  // throws Error if the number of elements differs from that of x

 private:
  std::span<const int64_t> sizes_;
};
// The elements of x in row-major order, in another shape. Throws Error if the numbers of elements differ.
Tensor reshape(const Tensor& x, const Sizes& sizes);
// Inserts a dimension of extent 1 at dim: (N, C) → (N, 1, C) for dim 1.
Tensor unsqueeze(const Tensor& x, int dim);
// Removes all dimensions of extent 1, or only dim if its extent is 1: (N, 1, C) → (N, C).
Tensor squeeze(const Tensor& x);
Tensor squeeze(const Tensor& x, int dim);
// Reorders the dimensions: dimension d of the result is dimension order[d] of x. Throws Error unless `order`
// lists each dimension once.
Tensor permute(const Tensor& x, const std::vector<int>& order);
// Swaps two dimensions: (…, M, N) → (…, N, M) by default.
Tensor transpose(const Tensor& x, int dim0 = -2, int dim1 = -1);
// Repeats dimensions of extent 1 up to those of `shape`, and adds dimensions at the front. Throws Error if x
// does not broadcast to `shape`.
Tensor broadcast_to(const Tensor& x, const Shape& shape);
// As broadcast_to(), with −1 for an extent that stays: expand(x, {4, -1}).
Tensor expand(const Tensor& x, const std::vector<int64_t>& sizes);
// The elements with begin ≤ i < end along dim. Negative indices count from the end. Throws Error if the range
// is not within x.
Tensor slice(const Tensor& x, int dim, int64_t begin, int64_t end);
// x[index] along dim, without that dimension: (N, T, C) → (N, C) for dim 1. A negative index counts from the
// end.
Tensor select(const Tensor& x, int dim, int64_t index);
// Adds elements of `value` before and after x: {left, right, top, bottom, …}, the last dimension first. A
// negative amount removes elements.
Tensor pad(const Tensor& x, const std::vector<int64_t>& amounts, double value = 0);
// Joins tensors along dim: (N, …) and (M, …) → (N + M, …). Throws Error unless all other extents are equal.
Tensor concat(const std::vector<Tensor>& xs, int dim = 0);
// Joins k tensors of one shape along a new dimension dim: (N, …) → (k, N, …) for dim 0.
Tensor stack(const std::vector<Tensor>& xs, int dim = 0);
// Divides x along dim into parts of `size` rows, the last one with the remaining rows; or into parts of
// `sizes`, whose sum must be the extent.
std::vector<Tensor> split(const Tensor& x, int64_t size, int dim = 0);
std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int dim = 0);
// Reverses the order of the elements along each of dims.
Tensor flip(const Tensor& x, const std::vector<int>& dims);
// Repeats x sizes[d] times along dimension d. Additional sizes at the front are for new dimensions.
Tensor repeat(const Tensor& x, const std::vector<int64_t>& sizes);
// Moves the elements along dim by `shift` positions; elements beyond the end continue at the beginning.
Tensor roll(const Tensor& x, int64_t shift, int dim);
// The lower triangle of x (…, M, N): the elements on and below a diagonal, zeros elsewhere. Diagonal 0 is the
// main one, 1 the one above it, −1 the one below it.
Tensor tril(const Tensor& x, int64_t diagonal = 0);
// The upper triangle of x (…, M, N): the elements on and above a diagonal, zeros elsewhere.
Tensor triu(const Tensor& x, int64_t diagonal = 0);

// --- indexing; indices are i32 or i64. Throws Error for an index outside of [0, extent). The backward pass throws
//     Error if the indices were overwritten
// y[…, j, …] = x[…, indices[j], …] along dim: x (N, …), indices (J) → (J, …). x has any dtype; integers and
// masks are constants.
Tensor index_select(const Tensor& x, int dim, const Tensor& indices);
// Adds rows of src to a copy of x: y[…, indices[j], …] += src[…, j, …] for every j. x (N, …), indices (J),
// src (J, …) → (N, …).
Tensor index_add(const Tensor& x, int dim, const Tensor& indices, const Tensor& src);
// y[i, j, …] = x[index[i, j, …], j, …] for dim 0. index has as many dimensions as x, and except along dim its
// extents are at most those of x. The result has the shape of index.
Tensor gather(const Tensor& x, int dim, const Tensor& index);
// Adds elements of src to a copy of x: y[index[i, j, …], j, …] += src[i, j, …] for dim 0. src is at least as
// large as index; its elements beyond index are ignored.
Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, const Tensor& src);

// The indices of the elements that are not 0, in row-major order: x (…) of any dtype → (count, ndim) of i64.
// Throws Error for a tensor without dimensions.
Tensor nonzero(const Tensor& x);
// 1 at [i, …, indices[i, …]] and 0 elsewhere: indices (…) → (…, classes). Throws Error for an index outside
// of [0, classes).
Tensor one_hot(const Tensor& indices, int64_t classes, Dtype dtype = Dtype::f32);
// The dimensions that an op reduces: -1, {0, -1}, a vector, or std::nullopt for all. A bool does not compile,
// alone or in a list, as in mean(x, {-1, true}).
class Dims {
 public:
  Dims() = default;
  Dims(std::nullopt_t) : all_(true) {}
  template <std::integral Int>
  requires(!std::same_as<Int, bool>) Dims(Int dim) : count_(1) {
    check(std::in_range<int>(dim), "dims: a tensor has no dimension {}", dim);
    dims_[0] = static_cast<int>(dim);
  }
  template <std::same_as<int> Int>
  Dims(std::initializer_list<Int> dims) : Dims(std::span<const int>(dims.begin(), dims.size())) {}
  Dims(const std::vector<int>& dims) : Dims(std::span(dims)) {}

  const int* begin() const { return dims_.data(); }
  const int* end() const { return dims_.data() + std::min(count_, dims_.size()); }
  bool empty() const { return count_ == 0; }
  // The number of dimensions that were given. The op refuses more than max_dims.
  size_t size() const { return count_; }
  bool all() const { return all_; }
  // The only dimension, not negative. Throws Error, naming `op`, unless it is one, and a dimension of x.
  int one(const char* op, const Shape& x) const;

 private:
  explicit Dims(std::span<const int> dims);

  std::array<int, max_dims> dims_{};
  size_t count_ = 0;
  bool all_ = false;
};

// Values and their indices (i64) in the input, as sort(), topk() and max_with_indices() return them.
struct Sorted {
  Tensor values, indices;
};
// The elements along dim in ascending order with NaN last, or in descending order with NaN first. Equal
// elements keep their order. The result has the shape of x; the indices are the earlier positions. Each
// element of the gradient goes to the position that the value came from.
Sorted sort(const Tensor& x, const Dims& dim = -1, bool descending = false);
// The k largest elements along dim in descending order, or the k smallest in ascending order: (…, N) → (…,
// k). Throws Error if k is larger than the extent.
Sorted topk(const Tensor& x, int64_t k, const Dims& dim = -1, bool largest = true);

// Whether a reduction keeps the reduced dimensions, with extent 1. A number does not compile: var(x, {0}, 0).
class KeepDim {
 public:
  template <std::same_as<bool> Bool>
  constexpr KeepDim(Bool keep) : keep_(keep) {}
  constexpr operator bool() const { return keep_; }

 private:
  bool keep_;
};

// The order p of a norm. A bool and a list do not compile: norm(x, {-1}) would otherwise have p = −1.
class NormOrder {
 public:
  template <class Number>
  requires(std::is_arithmetic_v<Number> && !std::same_as<Number, bool>) constexpr NormOrder(Number p)
      : p_(static_cast<double>(p)) {}
  NormOrder(std::initializer_list<int>) = delete;
  constexpr operator double() const { return p_; }

 private:
  double p_;
};

// --- reductions; over the given dimensions, or over all dimensions by default: (N, T, C) → (N, C) for dim 1, and
//     (N, 1, C) with keepdim. Throws Error for an empty list of dimensions. Results for integers and masks are
//     constants
// Σ x. The sum of integers and masks is an exact i64; throws Error if it overflows.
Tensor sum(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// Σ x / count. The mean of integers and masks is an f64: mean(argmax(logits, -1) == y) is the accuracy.
Tensor mean(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// The largest element, in the dtype of x; NaN if an element is NaN. Equal elements share the gradient.
Tensor max(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// The smallest element, in the dtype of x; NaN if an element is NaN. Equal elements share the gradient.
Tensor min(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// The index (i64) of the largest element along one dimension, or among all elements in row-major order. The
// first NaN, if there is one, otherwise the first of equal elements.
Tensor argmax(const Tensor& x, const Dims& dim = std::nullopt, KeepDim keepdim = false);
// The index (i64) of the smallest element along one dimension, or among all elements in row-major order. The
// first NaN, if there is one, otherwise the first of equal elements.
Tensor argmin(const Tensor& x, const Dims& dim = std::nullopt, KeepDim keepdim = false);
// The largest elements along dim, and their indices as argmax() returns them. The first of equal elements
// gets the gradient.
Sorted max_with_indices(const Tensor& x, const Dims& dim, KeepDim keepdim = false);
// The smallest elements along dim, and their indices as argmin() returns them. The first of equal elements
// gets the gradient.
Sorted min_with_indices(const Tensor& x, const Dims& dim, KeepDim keepdim = false);
// Σ (x − mean)² / (count − correction), in two passes. Correction 1 is the sample variance; it is NaN for
// fewer than two elements. var(x, std::nullopt, false, 0) is the population variance of all elements.
Tensor var(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false, double correction = 1);
// √var. The derivative is 0 where all elements are equal; the second derivative does not exist there and
// throws Error.
Tensor std_dev(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false,
               double correction = 1);
// (Σ |x|^p)^(1/p) for p > 0. p = ∞ gives the largest |x|; equal ones share the gradient. The derivative is 0
// at x = 0. Second derivatives at x = 0 throw Error, except for p = 1 and p = ∞. If p is not an integer and
// an element is 0, derivatives of an order above p are infinite and throw Error.
Tensor norm(const Tensor& x, NormOrder p = 2, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// ln Σ eˣ, without overflow. The gradient is NaN if all elements are −∞, or one is ∞.
Tensor logsumexp(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// Whether an element of a mask is true; false for no elements.
Tensor any(const Tensor& mask, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// Whether all elements of a mask are true; true for no elements.
Tensor all(const Tensor& mask, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// Sums x over the dimensions that broadcast_to() would repeat: its adjoint. Throws Error unless `shape`
// broadcasts to the shape of x.
Tensor sum_to_size(const Tensor& x, const Shape& shape);
// Cumulative sums along dim: y[…, i, …] = Σ x[…, j, …] over j ≤ i.
Tensor cumsum(const Tensor& x, int dim);

// --- products
// The product of matrices: (…, M, K) · (…, K, N) → (…, M, N). Leading dimensions broadcast. A vector on the
// left is taken as (1, K), and one on the right as (K, 1); the result does not have that dimension: (…, M, K)
// · (K) → (…, M), and (K) · (K) → one number. Throws Error if the inner extents differ.
Tensor matmul(const Tensor& a, const Tensor& b);
// x Wᵀ + bias: x (…, K), weight (N, K), bias (N) or undefined → (…, N).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
// A sum of products in Einstein's notation, one letter for each dimension: "bij,bjk->bik" is a batched
// matmul, "ij->ji" a transpose. Takes one or two operands. Letters that are missing in the output are summed.
// Without "->" the output has the letters that occur once, in alphabetical order. Throws Error for "…" and
// three operands.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& xs);
// The rows of weight (V, C) at indices (…) → (…, C). Throws Error for an index outside of [0, V).
Tensor embedding(const Tensor& indices, const Tensor& weight);

// --- convolutions; x (N, C, L) or (N, C, H, W): N samples, C channels. N may be 0
// A number for each spatial dimension, or one for both: 3, or {3, 1}.
class PerDim {
 public:
  PerDim() = default;  // not given
  PerDim(int64_t all) : number_{all}, count_(1) {}
  PerDim(std::initializer_list<int64_t> each);
  bool given() const { return count_ > 0; }
  // The number for spatial dimension `dim` of `dims`. Throws Error, naming the op and the argument, for a
  // wrong count of numbers, and for a number below `least` or above 2²⁴.
  int64_t at(const char* op, const char* name, int dim, int dims, int64_t least) const;

 private:
  static constexpr int64_t most = int64_t{1} << 24;
  std::array<int64_t, 2> number_{};
  size_t count_ = 0;
};

// The window of unfold() and fold(). It moves by `stride` over x, which gets `padding` zeros on each side;
// its entries are `dilation` apart. Along each dimension it has (extent + 2 · padding − dilation ·
// (kernel_size − 1) − 1) / stride + 1 positions, rounded down. All ops with windows throw Error if there is
// no position.
struct WindowOptions {
  PerDim stride = 1, padding = 0, dilation = 1;
};
// The values under the window at each position: (N, C, …) → (N, C · kernel, positions), y[n, (c, ky, kx),
// (oy, ox)].
Tensor unfold(const Tensor& x, const PerDim& kernel_size, const WindowOptions& options = {});
// The adjoint of unfold: (N, C · kernel, positions) → (N, C, output_size); values of one element are added.
Tensor fold(const Tensor& x, const Shape& output_size, const PerDim& kernel_size,
            const WindowOptions& options = {});

// Options of conv1d() and conv2d(). The window is as in WindowOptions.
struct ConvOptions {
  PerDim stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;  // the filters of a group read the channels of that group: groups = C is depthwise
};
// The sum of weight · x over channels and window, plus bias (LeCun et al. 1989). As in PyTorch, the weight is
// not flipped. x (N, C, L), weight (O, C / groups, K), bias (O) or undefined → (N, O, positions). Throws
// Error unless groups divides C and O.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& options = {});
// As conv1d(), over two dimensions: x (N, C, H, W), weight (O, C / groups, KH, KW), bias (O) or undefined →
// (N, O, positions of rows, positions of columns).
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& options = {});

// --- pooling; over windows in each channel: x (N, C, L) or (N, C, H, W) → (N, C, positions). Throws Error if the
//     padding is more than half of the extent that the window covers, and if a window covers padding only
// Options of max_pool1d() and max_pool2d(). The window is as in WindowOptions.
struct MaxPoolOptions {
  PerDim stride = {};  // default: kernel_size
  PerDim padding = 0, dilation = 1;
  bool ceil_mode = false;  // true: a last window that begins within x or its left padding counts too
};
// The largest value under each window, without padding; NaN if one is NaN. The first of equal elements gets
// the gradient. x (N, C, L) → (N, C, positions).
Tensor max_pool1d(const Tensor& x, const PerDim& kernel_size, const MaxPoolOptions& options = {});
// As max_pool1d(), over two dimensions: x (N, C, H, W) → (N, C, positions of rows, positions of columns).
Tensor max_pool2d(const Tensor& x, const PerDim& kernel_size, const MaxPoolOptions& options = {});
// Options of avg_pool1d() and avg_pool2d(). The window is as in WindowOptions.
struct AvgPoolOptions {
  PerDim stride = {};  // default: kernel_size
  PerDim padding = 0;
  bool ceil_mode = false;                                  // as in MaxPoolOptions
  bool count_include_pad = true;                           // whether zeros of the padding count in the mean
  std::optional<int64_t> divisor_override = std::nullopt;  // divides the sum instead of the count
};
// The mean of the values under each window: x (N, C, L) → (N, C, positions).
Tensor avg_pool1d(const Tensor& x, const PerDim& kernel_size, const AvgPoolOptions& options = {});
// As avg_pool1d(), over two dimensions: x (N, C, H, W) → (N, C, positions of rows, positions of columns).
Tensor avg_pool2d(const Tensor& x, const PerDim& kernel_size, const AvgPoolOptions& options = {});
// Divides x (N, C, L) into `output_size` parts and returns their means (N, C, output_size). Part o has the
// elements from ⌊o · L / output_size⌋ up to, and without, ⌈(o + 1) · L / output_size⌉.
Tensor adaptive_avg_pool1d(const Tensor& x, const PerDim& output_size);
// As adaptive_avg_pool1d(), over two dimensions: x (N, C, H, W) → (N, C, output_size).
Tensor adaptive_avg_pool2d(const Tensor& x, const PerDim& output_size);

// --- softmax and losses
// eˣ / Σ eˣ along dim, without overflow. A row of −∞ only gives NaN, as in PyTorch.
Tensor softmax(const Tensor& x, int dim = -1);
// x − ln Σ eˣ along dim: the logarithm of softmax(x), without overflow.
Tensor log_softmax(const Tensor& x, int dim = -1);
// What a loss returns: the mean of the losses of its elements, their sum, or each of them.
enum class Reduction { mean, sum, none };
// Options of cross_entropy().
struct CrossEntropyOptions {
  int64_t ignore_index = -100;
  int dim = -1;        // the dimension of the classes: 1 for PyTorch's logits (N, V, T)
  Tensor weight = {};  // (V), for each class, of the dtype of the logits; undefined: 1
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;
};
// The mean of −log_softmax(logits)[target] over the targets that are not ignored: logits (…, V), targets (…)
// of i32 or i64 → one number. Throws Error for a target that is neither in [0, V) nor equal to ignore_index.
// If all are ignored the result is NaN, as in PyTorch. If micro-batches ignore different numbers of targets,
// the loss of the batch is not the mean of their losses: backward_in_pieces() (nn/pieces.h) weights them.
//
// With `weight`, the loss of a target is multiplied by the weight of its class, and the sum is divided by the
// sum of these weights. A weight is a constant. With label_smoothing ε in [0, 1), the loss of a target is (1
// − ε) times the above plus ε / V · Σ −log_softmax(logits) over the classes, each times its weight (Szegedy
// et al. 2016, section 7). With Reduction::none the result is (…), and 0 for ignored targets.
// backward_in_pieces() refuses weights.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options = {});
// cross_entropy(linear(x, weight), targets) that stores at most 512 rows of the logits at a time, for
// vocabularies whose logits would take most of the memory. x (…, C), weight (V, C), targets (…) → one number.
Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& targets,
                            int64_t ignore_index = -100);

// --- losses element by element; input and target have the same shape: nothing broadcasts, and other shapes throw
//     Error. Returns one number, or the shape of the input with Reduction::none. A target that needs a gradient gets it
// (input − target)².
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
// |input − target|; derivative 0 at 0.
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
// d²/2 where |d| ≤ delta, else delta · (|d| − delta/2) (Huber 1964); d = input − target.
Tensor huber_loss(const Tensor& input, const Tensor& target, double delta = 1,
                  Reduction reduction = Reduction::mean);
// −(target · ln p + (1 − target) · ln(1 − p)), p = sigmoid(input); finite for logits of any size.
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        Reduction reduction = Reduction::mean);

// --- normalization; weight and bias have the shape that is normalized: the last dimensions of x. The result has the
//     shape of x. An undefined bias is 0 and an undefined weight is 1; dyt(), dyt_sqrtd(), dyisru() and derf() throw
//     Error for an undefined weight
// (x − mean) / √(var + eps) · weight + bias with the population variance (Ba et al. 2016). Mean and variance
// are taken over `normalized_shape`, the last dimensions of x.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps);
// x / √(mean x² + eps) · weight (Zhang & Sennrich 2019). With `partial` > 0 the mean is taken over the first
// `partial` elements only (pRMSNorm).
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, double eps,
                int64_t partial = 0);
// (x − mean) / √(variance + eps) · weight + bias for each channel of x (N, C, …), with mean and population
// variance over the batch and all positions (Ioffe & Szegedy 2015). If mean and variance (C) are given, they
// are used instead, as constants. weight and bias (C).
Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                  const Tensor& mean = {}, const Tensor& variance = {});
// (x − mean) / √(var + eps) · weight + bias with mean and population variance for each sample and each group
// of C / groups channels (Wu & He 2018). x (N, C, …), weight and bias (C). Throws Error unless groups divides
// C.
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias, double eps);
// tanh(alpha x) · weight + bias, alpha [1] (Zhu et al. 2025).
Tensor dyt(const Tensor& x, const Tensor& alpha, const Tensor& weight, const Tensor& bias);
// √d tanh(inv_rho x / √d) · weight + bias, inv_rho [1], d the number of normalized elements.
Tensor dyt_sqrtd(const Tensor& x, const Tensor& inv_rho, const Tensor& weight, const Tensor& bias);
// √d x / √(x² + C) · weight + bias, C = exp(log_c), log_c [1], d the number of normalized elements
// (Stollenwerk 2025). Like isru(), it limits |x| to 2⁶³ (f64: 2⁵¹¹) in the quotient, because x² would
// overflow.
Tensor dyisru(const Tensor& x, const Tensor& log_c, const Tensor& weight, const Tensor& bias);
// erf(alpha x + shift) · weight + bias, alpha and shift [1] (Chen et al. 2025).
Tensor derf(const Tensor& x, const Tensor& alpha, const Tensor& shift, const Tensor& weight,
            const Tensor& bias);

// --- attention
// Which channels rope() rotates together: half_split pairs j with j + D/2 (GPT-NeoX, Hugging Face's Llama),
// interleaved pairs 2j with 2j + 1 (Meta's Llama).
enum class RopeStyle { half_split, interleaved };
// Rotates pairs of channels of x (B, T, H, D) by the angle (start + t) · base^(−2j/D) (Su et al. 2021). The
// result has the shape of x. Throws Error unless D is even.
Tensor rope(const Tensor& x, double base, int64_t start = 0, RopeStyle style = RopeStyle::half_split);

// Options of attention(), with the names and meanings of PyTorch's scaled_dot_product_attention.
struct AttentionOptions {
  bool causal = false;  // true: query t attends to the keys up to t + (S − T)
  double softcap = 0;   // 0: none; otherwise logits become softcap · tanh(logits / softcap)
  std::optional<double> scale = std::nullopt;  // default 1/√D
  // Broadcasts to (B, H, T, S). bool: true where the query attends to the key (in MultiheadAttention's masks
  // true means the opposite, as in PyTorch). f32 or f64: added to the logits, after softcap; −∞ masks a key.
  Tensor attn_mask = {};
  double dropout_p =
      0;  // the probability that an attention weight is set to zero; the others are divided by 1 − p
  std::optional<Rng> dropout_rng = {};  // the key of the dropout; required if dropout_p > 0
};
// softmax(scale · q kᵀ + mask) v for each head: q (B, T, H, D), k and v (B, S, K, D) → (B, T, H, D). K must
// divide H; head h reads key/value head h / (H/K). If attn_mask masks all keys of a query, the result is 0;
// otherwise it is NaN where all logits of a query are −∞. With a mask or dropout the op is several nodes on
// the tape and stores the logits (B, H, T, S). Throws Error if causal and S < T, and if dropout_p > 0 without
// dropout_rng.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

}  // namespace isobar
