// Scratch: an array that lives during one kernel. Its memory comes from the caching allocator, so that
// training steps reach neither malloc nor the system.
#pragma once

#include <algorithm>
#include <cassert>

#include "../memory.h"

namespace isobar::kernels {

// n elements, not initialised; T is a plain number.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t n) : bytes_(n * sizeof(T)), data_(static_cast<T*>(memory::allocate(bytes_))) {
    assert(n >= 0);
  }
  Scratch(int64_t n, T value) : Scratch(n) { std::fill_n(data_, n, value); }
  ~Scratch() { memory::release(data_, bytes_); }
  Scratch(const Scratch&) = delete;

  T* data() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  const size_t bytes_;
  T* const data_;
};

}  // namespace isobar::kernels
