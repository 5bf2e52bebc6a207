// The caching allocator. A training step allocates the same sizes again and again. Freed blocks are cached,
// so from the second step on no tensor needs malloc or the kernel's page-fault handler, which for large
// blocks costs more than the arithmetic on them.
//
// Blocks are 64-byte aligned (a cache line, and an AVX-512 register) and rounded up to one of four size
// classes per power of two. All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isobar::memory {

// What the allocator has, in bytes and blocks; see stats().
struct Stats {
  size_t bytes_in_use;     // handed out now, rounded up to size classes
  size_t peak_bytes;       // highest bytes_in_use since the last reset_peak()
  size_t cached_bytes;     // freed and kept for reuse
  uint64_t system_blocks;  // blocks taken from the system so far
};

// Returns at least `bytes` bytes, not initialized. Throws Error if the system has no more memory.
void* allocate(size_t bytes);
// Frees a block that allocate(bytes) returned. The block is cached, unless more than limit() bytes would then
// be in use or cached.
void release(void* block, size_t bytes) noexcept;

// Returns the upper bound on bytes in use plus cached bytes; see default_limit(). Blocks in use may exceed
// it; then none is cached. When a block is taken from the system, cached blocks are returned to it until this
// bound holds and the cached bytes are at most twice the peak of bytes in use (or 256 MiB). Blocks of the
// size class that was used least recently are returned first.
size_t limit();
// Sets limit().
void set_limit(size_t bytes);
// Returns three quarters of the memory that the process may have: the least of the machine's memory, the
// limits of its control groups and its address space (ulimit -v).
size_t default_limit();

// Returns what is in use and cached now.
Stats stats();
// Sets the peak to the bytes that are in use now.
void reset_peak();
// Returns all cached blocks to the system, and resets the peak.
void trim();

}  // namespace isobar::memory
