// Version: how often a block of memory was written, at an address that outlives the block.
//
//   Version* const version = storage.version;     // the tape keeps the address and the stamp …
//   const uint64_t then = version->stamp();
//   …
//   version->stamp() == then                      // … and backward sees that the block was not written
//
// A tape does not keep alive the blocks that its ops read, so a block may be freed before backward. Versions
// are therefore never returned to the system: after its block is freed, a version serves another block. Its
// stamp counts blocks in the upper half and writes in the lower half, so that the two can be told apart. Any
// thread may read a stamp; one thread at a time writes a block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace isobar {

template <class Block, size_t kinds>
class FreeLists;

class Version {
 public:
  // A version for a new block, and its return when the block is freed.
  static Version* take();
  static void give_back(Version* version) noexcept;

  uint64_t stamp() const { return stamp_.load(std::memory_order_relaxed); }
  // Whether the block of that stamp still exists and was written since.
  bool overwritten_since(uint64_t stamp) const {
    const uint64_t now = this->stamp();
    return now != stamp && now >> 32 == stamp >> 32;
  }
  // Whether the block of that stamp is gone.
  bool freed_since(uint64_t stamp) const { return this->stamp() >> 32 != stamp >> 32; }
  // The last writer ("AdamW's step"), or null where it has no name.
  const char* writer() const { return writer_.load(std::memory_order_relaxed); }

  void count_write(const char* writer) {
    stamp_.store(stamp() + 1, std::memory_order_relaxed);
    writer_.store(writer, std::memory_order_relaxed);
  }

 private:
  friend class FreeLists<Version, 1>;

  std::atomic<uint64_t> stamp_{0};
  std::atomic<const char*> writer_{nullptr};
  Version *next = nullptr, *next_list = nullptr;  // in lists of free versions
};

}  // namespace isobar
