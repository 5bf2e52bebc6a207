// Every differentiable function, grouped. Each is in a file of ops/ with its formula and its gradient.
//
// All ops return new tensors and never write to their inputs. Float ops take f32 or f64; operands of one op
// have the same dtype (mixed dtypes throw Error, as do shapes that do not fit). Two shapes "broadcast" as in
// NumPy. `dims` and `dim` may be negative: they count from the back. Shape letters: N rows, B batch, T time,
// C channels, H heads, V vocabulary.
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <utility>

#include "../core/rng.h"

namespace isobar {

// A tensor, or a number where the other operand is a tensor: it counts in that one's dtype.
struct Operand {
  Operand(const Tensor& x) : tensor(&x) {}
  Operand(double s) : number(s) {}
  const Tensor* tensor = nullptr;
  double number = 0;
};

// --- arithmetic; the operands broadcast. Integers can be added, subtracted and multiplied; results are exact,
//     what does not fit throws, and they are constants
Tensor add(const Tensor& a, const Tensor& b);                // a + b
Tensor subtract(const Tensor& a, const Tensor& b);           // a − b
Tensor multiply(const Tensor& a, const Tensor& b);           // a · b
Tensor divide(const Tensor& a, const Tensor& b);             // a / b
Tensor multiply(const Tensor& x, double s);                  // s · x
Tensor divide(const Tensor& x, double s);                    // x / s
Tensor affine(const Tensor& x, double scale, double shift);  // scale · x + shift
// x^y elementwise; NaN for a negative base with a fractional exponent. d(x⁰)/dx is 0, d(0^y)/dy is 0 for y ≥
// 0, and d(x^s)/dx at x = 0 is s · 0^(s − 1): infinite for 0 < s < 1.
Tensor pow(const Tensor& x, double s);
Tensor pow(double s, const Tensor& x);
Tensor pow(const Tensor& x, const Tensor& y);
// The smaller or larger of two elements; equal ones get half of the gradient each. NaN where either is NaN.
Tensor minimum(const Operand& a, const Operand& b);
Tensor maximum(const Operand& a, const Operand& b);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
inline Tensor operator-(const Tensor& x) { return multiply(x, -1); }
inline Tensor operator+(const Tensor& x, double s) { return affine(x, 1, s); }
inline Tensor operator+(double s, const Tensor& x) { return affine(x, 1, s); }
inline Tensor operator-(const Tensor& x, double s) { return affine(x, 1, -s); }
inline Tensor operator-(double s, const Tensor& x) { return affine(x, -1, s); }
inline Tensor operator*(const Tensor& x, double s) { return multiply(x, s); }
inline Tensor operator*(double s, const Tensor& x) { return multiply(x, s); }
inline Tensor operator/(const Tensor& x, double s) { return divide(x, s); }
inline Tensor operator/(double s, const Tensor& x) { return divide(full({}, s, x.dtype()), x); }

// --- masks (bool): constants, which are not recorded. Operands have the same dtype, of any kind, and broadcast.
//     Comparisons with NaN are false, except !=
Tensor operator==(const Operand& a, const Operand& b);
Tensor operator!=(const Operand& a, const Operand& b);
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);
Tensor operator&&(const Tensor& a, const Tensor& b);  // of masks; both operands are always computed
Tensor operator||(const Tensor& a, const Tensor& b);
Tensor operator!(const Tensor& mask);
// a where mask, else b; the three broadcast. The chosen side gets the gradient, the other side 0, even where
// dy is NaN. The slope of the other side must still be finite: that of sqrt(x) at −1, times 0, is NaN.
Tensor where(const Tensor& mask, const Operand& a, const Operand& b);

