#include "tensor.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/moments.h"
#include "object_memory.h"
#include "parallel.h"
#include "raw.h"
#include "steps.h"

namespace isobar {
namespace {

bool is_row_major(const Shape& shape, const Strides& strides) {
  if (shape.numel() == 0) return true;
  int64_t step = 1;
  for (int d = shape.ndim() - 1; d >= 0; --d) {
    if (shape[d] != 1 && strides[d] != step) return false;
    step *= shape[d];
  }
  return true;
}

constexpr int64_t copy_grain = 1 << 15;

// Copies elements of any layout into a contiguous block, converting From to To. A row is one line of the last
// dimension.
template <class From, class To>
void copy_elements(const From* from, const Shape& shape, const Strides& strides, To* to) {
  const int64_t inner = shape.ndim() > 0 ? shape[-1] : 1;
  const int64_t step = shape.ndim() > 0 ? strides[shape.ndim() - 1] : 1;
  const int64_t rows = inner > 0 ? shape.numel() / inner : 0;
  parallel_each(rows, grain_of_rows(inner, copy_grain), [=](int64_t row) {
    const From* x = from + offset_at(row, shape, strides, shape.ndim() - 1);
    To* y = to + row * inner;
    if (step == 1)
      for (int64_t i = 0; i < inner; ++i) y[i] = static_cast<To>(x[i]);
    else
      for (int64_t i = 0; i < inner; ++i) y[i] = static_cast<To>(x[i * step]);
  });
}

// Whether an integer type To holds x, or what is left of it without its fraction.
template <class To, class From>
bool fits(From x) {
  if constexpr (std::is_floating_point_v<From>) {
    constexpr From end = -static_cast<From>(std::numeric_limits<To>::min());  // a power of two
    const From whole = std::trunc(x);
    return whole >= -end && whole < end;
  } else {
    return x >= std::numeric_limits<To>::min() && x <= std::numeric_limits<To>::max();
  }
}

template <class To, class From>
constexpr bool may_not_fit =
    std::is_integral_v<To> && !std::is_same_v<To, bool> && !std::is_same_v<From, bool> &&
    (std::is_floating_point_v<From> || sizeof(To) < sizeof(From));

// Throws Error that names the first element which the integer type To cannot hold.
template <class To, class From>
void check_fits(const std::vector<From>& values, const Shape& shape) {
  const auto wrong = std::find_if_not(values.begin(), values.end(), [](From x) { return fits<To>(x); });
  if (wrong == values.end()) return;
  throw_error(fmt::format("cast: {} holds integers in [{}, {}], the element at [{}] is {}", dtype_of<To>(),
                          std::numeric_limits<To>::min(), std::numeric_limits<To>::max(),
                          fmt::join(shape.index_at(wrong - values.begin()), ", "), *wrong));
}

template <class To>
void copy_into(const Tensor& source, To* target) {
  dispatch_any(source.dtype(), [&]<class From>() {
    if constexpr (may_not_fit<To, From>) check_fits<To, From>(source.to_vector<From>(), source.shape());
    copy_elements(source.data<From>(), source.shape(), source.strides(), target);
  });
}

// One element as a double.
template <class T>
double exact(const char* op, T value) {
  if constexpr (std::is_same_v<T, int64_t>)
    check(std::abs(value) <= int64_t{1} << 53 || static_cast<__int128>(static_cast<double>(value)) == value,
          "{}: no double is {}; to_vector<int64_t>() gives it", op, value);
  return static_cast<double>(value);
}

}  // namespace

Dtype dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < dtype_names.size(); ++i)
    if (dtype_names[i] == name) return static_cast<Dtype>(i);
  throw_error(fmt::format("dtype: wanted f32, f64, i32, i64 or bool, got '{}'", name));
}

