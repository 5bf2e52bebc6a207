// raw: operations that no tape records: views with any strides, copies, conversions and writing, for ops,
// kernels, optimizers, initialization and files. A layer's forward uses the recorded contiguous(), clone()
// and cast() of ops.h instead: results of this header have no gradient.
//
//   const Tensor rows = raw::contiguous(x);
//   Tensor y(x.shape(), x.dtype());
//   float* const numbers = raw::write<float>(y);
#pragma once

#include "tensor.h"

namespace isobar::raw {

// The tensor's own fields, for the functions below.
struct Access {
  using Listing = Tensor::Listing;
  static Tensor::Impl& of(const Tensor& x) { return x.impl(); }
  static const std::shared_ptr<Tensor::Impl>& handle(const Tensor& x) { return x.impl_; }
  static Tensor::Leaf& leaf(const Tensor& x);  // made on first use
  static void* address(const Tensor& x, Dtype dtype) { return x.address(dtype); }
  static Tensor view(const Tensor::Impl& from, const Shape& shape, const Strides& strides, int64_t offset,
                     bool contiguous);
};

// The same storage under another shape, strides and offset, all in elements, the offset from x's origin.
// Throws Error where an element would lie outside of the storage.
Tensor as_strided(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset = 0);
// x if it is contiguous, else a contiguous copy.
Tensor contiguous(const Tensor& x);
Tensor contiguous(Tensor&& x);
// An independent contiguous copy; the same in another dtype.
Tensor clone(const Tensor& x);
Tensor cast(const Tensor& x, Dtype dtype);
// assign() of ops.h for a source of any origin, such as a saved state.
void assign(Tensor& target, const Tensor& source);

// The address of the element at the origin, for writing: values change through these two functions only. T
// must be the dtype. `writer` is a text that lives as long as the program ("AdamW's step"): backward names it
// in the error for a value that it needs and that was overwritten.
template <class T>
T* write(Tensor& x, const char* writer = nullptr) {
  void* const place = Access::address(x, dtype_of<T>());
  Access::of(x).storage->version->count_write(writer);
  return static_cast<T*>(place);
}
// The same in any dtype, and for reading.
inline void* write_any(const Tensor& x, const char* writer) {
  Access::of(x).storage->version->count_write(writer);
  return Access::address(x, x.dtype());
}
inline const void* address(const Tensor& x) { return Access::address(x, x.dtype()); }

// The tensor's slot on a tape.
inline TapeSlot slot(const Tensor& x) { return Access::of(x).slot; }

// For fields() of models and for optimizers: notes that this trainable tensor belongs to them. Any thread may.
inline void mark_listed(const Tensor& x) {
  Access::of(x).listing.store(Access::Listing::listed, std::memory_order_relaxed);
}
inline bool listed(const Tensor& x) {
  return Access::of(x).listing.load(std::memory_order_relaxed) != Access::Listing::none;
}
// For models: notes that another tensor takes the place of this one, until it is listed again.
inline void mark_replaced(const Tensor& x) {
  Access::Listing listed = Access::Listing::listed;
  Access::of(x).listing.compare_exchange_strong(listed, Access::Listing::replaced, std::memory_order_relaxed);
}
inline bool replaced(const Tensor& x) {
  return Access::of(x).listing.load(std::memory_order_relaxed) == Access::Listing::replaced;
}
// When the gradient was set; a sum with an earlier one keeps that one's.
inline GradientAge& gradient_age(const Tensor& x) { return Access::leaf(x).age; }

inline const std::shared_ptr<Storage>& storage(const Tensor& x) { return Access::of(x).storage; }
// True when no other handle or tensor shares these numbers, so that overwriting them is safe.
inline bool sole_owner(const Tensor& x) {
  return Access::handle(x).use_count() == 1 && storage(x).use_count() == 1;
}

}  // namespace isobar::raw
