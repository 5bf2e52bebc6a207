// Storage: one block of memory that tensors share, its version, and the Rng key that filled it, if one did.
#pragma once

#include <optional>

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

  // Records that the values are draws 0, 1, … of the Rng with this key.
  void drawn_with(uint64_t key) {
    key_ = key;
    drawn_ = version->stamp();
  }
  // Returns the Rng key that filled this block; none after a write.
  std::optional<uint64_t> key() const {
    return drawn_ == version->stamp() ? std::optional(key_) : std::nullopt;
  }

  void* const data;
  const size_t bytes;
  Version* const version;  // the backward pass compares it, to find values that were overwritten

 private:
  uint64_t key_ = 0, drawn_ = UINT64_MAX;  // no version has that stamp
};

}  // namespace isobar