Tensor::Tensor(const Shape& shape, Dtype dtype) : impl_(std::allocate_shared<Impl>(ObjectAllocator<Impl>())) {
  check(!inside_parallel(), "tensor: ops may not be called inside parallel_for; call kernels there");
  impl_->shape = shape;
  impl_->numel = 1;
  for (int d = shape.ndim() - 1; d >= 0; --d) {  // strides and numel in one pass
    impl_->strides[d] = impl_->numel;
    impl_->numel *= shape.begin()[d];
  }
  impl_->dtype = dtype;
  impl_->storage = std::allocate_shared<Storage>(ObjectAllocator<Storage>(), impl_->numel * size_of(dtype));
}

void Tensor::refuse_undefined() const {
  throw_error("tensor: this tensor is undefined (default-constructed); give it a value first");
}

void Tensor::refuse_dtype(Dtype wanted) const {
  throw_error(fmt::format("tensor: wanted elements of {}, this tensor holds {}", wanted, dtype()));
}

const Tensor& Tensor::undefined() {
  static const Tensor none;
  return none;
}

double Tensor::item() const {
  check(numel() == 1, "item: wanted a single number, got {}", shape());
  return dispatch_any(dtype(), [&]<class T>() { return exact("item", *data<T>()); });
}

double Tensor::at(std::initializer_list<int64_t> index) const {
  check(static_cast<int>(index.size()) == ndim(), "at: wanted {} indices for {}, got {}", ndim(), shape(),
        index.size());
  int64_t offset = 0;
  int d = 0;
  for (const int64_t wanted : index) {
    const int64_t i = wanted < 0 ? wanted + size(d) : wanted;
    check(i >= 0 && i < size(d), "at: index {} is outside of dimension {} of {}", wanted, d, shape());
    offset += i * strides()[d++];
  }
  return dispatch_any(dtype(), [&]<class T>() { return exact("at", data<T>()[offset]); });
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  std::vector<T> values(numel());
  copy_into(*this, values.data());
  return values;
}
// A vector of bool has no array of bool inside.
template <>
std::vector<bool> Tensor::to_vector() const {
  const auto values = std::make_unique<bool[]>(numel());
  copy_into(*this, values.get());
  return std::vector<bool>(values.get(), values.get() + numel());
}
template std::vector<float> Tensor::to_vector() const;
template std::vector<double> Tensor::to_vector() const;
template std::vector<int32_t> Tensor::to_vector() const;
template std::vector<int64_t> Tensor::to_vector() const;

Tensor Tensor::detach() const { return raw::as_strided(*this, shape(), strides()); }

Tensor& Tensor::set_trainable(bool trainable) & {
  check(is_float(dtype()), "trainable: only f32 and f64 tensors have gradients, this one holds {}", dtype());
  check(!trainable || !impl().slot.recorded(),
        "trainable: this tensor {} was computed by an op on a tape, and gradients are kept for leaves only; "
        "call detach() first",
        shape());
  impl().trainable = trainable;
  if (impl().slot.marked()) impl().slot = {};
  return *this;
}
Tensor Tensor::set_trainable(bool trainable) && { return set_trainable(trainable); }

void Tensor::set_grad(Tensor grad) const {
  check(grad.shape() == shape() && grad.dtype() == dtype(), "set_grad: wanted {} {}, got {} {}", shape(),
        dtype(), grad.shape(), grad.dtype());
  Leaf& leaf = raw::Access::leaf(*this);
  leaf.grad = std::move(grad);
  leaf.age = {steps::taken()};
}

namespace {

// As an element of a tensor; throws Error in the name of `op` where it is none.
template <class T>
T element(const char* op, double value) {
  if constexpr (std::is_same_v<T, bool>)
    check(value == 0 || value == 1, "{}: an element of a mask is 0 or 1, not {}", op, value);
  else if constexpr (std::is_integral_v<T>)
    check(fits<T>(value) && std::trunc(value) == value,
          "{}: no {} is {}; give an integer, or cast() to f32 or f64", op, dtype_of<T>(), value);
  return static_cast<T>(value);
}

}  // namespace

