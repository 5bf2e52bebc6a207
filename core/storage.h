// Storage: one block of memory that tensors share, and the number of times it was written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory.h"

namespace isobar {

struct Storage {
  explicit Storage(size_t size) : data(memory::allocate(size)), bytes(size) {}
  ~Storage() { memory::release(data, bytes); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* const data;
  const size_t bytes;
  uint64_t version = 0;  // bumped by Tensor::write(); lets backward see that a saved value was overwritten
};

}  // namespace isobar