// --- elementwise
Tensor abs(const Tensor& x);                          // |x|; slope 0 at 0 and at NaN
Tensor sign(const Tensor& x);                         // −1, 0 or 1, 0 for NaN; slope 0
Tensor floor(const Tensor& x);                        // the largest integer ≤ x; slope 0
Tensor ceil(const Tensor& x);                         // the smallest integer ≥ x; slope 0
Tensor trunc(const Tensor& x);                        // x without its fraction; slope 0
Tensor round(const Tensor& x);                        // the nearest integer, of two the even one; slope 0
Tensor reciprocal(const Tensor& x);                   // 1 / x
Tensor square(const Tensor& x);                       // x²
Tensor sqrt(const Tensor& x);                         // √x; NaN below zero
Tensor rsqrt(const Tensor& x);                        // 1 / √x
Tensor isru(const Tensor& x, const Tensor& c);        // x / √(x² + c), broadcast (Carlile et al. 2017)
Tensor exp(const Tensor& x);                          // eˣ
Tensor log(const Tensor& x);                          // ln x; −∞ at zero, NaN below
Tensor expm1(const Tensor& x);                        // eˣ − 1, exact near 0
Tensor log1p(const Tensor& x);                        // ln(1 + x), exact near 0; −∞ at −1, NaN below
Tensor sin(const Tensor& x);                          // x in radians
Tensor cos(const Tensor& x);                          // of x in radians
Tensor tanh(const Tensor& x);                         // (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ)
Tensor sigmoid(const Tensor& x);                      // 1 / (1 + e⁻ˣ)
Tensor erf(const Tensor& x);                          // 2/√π ∫₀ˣ e^(−t²) dt
Tensor relu(const Tensor& x);                         // max(0, x); slope 0 at 0
Tensor squared_relu(const Tensor& x);                 // max(0, x)² (So et al. 2021, Primer)
Tensor gelu(const Tensor& x);                         // x Φ(x), Φ by erf (Hendrycks & Gimpel 2016)
Tensor gelu_tanh(const Tensor& x);                    // its tanh fit
Tensor silu(const Tensor& x);                         // x sigmoid(x)
Tensor softplus(const Tensor& x);                     // ln(1 + eˣ)
Tensor mish(const Tensor& x);                         // x tanh(softplus(x)) (Misra 2019)
Tensor swiglu(const Tensor& gate, const Tensor& up);  // silu(gate) · up, same shapes (Shazeer 2020)
Tensor softcap(const Tensor& x, double cap);          // cap · tanh(x / cap), cap > 0 (Gemma 2)
// x where x > 0, elsewhere negative_slope · x (Maas et al. 2013), and alpha · (eˣ − 1) (Clevert et al. 2016).
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
Tensor elu(const Tensor& x, double alpha = 1);
// x limited to [min, max], either of which may be left out: clamp(x, {}, 1). Slope 1 at the limits, 0 outside
// and at NaN. Where min > max, all elements are max.
Tensor clamp(const Tensor& x, std::optional<double> min, std::optional<double> max = {});
// Zeroes each element with probability p in [0, 1) and multiplies the rest by 1 / (1 − p). The mask is a
// function of rng: backward refuses a key that has drawn in an earlier step, unless the tape is opened with
// TapeOptions::again. On one tape, and without a tape, a key may draw as often as it is wanted.
Tensor dropout(const Tensor& x, double p, const Rng& rng);

// --- copies
Tensor clone(const Tensor& x);              // the same values in a block of their own
Tensor contiguous(const Tensor& x);         // x, or a copy in row-major order where x is stored otherwise
Tensor cast(const Tensor& x, Dtype dtype);  // x, or a copy in another dtype; integers are constants

// Overwrites all elements of `target`, which must be contiguous, with those of `source` (same shape and
// dtype). This gives parameters new values. Not recorded: the target does not depend on what the source was
// computed from. A backward that needs the old values throws Error. As ops do, it throws Error for a source that
// is recorded on a tape of another thread, and on a tape for one that another thread computed from trainable
// tensors without a tape; without a tape, a target that is not trainable takes the mark of such a source.
void assign(Tensor& target, const Tensor& source);

// --- layout; views where possible
// The sizes of a reshape, of which one may be −1: what is left of x. A reference to the caller's list.
class Sizes {
 public:
  Sizes(std::initializer_list<int64_t> sizes) : sizes_(sizes.begin(), sizes.size()) {}
  Sizes(const std::vector<int64_t>& sizes) : sizes_(sizes) {}
  Sizes(const Shape& shape) : sizes_(shape.begin(), shape.end()) {}
  Shape of(const Shape& x) const;  // throws Error where it has not as many elements as x

 private:
  std::span<const int64_t> sizes_;
};
Tensor reshape(const Tensor& x, const Sizes& sizes);  // same elements in row-major order
Tensor unsqueeze(const Tensor& x, int dim);           // a new dimension of extent one at dim
Tensor squeeze(const Tensor& x);                      // all dimensions of extent one left out
Tensor squeeze(const Tensor& x, int dim);             // dim left out where its extent is one
Tensor permute(const Tensor& x,
               const std::vector<int>& order);  // dimension d of y is dimension order[d] of x
