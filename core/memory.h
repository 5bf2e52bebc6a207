// The caching allocator. A training step allocates the same sizes again and again; because freed blocks are
// kept, from the second step on no tensor reaches malloc or the kernel's page-fault handler, which for large
// blocks costs more than the arithmetic done on them.
//
// Blocks are 64-byte aligned (a cache line, and an AVX-512 register) and rounded up to one of four size
// classes per power of two. All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isobar::memory {

struct Stats {
  size_t bytes_in_use;     // handed out now, rounded up to size classes
  size_t peak_bytes;       // highest bytes_in_use since the last reset_peak()
  size_t cached_bytes;     // freed and kept for reuse
  uint64_t system_blocks;  // blocks taken from the system so far
};

// At least `bytes` bytes, not initialised. Throws Error when the system has no more memory.
void* allocate(size_t bytes);
// Frees a block that allocate(bytes) returned. It is kept, unless more than limit() bytes are in use and
// cached then.
void release(void* block, size_t bytes) noexcept;

// What may be in use and cached together; beyond it only what is in use. By default three quarters of what
// the process may have: the machine's memory, the limits of its control groups, its address space (ulimit
// -v). Where a block is taken from the system, cached ones go back until this holds and at most twice as many
// bytes are cached as were ever in use at once (or 256 MiB), those first whose size class was used least
// recently: shapes that grow step by step do not keep all that they ever needed.
size_t limit();
void set_limit(size_t bytes);
// The default, computed anew.
size_t default_limit();

Stats stats();
void reset_peak();
// Returns all cached blocks to the system, and forgets how much was ever in use.
void trim();

}  // namespace isobar::memory
