// Storage: one block of memory that tensors share, its version, and the key that its numbers were drawn with.
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

  // The key of the Rng whose draws 0, 1, … these numbers are, until they are overwritten.
  void drawn_with(uint64_t key) {
    key_ = key;
    drawn_ = version->stamp();
  }
  std::optional<uint64_t> key() const {
    return drawn_ == version->stamp() ? std::optional(key_) : std::nullopt;
  }

  void* const data;
  const size_t bytes;
  Version* const version;  // by which backward detects that a saved value was overwritten

 private:
  uint64_t key_ = 0, drawn_ = UINT64_MAX;  // no version has that stamp
};

}  // namespace isobar
