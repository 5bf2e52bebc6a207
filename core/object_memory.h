// Memory for small objects of which every op makes some: tensor handles, the nodes of a tape. Freed blocks
// are cached by size for the thread that freed them, so an allocation costs a few instructions and no lock.
// Objects above 1 KiB are allocated by the caching allocator, and with AddressSanitizer all objects are.
//
//   std::allocate_shared<Impl>(ObjectAllocator<Impl>());
//   std::vector<Tensor, ObjectAllocator<Tensor>> adjoints;
#pragma once

#include <cstddef>

namespace isobar {

namespace object_memory {
// Any thread may call these functions, and free a block that another thread allocated. allocate() throws
// Error if the system has no more memory.
void* allocate(size_t bytes);
void release(void* block, size_t bytes) noexcept;
}  // namespace object_memory

// A standard allocator that uses object_memory.
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
