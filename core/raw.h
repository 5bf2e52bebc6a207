// raw: operations that are not recorded: views with any strides, copies, conversions and writing. They are
// for ops, kernels, optimizers, initialization and files. The forward pass of a layer uses the recorded
// contiguous(), clone() and cast() of ops.h, because results of this header have no gradient.
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

// Returns a view of the same storage with another shape, strides and offset, in elements from the first
// element of x. Throws Error if an element would be outside of the storage.
Tensor as_strided(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset = 0);
// Returns x if it is contiguous, otherwise a contiguous copy.
Tensor contiguous(const Tensor& x);
Tensor contiguous(Tensor&& x);
// Returns an independent contiguous copy.
Tensor clone(const Tensor& x);
// Returns a contiguous copy in another dtype.
Tensor cast(const Tensor& x, Dtype dtype);
// As assign() of ops.h, for a source of any origin, such as a saved state.
void assign(Tensor& target, const Tensor& source);

// Returns the address of the first element, for writing. Values change through this function and write_any()
// only. T must be the type of the dtype. `writer` is a text that lives as long as the program, such as
// "AdamW's step": backward() names it in the error for a value that was overwritten.
template <class T>
T* write(Tensor& x, const char* writer = nullptr) {
  void* const place = Access::address(x, dtype_of<T>());
  Access::of(x).storage->version->count_write(writer);
  return static_cast<T*>(place);
}
// As write(), for any dtype.
inline void* write_any(const Tensor& x, const char* writer) {
  Access::of(x).storage->version->count_write(writer);
  return Access::address(x, x.dtype());
}
// Returns the address of the first element, for reading.
inline const void* address(const Tensor& x) { return Access::address(x, x.dtype()); }

// The tensor's slot on a tape.
inline TapeSlot slot(const Tensor& x) { return Access::of(x).slot; }

// Records that fields() of a model, or an optimizer, lists this trainable tensor. Any thread may call it.
inline void mark_listed(const Tensor& x) {
  Access::of(x).listing.store(Access::Listing::listed, std::memory_order_relaxed);
}
inline bool listed(const Tensor& x) {
  return Access::of(x).listing.load(std::memory_order_relaxed) != Access::Listing::none;
}
// Records that another tensor has replaced this one in its model, until it is listed again.
inline void mark_replaced(const Tensor& x) {
  Access::Listing listed = Access::Listing::listed;
  Access::of(x).listing.compare_exchange_strong(listed, Access::Listing::replaced, std::memory_order_relaxed);
}
inline bool replaced(const Tensor& x) {
  return Access::of(x).listing.load(std::memory_order_relaxed) == Access::Listing::replaced;
}
// The time at which the gradient was set, as GradientAge; a sum has that of its first part.
inline GradientAge& gradient_age(const Tensor& x) { return Access::leaf(x).age; }

inline const std::shared_ptr<Storage>& storage(const Tensor& x) { return Access::of(x).storage; }
// Whether no other handle or tensor shares the storage, so that overwriting it is safe.
inline bool sole_owner(const Tensor& x) {
  return Access::handle(x).use_count() == 1 && storage(x).use_count() == 1;
}

}  // namespace isobar::raw