Tensor full(const Shape& shape, double value, Dtype dtype) {
  Tensor result(shape, dtype);
  dispatch_any(dtype, [&]<class T>() {
    const T x = element<T>("full", value);
    T* y = raw::write<T>(result);
    parallel_for(result.numel(), copy_grain,
                 [&](int64_t begin, int64_t end) { std::fill(y + begin, y + end, x); });
  });
  return result;
}

Tensor zeros(const Shape& shape, Dtype dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape& shape, Dtype dtype) { return full(shape, 1, dtype); }

Tensor zeros_like(const Tensor& x) { return zeros(x.shape(), x.dtype()); }
Tensor ones_like(const Tensor& x) { return ones(x.shape(), x.dtype()); }
Tensor full_like(const Tensor& x, double value) { return full(x.shape(), value, x.dtype()); }

Tensor arange(int64_t count, Dtype dtype) {
  check(count >= 0, "arange: wanted a count of at least 0, got {}", count);
  return arange(0, count, dtype);
}

Tensor arange(int64_t begin, int64_t end, Dtype dtype) {
  int64_t count = 0;
  check(begin <= end && !__builtin_sub_overflow(end, begin, &count),
        "arange: wanted begin <= end, less than 2^63 apart, got {} and {}", begin, end);
  Tensor result(Shape{count}, dtype);
  dispatch_any(dtype, [&]<class T>() {
    // Beyond it numbers would repeat.
    constexpr int64_t most = std::is_same_v<T, bool>       ? 2
                             : std::is_floating_point_v<T> ? int64_t{1} << std::numeric_limits<T>::digits
                                                           : std::numeric_limits<T>::max();
    constexpr int64_t least = std::is_same_v<T, bool> ? 0 : std::is_same_v<T, int64_t> ? -most - 1 : -most;
    check(count == 0 || end <= most, "arange: {} counts to {} exactly, got {}", dtype, most, end);
    check(count == 0 || begin >= least, "arange: {} counts from {} exactly, got {}", dtype, least, begin);
    T* y = raw::write<T>(result);
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<T>(begin + i);
  });
  return result;
}

Tensor linspace(double start, double end, int64_t steps, Dtype dtype) {
  check(steps >= 0, "linspace: wanted at least 0 steps, got {}", steps);
  Tensor result(Shape{steps}, dtype);
  dispatch_float("linspace", dtype, [&]<class T>() {
    T* y = raw::write<T>(result);
    const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
    for (int64_t i = 0; i < steps; ++i)
      y[i] = static_cast<T>(i < (steps + 1) / 2 ? start + step * static_cast<double>(i)
                                                : end - step * static_cast<double>(steps - 1 - i));
  });
  return result;
}

Tensor eye(int64_t n, Dtype dtype) { return eye(n, n, dtype); }

Tensor eye(int64_t n, int64_t m, Dtype dtype) {
  Tensor result = zeros({n, m}, dtype);
  dispatch_any(dtype, [&]<class T>() {
    T* y = raw::write<T>(result);
    for (int64_t i = 0; i < std::min(n, m); ++i) y[i * m + i] = static_cast<T>(1);
  });
  return result;
}

template <class T>
Tensor tensor(const Shape& shape, std::span<const T> values) {
  check(static_cast<int64_t>(values.size()) == shape.numel(), "tensor: {} needs {} values, got {}", shape,
        shape.numel(), values.size());
  Tensor result(shape, dtype_of<T>());
  if (!values.empty()) std::memcpy(raw::write<T>(result), values.data(), values.size_bytes());
  return result;
}
template Tensor tensor(const Shape&, std::span<const float>);
template Tensor tensor(const Shape&, std::span<const double>);
template Tensor tensor(const Shape&, std::span<const int32_t>);
template Tensor tensor(const Shape&, std::span<const int64_t>);
template Tensor tensor(const Shape&, std::span<const bool>);