Tensor transpose(const Tensor& x, int dim0 = -2, int dim1 = -1);  // two dimensions swapped
Tensor broadcast_to(const Tensor& x, const Shape& shape);         // repeats dimensions of extent one
// The same where −1 keeps an extent: expand(x, {4, -1}).
Tensor expand(const Tensor& x, const std::vector<int64_t>& sizes);
// begin ≤ i < end along dim; negative ones count from the back.
Tensor slice(const Tensor& x, int dim, int64_t begin, int64_t end);
Tensor select(const Tensor& x, int dim, int64_t index);  // x[index] along dim, which is left out
// x with rows of `value` added on both sides: {left, right, top, bottom, …}, the last dimension first. A
// negative number removes rows.
Tensor pad(const Tensor& x, const std::vector<int64_t>& amounts, double value = 0);
Tensor concat(const std::vector<Tensor>& xs, int dim = 0);  // joined along dim
Tensor stack(const std::vector<Tensor>& xs, int dim = 0);   // joined along a new dimension dim
// Pieces of `size` rows along dim, the last piece with the remaining rows; or pieces of these sizes.
std::vector<Tensor> split(const Tensor& x, int64_t size, int dim = 0);
std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int dim = 0);
Tensor flip(const Tensor& x, const std::vector<int>& dims);  // in reverse order along each of dims
// x, sizes[d] times one after the other along dimension d; further sizes at the front are of new dimensions.
Tensor repeat(const Tensor& x, const std::vector<int64_t>& sizes);
// Moves the elements along dim by `shift` places; those that leave at the end enter at the front.
Tensor roll(const Tensor& x, int64_t shift, int dim);
// The last two dimensions of x on and below a diagonal (tril), or on and above (triu), zeros elsewhere.
// Diagonal 0 is the main one, 1 the one above it, −1 the one below.
Tensor tril(const Tensor& x, int64_t diagonal = 0);
Tensor triu(const Tensor& x, int64_t diagonal = 0);

// --- indexing. Indices are i32 or i64, each in [0, extent); backward throws where they were overwritten
// y[…, j, …] = x[…, indices[j], …] along dim; indices is 1-D. x has any dtype; integers and masks are constants.
Tensor index_select(const Tensor& x, int dim, const Tensor& indices);
// x with y[…, indices[j], …] += src[…, j, …] for every j; indices is 1-D.
Tensor index_add(const Tensor& x, int dim, const Tensor& indices, const Tensor& src);
// y[i, j, …] = x[index[i, j, …], j, …] for dim 0. index has as many dimensions as x, and no other dimension
// than dim is longer than x's.
Tensor gather(const Tensor& x, int dim, const Tensor& index);
// x with y[index[i, j, …], j, …] += src[i, j, …] for dim 0; src is at least as large as index; elements
// beyond index are ignored.
Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, const Tensor& src);

// The indices of the elements that are not 0, in row-major order: x (…) of any dtype → (count, ndim) i64.
Tensor nonzero(const Tensor& x);
// 1 at [i, …, indices[i, …]] and 0 elsewhere; indices (…) in [0, classes) → (…, classes).
Tensor one_hot(const Tensor& indices, int64_t classes, Dtype dtype = Dtype::f32);
// The dimensions that an op runs over: -1, {0, -1}, a vector, or std::nullopt for all. A bool does not compile, alone
// or in a list: mean(x, {-1, true}).
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
  const int* end() const { return dims_.data() + count_; }
  bool empty() const { return count_ == 0; }
  bool all() const { return all_; }
  // The only dimension, not negative. Throws Error, naming `op`, unless it is one, and a dimension of x.
  int one(const char* op, const Shape& x) const;

 private:
  explicit Dims(std::span<const int> dims);  // throws Error for more than max_dims

  std::array<int, max_dims> dims_{};
  size_t count_ = 0;
  bool all_ = false;
};

// The elements along dim in ascending order, NaN last, or in descending order, NaN first; equal elements keep
// their order. The indices, i64, say where each was. topk has the first k of them. The gradient goes where the
// elements were.
struct Sorted {
  Tensor values, indices;
};
Sorted sort(const Tensor& x, const Dims& dim = -1, bool descending = false);
Sorted topk(const Tensor& x, int64_t k, const Dims& dim = -1, bool largest = true);

// Whether a reduction keeps its dimensions as extents of one. A number does not compile: var(x, {0}, 0).
class KeepDim {
 public:
  template <std::same_as<bool> Bool>
  constexpr KeepDim(Bool keep) : keep_(keep) {}
  constexpr operator bool() const { return keep_; }

