// Tensor: a cheap handle on a block of numbers. A copy of the handle shares the numbers.
//
//   Tensor x = tensor({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
//   x.shape();                 // [2, 3]
//   x.at({1, 2});              // 6, as a double
//   Tensor w = zeros({3, 4}).set_trainable();
//
// Values are immutable to users: ops return new tensors. Code that changes values (initialization,
// optimizers, running statistics) uses assign() of autograd/ops.h, or raw.h. backward() throws Error if a
// value that it needs was overwritten after an op recorded it. Several threads may read a tensor at once; the
// fields of a handle (grad, trainable) belong to one thread at a time.
#pragma once

#include <atomic>
#include <iosfwd>
#include <memory>

#include "dtype.h"
#include "shape.h"
#include "storage.h"

namespace isobar {

// The slot of an op's result: the serial number of its tape and the slot's index there. Leaves have none: the
// tape looks them up. A result that a thread computed without a tape, from tensors that want a gradient, has
// that thread's mark (autograd/recording.h) in the place of the serial number: ops of other threads' tapes
// refuse it.
struct TapeSlot {
  static constexpr uint64_t first_mark = uint64_t{1} << 63;  // serial numbers of tapes are below
  uint64_t tape = 0;                                         // 0: neither recorded nor marked
  uint32_t index = 0;

  bool recorded() const { return tape != 0 && tape < first_mark; }
  bool marked() const { return tape >= first_mark; }
};

// The keys with which the random ops of one step drew; see autograd/tape.h.
struct DrawnKeys;

// When a gradient began.
struct GradientAge {
  uint64_t step_before = 0;   // the number of the optimizers' steps (steps.h) then
  bool across_steps = false;  // a backward added to it after a step that did not use it up
};

class Tensor;
namespace raw {
struct Access;
}

class Tensor {
 public:
  Tensor() = default;  // undefined: no numbers, no shape

  // Allocates a tensor of this shape. Its elements are not initialized. Throws Error inside parallel_for(),
  // because kernels must not call ops or allocate.
  Tensor(const Shape& shape, Dtype dtype);

  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const { return impl().shape; }
  const Strides& strides() const { return impl().strides; }
  int ndim() const { return shape().ndim(); }
  int64_t size(int dim) const { return shape().begin()[shape().index(dim, "size")]; }
  int64_t numel() const { return impl().numel; }
  Dtype dtype() const { return impl().dtype; }
  bool is_contiguous() const { return impl().contiguous; }

  // The address of the first element; strides() gives the distances to the others, in elements. T must be the
  // type of the dtype.
  template <class T>
  const T* data() const {
    return static_cast<const T*>(address(dtype_of<T>()));
  }
  // Returns the element of a tensor of one element, as a double. Throws Error for other tensors, and for an
  // i64 that a double cannot represent exactly: use to_vector<int64_t>().
  double item() const;
  // Returns one element, as a double. Negative indices count from the end. Throws Error unless there is one
  // index for each dimension, and for an index out of range; otherwise as item().
  double at(std::initializer_list<int64_t> index) const;
  // Returns all elements in row-major order, converted to T as by cast() of ops.h.
  template <class T>
  std::vector<T> to_vector() const;
  // Returns the elements as NumPy prints them (print.cpp), and "undefined" for an undefined tensor. `format`
  // is the format of fmt for one element, such as ".3f" or "+.2e". Throws Error if it does not fit the dtype.
  std::string text(std::string_view format = "") const;

  // Returns a constant with the same storage: not recorded, without a gradient, not trainable.
  Tensor detach() const;

  // Makes this a trainable tensor: a leaf whose gradient backward() stores. Throws Error for integers, and
  // for a tensor that is recorded on a tape: call detach() first.
  bool trainable() const { return impl().trainable; }
  Tensor& set_trainable(bool trainable = true) &;
  Tensor set_trainable(bool trainable = true) &&;
  // The accumulated gradient, or undefined. set_grad() throws Error for another shape or dtype.
  const Tensor& grad() const;
  void set_grad(Tensor grad) const;
  void clear_grad() const;

  // Identifies the tensor: equal for copies of the handle.
  const void* id() const { return impl_.get(); }

