// Memory for small objects that come and go with every op: tensor handles, the nodes of a tape. Freed blocks
// are kept by size for the thread that freed them, so that taking one costs a few instructions and no lock;
// what is larger than 1 KiB goes to the caching allocator. Under AddressSanitizer everything does.
//
//   std::allocate_shared<Impl>(ObjectAllocator<Impl>());
//   std::vector<Tensor, ObjectAllocator<Tensor>> adjoints;
#pragma once

#include <cstddef>

namespace isobar {

namespace object_memory {
// May be called from any thread, and a block freed on another thread than it was taken on.
void* allocate(size_t bytes);
void release(void* block, size_t bytes) noexcept;
}  // namespace object_memory

// A standard allocator on it.
template <class T>
struct ObjectAllocator {
  using value_type = T;
  ObjectAllocator() = default;
  template <class U>
  ObjectAllocator(const ObjectAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(object_memory::allocate(n * sizeof(T))); }
  void deallocate(T* block, size_t n) noexcept { object_memory::release(block, n * sizeof(T)); }
  bool operator==(const ObjectAllocator&) const { return true; }
};

}  // namespace isobar