 private:
  bool keep_;
};

// The p of a norm. A bool and a list do not compile: norm(x, {-1}) would be one of p = −1.
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

// --- reductions over the named dimensions, or over all where none is named; an empty list throws
// Of integers and masks, sum is an exact i64, which throws where it does not fit, mean an f64, and max and min are
// of x's dtype; these are constants. mean(argmax(logits, -1) == y) is the accuracy.
Tensor sum(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false);
Tensor mean(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// The largest and the smallest element; NaN where one is NaN. Ties share the gradient.
Tensor max(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false);
Tensor min(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// The index of that element, i64, among all elements in row-major order or along one dimension: the first of
// ties, or the first NaN.
Tensor argmax(const Tensor& x, const Dims& dim = std::nullopt, KeepDim keepdim = false);
Tensor argmin(const Tensor& x, const Dims& dim = std::nullopt, KeepDim keepdim = false);
// max along dim with its index, as argmax gives it; of ties, the first has the gradient.
Sorted max_with_indices(const Tensor& x, const Dims& dim, KeepDim keepdim = false);
Sorted min_with_indices(const Tensor& x, const Dims& dim, KeepDim keepdim = false);
// Σ (x − mean)² / (count − correction), in two passes; correction 1 is the sample variance. NaN for one
// element, or none. var(x, std::nullopt, false, 0) is the population variance of all elements.
Tensor var(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false, double correction = 1);
// √var; slope 0 where all elements are equal, and no second derivative there: that throws Error.
Tensor std_dev(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false,
               double correction = 1);
// (Σ |x|^p)^(1/p), p > 0; p = ∞ is the largest |x|, whose ties share the gradient. Slope 0 at x = 0, and
// no second derivative there but for p = 1 and p = ∞: that throws Error. So does a derivative above the p-th where an
// element is 0 and p is no integer: it is infinite.
Tensor norm(const Tensor& x, NormOrder p = 2, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// ln Σ eˣ, without overflow. The gradient is NaN where all are −∞, or one is ∞.
Tensor logsumexp(const Tensor& x, const Dims& dims = std::nullopt, KeepDim keepdim = false);
// Whether any element, or every element, of a mask is true; false and true for no elements.
Tensor any(const Tensor& mask, const Dims& dims = std::nullopt, KeepDim keepdim = false);
Tensor all(const Tensor& mask, const Dims& dims = std::nullopt, KeepDim keepdim = false);
Tensor sum_to_size(const Tensor& x, const Shape& shape);  // the adjoint of broadcast_to
Tensor cumsum(const Tensor& x, int dim);                  // y[…, i, …] = Σ x[…, j, …] over j ≤ i

// --- products
// (…, M, K) · (…, K, N) → (…, M, N); leading dimensions broadcast. A vector is (1, K) on the left and (K, 1) on the
// right, and that dimension is left out of the result: (…, M, K) · (K) → (…, M), and (K) · (K) → one number.
Tensor matmul(const Tensor& a, const Tensor& b);
// x Wᵀ + bias: x (…, K), weight (N, K), bias (N) or undefined → (…, N).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
// A sum of products by letters, one for each dimension: "bij,bjk->bik" is a batched matmul, "ij->ji" a
// transpose. One or two operands; letters missing in the output are summed; without "->" the output has the
// letters that occur once, in alphabetical order.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& xs);
// Rows of weight (V, C) at indices (…) in [0, V) → (…, C).
Tensor embedding(const Tensor& indices, const Tensor& weight);

// --- convolutions. x (N, C, L) or (N, C, H, W): N samples, C channels; N may be 0
// One number for each spatial dimension, or one for both: 3, or {3, 1}.
class PerDim {
 public:
  PerDim() = default;  // not given
  PerDim(int64_t all) : number_{all}, count_(1) {}
  PerDim(std::initializer_list<int64_t> each);  // throws Error unless there are one or two
  bool given() const { return count_ > 0; }
  // Of dimension `dim` of so many. Throws Error, naming op and argument, for another count of numbers, for one below
  // `least`, and for one beyond what any image has.
  int64_t at(const char* op, const char* name, int dim, int dims, int64_t least) const;

 private:
  static constexpr int64_t most = int64_t{1} << 24;
  std::array<int64_t, 2> number_{};
  size_t count_ = 0;
};

// A window moves over x, which has `padding` zeros on either side, by `stride`; its entries are `dilation` apart.
// Along each dimension it has (extent + 2 · padding − dilation · (kernel_size − 1) − 1) / stride + 1 positions,
// rounded down. All ops with windows throw Error where there is none.
struct WindowOptions {
  PerDim stride = 1, padding = 0, dilation = 1;
};
// The values under the window: (N, C, …) → (N, C · kernel, positions), y[n, (c, ky, kx), (oy, ox)].
Tensor unfold(const Tensor& x, const PerDim& kernel_size, const WindowOptions& options = {});
// The adjoint of unfold: (N, C · kernel, positions) → (N, C, output_size); values of one element are added.
Tensor fold(const Tensor& x, const Shape& output_size, const PerDim& kernel_size,
            const WindowOptions& options = {});

struct ConvOptions {
  PerDim stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;  // filters of a group see the channels of that group: groups = C is depthwise
};
// Σ over channels and window of weight · x, plus bias (LeCun et al. 1989; as PyTorch, without flipping the weight).
// x (N, C, L), weight (O, C / groups, K), bias (O) or undefined → (N, O, positions).
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& options = {});
// x (N, C, H, W), weight (O, C / groups, KH, KW), bias (O) or undefined → (N, O, positions of rows, of columns).
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& options = {});

// --- pools, over windows in each channel: x (N, C, L) or (N, C, H, W) → (N, C, positions)
struct MaxPoolOptions {
  PerDim stride = {};  // kernel_size where it is not given
  PerDim padding = 0, dilation = 1;
  bool ceil_mode = false;  // true: a last window that begins within x or its left padding counts too
};
// The largest value under the window, padding left out; NaN where one is NaN. Of ties, the first has the gradient.
// Throws Error for padding of more than half of what the window covers, and for a window in the padding alone.
Tensor max_pool1d(const Tensor& x, const PerDim& kernel_size, const MaxPoolOptions& options = {});
Tensor max_pool2d(const Tensor& x, const PerDim& kernel_size, const MaxPoolOptions& options = {});
struct AvgPoolOptions {
  PerDim stride = {};  // kernel_size where it is not given
  PerDim padding = 0;
  bool ceil_mode = false;                                  // as for max_pool
  bool count_include_pad = true;                           // whether zeros of the padding count in the mean
  std::optional<int64_t> divisor_override = std::nullopt;  // the sum is divided by it, not by the count
};
// The mean of the values under the window; with the same error.
Tensor avg_pool1d(const Tensor& x, const PerDim& kernel_size, const AvgPoolOptions& options = {});
Tensor avg_pool2d(const Tensor& x, const PerDim& kernel_size, const AvgPoolOptions& options = {});
// Means of so many parts of x: output o is that of the elements from ⌊o · in / out⌋ up to ⌈(o + 1) · in / out⌉.
Tensor adaptive_avg_pool1d(const Tensor& x, const PerDim& output_size);
Tensor adaptive_avg_pool2d(const Tensor& x, const PerDim& output_size);

// --- softmax and losses
// Over dim; a row of −∞ alone gives NaN, as in PyTorch.
Tensor softmax(const Tensor& x, int dim = -1);
Tensor log_softmax(const Tensor& x, int dim = -1);  // log of softmax(x), without overflow
// What a loss returns of the losses of its elements: their mean, their sum, or each of them.
enum class Reduction { mean, sum, none };
// Mean over the targets that are not ignored of −log_softmax(logits)[target]. logits (…, V), targets (…) of
// i32 or i64 in [0, V) or equal to ignore_index. All ignored: NaN, as in PyTorch. The mean over a batch is not
// the mean of its parts' means where they ignore unequally: backward_in_pieces() (nn/pieces.h) weighs them.
//
// With weight (V), a target's loss is multiplied by its class's weight, and the mean is one of these weights. With
// label_smoothing ε in [0, 1), the loss of a target is (1 − ε) of the above + ε / V · Σ −log_softmax(logits)
// over the classes, each times its weight (Szegedy et al. 2016, section 7). With Reduction::none the result is
// (…), 0 where ignored. A weight is a constant. backward_in_pieces() refuses weights.
struct CrossEntropyOptions {
  int64_t ignore_index = -100;
  int dim = -1;        // of the classes: 1 for PyTorch's logits (N, V, T)
  Tensor weight = {};  // for each class, of the dtype of the logits; undefined: 1
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;
};
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options = {});
// cross_entropy(linear(x, weight), targets) that holds at most 512 rows of the logits at a time, for
// vocabularies whose logits would take most of the memory. x (…, C), weight (V, C).
Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& targets,
                            int64_t ignore_index = -100);