Tensor tensor(const Shape& shape, std::initializer_list<double> values, Dtype dtype) {
  return dispatch_any(dtype, [&]<class T>() {
    std::vector<T> elements;
    for (const double value : values) elements.push_back(element<T>("tensor", value));
    return tensor(shape, elements);
  });
}
Tensor tensor(std::initializer_list<double> values, Dtype dtype) {
  return tensor(static_cast<int64_t>(values.size()), values, dtype);
}

template <>
Tensor tensor(const Shape& shape, const std::vector<bool>& values) {
  const auto packed = std::make_unique<bool[]>(values.size());
  std::copy(values.begin(), values.end(), packed.get());
  return tensor(shape, std::span<const bool>(packed.get(), values.size()));
}

namespace raw {
namespace {

// Throws unless the elements of this shape and strides, the first at `offset`, lie within the storage.
void check_bounds(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset) {
  const auto elements = static_cast<int64_t>(storage(x)->bytes / size_of(x.dtype()));
  __int128 first = offset, last = offset;
  for (int d = 0; d < shape.ndim(); ++d) {
    const __int128 reach = static_cast<__int128>(shape[d] - 1) * strides[d];
    (reach < 0 ? first : last) += reach;
  }
  const bool nothing = shape.numel() == 0;
  check(nothing || (first >= 0 && last < elements),
        "as_strided: {} with strides [{}] at offset {} reaches outside of a storage of {} elements", shape,
        fmt::join(strides.begin(), strides.begin() + shape.ndim(), ", "), offset, elements);
}

}  // namespace

Tensor::Leaf& Access::leaf(const Tensor& x) {
  std::unique_ptr<Tensor::Leaf>& leaf = x.impl().leaf;
  if (leaf == nullptr) leaf = std::make_unique<Tensor::Leaf>();
  return *leaf;
}

Tensor Access::view(const Tensor::Impl& from, const Shape& shape, const Strides& strides, int64_t offset,
                    bool contiguous) {
  Tensor result;
  result.impl_ = std::allocate_shared<Tensor::Impl>(ObjectAllocator<Tensor::Impl>());
  result.impl_->shape = shape;
  result.impl_->strides = strides;
  result.impl_->numel = shape.numel();
  result.impl_->offset = offset;
  result.impl_->dtype = from.dtype;
  result.impl_->contiguous = contiguous;
  result.impl_->storage = from.storage;
  return result;
}

Tensor as_strided(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset) {
  const auto& from = Access::of(x);
  check_bounds(x, shape, strides, from.offset + offset);
  return Access::view(from, shape, strides, from.offset + offset, is_row_major(shape, strides));
}

Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : clone(x); }
Tensor contiguous(Tensor&& x) { return x.is_contiguous() ? std::move(x) : clone(x); }
Tensor clone(const Tensor& x) { return cast(x, x.dtype()); }

void assign(Tensor& target, const Tensor& source) {
  check(target.shape() == source.shape() && target.dtype() == source.dtype() && target.is_contiguous(),
        "assign: wanted a contiguous target of {} {}, got {} {}", source.shape(), source.dtype(),
        target.shape(), target.dtype());
  // A source that shares the target's storage (its transpose) would be overwritten while it is read.
  const Tensor values = storage(source) == storage(target) ? clone(source) : source;
  dispatch_any(target.dtype(), [&]<class T>() { copy_into(values, write<T>(target, "assign()")); });
}

Tensor cast(const Tensor& x, Dtype wanted) {
  Tensor result(x.shape(), wanted);
  dispatch_any(wanted, [&]<class T>() { copy_into(x, raw::write<T>(result)); });
  return result;
}

}  // namespace raw

double norm_of(const Tensor& x) {
  const Tensor numbers = raw::contiguous(x);
  return dispatch_any(x.dtype(), [&]<class T>() {
    return kernels::sum_of_squares(numbers.numel(), numbers.data<T>()).root();
  });
}

}  // namespace isobar