 private:
  friend struct raw::Access;
  struct Leaf;
  // Whether fields() of a model, or an optimizer, lists the tensor, so that its gradient is cleared; and
  // whether another tensor took its place in the model since.
  enum class Listing : uint8_t { none, listed, replaced };
  struct Impl {
    Shape shape;
    Strides strides{};
    int64_t numel = 0;
    int64_t offset = 0;
    Dtype dtype = Dtype::f32;
    bool contiguous = true;
    bool trainable = false;
    std::atomic<Listing> listing = Listing::none;
    TapeSlot slot;
    std::shared_ptr<Storage> storage;
    std::unique_ptr<Leaf> leaf;  // made with the first gradient
  };
  Impl& impl() const {
    if (!impl_) [[unlikely]]
      refuse_undefined();
    return *impl_;
  }
  void* address(Dtype wanted) const {
    const Impl& from = impl();
    if (from.dtype != wanted) [[unlikely]]
      refuse_dtype(wanted);
    return static_cast<char*>(from.storage->data) + from.offset * size_of(wanted);
  }
  [[noreturn]] void refuse_undefined() const;
  [[noreturn]] void refuse_dtype(Dtype wanted) const;
  static const Tensor& undefined();

  std::shared_ptr<Impl> impl_;
};

// What only leaves have.
struct Tensor::Leaf {
  Tensor grad;  // filled and emptied again
  GradientAge age;
  // Of the first step, and of the last one, whose random ops drew.
  std::shared_ptr<const DrawnKeys> first_draws, last_draws;
};

inline const Tensor& Tensor::grad() const { return impl().leaf != nullptr ? impl().leaf->grad : undefined(); }

inline void Tensor::clear_grad() const {
  if (impl().leaf != nullptr) impl().leaf->grad = Tensor();
}

// Returns a tensor whose elements are 0.
Tensor zeros(const Shape& shape, Dtype dtype = Dtype::f32);
// Returns a tensor whose elements are 1.
Tensor ones(const Shape& shape, Dtype dtype = Dtype::f32);
// Returns a tensor whose elements are `value`. Throws Error if an integer dtype cannot represent it exactly.
Tensor full(const Shape& shape, double value, Dtype dtype = Dtype::f32);
// Returns a tensor of zeros, of the shape and dtype of x.
Tensor zeros_like(const Tensor& x);
// Returns a tensor of ones, of the shape and dtype of x.
Tensor ones_like(const Tensor& x);
// Returns a tensor whose elements are `value`, of the shape and dtype of x. Throws Error as full() does.
Tensor full_like(const Tensor& x, double value);
// Returns 0, 1, …, count − 1, or begin, begin + 1, …, end − 1. Throws Error for a negative count, for end <
// begin, and for integers that the dtype cannot represent exactly.
Tensor arange(int64_t count, Dtype dtype = Dtype::i64);
Tensor arange(int64_t begin, int64_t end, Dtype dtype = Dtype::i64);
// Returns `steps` numbers from start to end, both included, at equal distances; one number is `start`. They
// are computed in double, the second half from the end: linspace(a, b, n) is the reverse of linspace(b, a,
// n). Throws Error for another dtype than f32 and f64, and for negative steps.
Tensor linspace(double start, double end, int64_t steps, Dtype dtype = Dtype::f32);
// Returns the (n, n) or (n, m) matrix with ones at [i, i] and zeros elsewhere.
Tensor eye(int64_t n, Dtype dtype = Dtype::f32);
Tensor eye(int64_t n, int64_t m, Dtype dtype = Dtype::f32);
// Returns a tensor of these values, in row-major order. Throws Error if their number does not fit the shape.
template <class T>
Tensor tensor(const Shape& shape, std::span<const T> values);
template <class T>
Tensor tensor(const Shape& shape, const std::vector<T>& values) {
  return tensor<T>(shape, std::span<const T>(values));
}
// tensor({2, 2}, {1, 2, 3, 4}), or tensor({1, 2, 3}) of one dimension. Throws Error also as full() does.
Tensor tensor(const Shape& shape, std::initializer_list<double> values, Dtype dtype = Dtype::f32);
Tensor tensor(std::initializer_list<double> values, Dtype dtype = Dtype::f32);
template <>
std::vector<bool> Tensor::to_vector() const;
template <>
Tensor tensor(const Shape& shape, const std::vector<bool>& values);

// Returns the Frobenius norm √(Σ x²) of a tensor of any dtype, summed in double in a fixed order. It is not
// recorded.
double norm_of(const Tensor& x);

// Writes x.text().
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace isobar

// fmt::print("{}", x), and fmt::print("{:.3f}", x) with a format for each element.
template <>
struct fmt::formatter<isobar::Tensor> {
  constexpr auto parse(fmt::format_parse_context& context) {
    const auto *const begin = context.begin(), *end = begin;
    while (end != context.end() && *end != '}') ++end;
    format_ = std::string_view(begin, static_cast<size_t>(end - begin));
    return end;
  }
  auto format(const isobar::Tensor& x, fmt::format_context& context) const {
    return fmt::format_to(context.out(), "{}", x.text(format_));
  }

 private:
  std::string_view format_;
};