// Losses between an input and a target, element by element. Both have the same shape: nothing broadcasts. A
// target that needs a gradient receives it.
// (input − target)².
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
// |input − target|; slope 0 at 0.
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
// d²/2 where |d| ≤ delta, else delta · (|d| − delta/2) (Huber 1964); d = input − target.
Tensor huber_loss(const Tensor& input, const Tensor& target, double delta = 1,
                  Reduction reduction = Reduction::mean);
// −(target · ln p + (1 − target) · ln(1 − p)), p = sigmoid(input); finite for logits of any size.
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        Reduction reduction = Reduction::mean);

// --- normalization. weight and bias have the shape that is normalized (the last dimensions of x). An undefined
//     bias is 0; an undefined weight is 1, but dyt, dyt_sqrtd, dyisru and derf refuse it
// (x − mean) / √(var + eps) · weight + bias, population variance (Ba et al. 2016). `normalized_shape` names
// the last dimensions over which each mean and variance is taken.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps);
// x / √(mean x² + eps) · weight (Zhang & Sennrich 2019). `partial` > 0 takes the mean over the first
// `partial` elements only (pRMSNorm).
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, double eps,
                int64_t partial = 0);
// Per channel over batch and all positions: x (N, C, …), population statistics of x (Ioffe & Szegedy 2015). With
// mean and variance given (C), those are used instead and count as constants.
Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                  const Tensor& mean = {}, const Tensor& variance = {});
// Per sample and group of C / groups channels: x (N, C, …), weight and bias (C) (Wu & He 2018).
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias, double eps);
// tanh(alpha x) · weight + bias, alpha [1] (Zhu et al. 2025).
Tensor dyt(const Tensor& x, const Tensor& alpha, const Tensor& weight, const Tensor& bias);
// √d tanh(inv_rho x / √d) · weight + bias, inv_rho [1], d the number of normalized elements.
Tensor dyt_sqrtd(const Tensor& x, const Tensor& inv_rho, const Tensor& weight, const Tensor& bias);
// √d x / √(x² + C) · weight + bias, C = exp(log_c), log_c [1] (Stollenwerk 2025).
// It and isru() take |x| for 2⁶³ (f64: 2⁵¹¹) beyond that, where x² would overflow: ±1 unless c is near the square.
Tensor dyisru(const Tensor& x, const Tensor& log_c, const Tensor& weight, const Tensor& bias);
// erf(alpha x + shift) · weight + bias, alpha and shift [1] (Chen et al. 2025).
Tensor derf(const Tensor& x, const Tensor& alpha, const Tensor& shift, const Tensor& weight,
            const Tensor& bias);

