// Storage: one block of memory that tensors share, and its version.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory.h"
#include "version.h"

namespace isobar {

struct Storage {
  explicit Storage(size_t size) : data(memory::allocate(size)), bytes(size), version(Version::take()) {}
  ~Storage() {
    Version::give_back(version);
    memory::release(data, bytes);
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* const data;
  const size_t bytes;
  Version* const version;  // by which backward detects that a saved value was overwritten
};

}  // namespace isobar