// --- attention
enum class RopeStyle { half_split, interleaved };
// Rotates pairs of channels of x (B, T, H, D), D even, by angle (start + t) · base^(−2j/D) (Su et al. 2021).
// half_split pairs j with j + D/2 (GPT-NeoX, Hugging Face Llama), interleaved 2j with 2j + 1 (Meta's Llama).
Tensor rope(const Tensor& x, double base, int64_t start = 0, RopeStyle style = RopeStyle::half_split);

// In the names and meanings of PyTorch's scaled_dot_product_attention.
struct AttentionOptions {
  bool causal = false;  // true: query t sees keys up to t + (keys − queries)
  double softcap = 0;   // 0: none; else logits become softcap · tanh(logits / softcap)
  std::optional<double> scale = std::nullopt;  // default 1/√D
  // Broadcasts to (B, H, T, S). bool: true where the query sees the key (MultiheadAttention's masks say the
  // opposite, as PyTorch's do). f32 or f64: added to the logits, after softcap; −∞ hides a key.
  Tensor attn_mask = {};
  double dropout_p = 0;  // each probability is zeroed with it; the others are divided by 1 − p
  std::optional<Rng> dropout_rng = {};  // the key of the dropout, which dropout_p > 0 needs
};
// softmax(scale · q kᵀ + mask) v per head. q (B, T, H, D), k and v (B, S, K, D) with K dividing H: head h reads
// key/value head h / (H/K). Returns (B, T, H, D). A query from which attn_mask hides all keys gives 0; otherwise
// the result is NaN where all logits of a query are −∞. With a mask or dropout the op is several nodes on the tape,
// and stores the logits (B, H, T, S).
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

}  // namespace isobar
