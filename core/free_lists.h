// FreeLists: lists of unused blocks, for several sizes. A freed block is cached for the thread that freed it,
// so taking one costs a few instructions and no lock. Blocks are never returned to the system, and neither
// lists nor blocks are destroyed, because objects may outlive all static variables.
//
//   using Versions = FreeLists<Version, 1>;           // a Version has members next and next_list
//   Version* version = Versions::take(0, new_slab);   // new_slab() returns fresh ones, linked by next
//   Versions::give_back(0, version);                  // any thread may
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace isobar {

template <class Block, size_t kinds>
class FreeLists {
 public:
  template <class NewSlab>
  static Block* take(size_t kind, const NewSlab& new_slab) {
    if (lists_.free[kind] == nullptr) refill(kind, new_slab);
    --lists_.surplus[kind];
    return std::exchange(lists_.free[kind], lists_.free[kind]->next);
  }
  static void give_back(size_t kind, Block* block) noexcept {
    if (!lists_.end_watched) watch_thread_end();
    block->next = std::exchange(lists_.free[kind], block);
    if (++lists_.surplus[kind] == longest) [[unlikely]]
      give_away(kind);
  }

 private:
  // A thread that frees blocks that others allocate, such as the gradients of micro-batches, hands a list of
  // this length over to the shared lists. Otherwise its list would grow, and the others would allocate slab
  // after slab.
  static constexpr int64_t longest = 4096;

  struct Lists {
    Block* free[kinds];
    int64_t surplus[kinds];  // blocks freed less blocks taken since the list was last given away or fetched
    bool end_watched;        // whether a AtThreadEnd gives the blocks to the shared lists
  };
  // Lists that threads handed over, and lists of threads that have ended, for the next thread without free
  // blocks. They are linked by next_list of their first blocks.
  struct Shared {
    std::mutex mutex;
    Block* lists[kinds] = {};
  };
  static Shared& shared() {
    static Shared* const instance = new Shared;
    return *instance;
  }

  static void give_away(size_t kind) {
    Block* const first = std::exchange(lists_.free[kind], nullptr);
    lists_.surplus[kind] = 0;
    if (first == nullptr) return;
    const std::lock_guard lock(shared().mutex);
    first->next_list = std::exchange(shared().lists[kind], first);
  }

  // Called once, before the thread's first free block, so that no code reaches a destroyed AtThreadEnd.
  static void watch_thread_end() {
    struct AtThreadEnd {
      ~AtThreadEnd() {
        for (size_t kind = 0; kind < kinds; ++kind) give_away(kind);
      }
    };
    static thread_local const AtThreadEnd end;
    lists_.end_watched = true;
  }

  static void refill(size_t kind, const auto& new_slab) {
    if (!lists_.end_watched) watch_thread_end();
    lists_.surplus[kind] = 0;
    {
      const std::lock_guard lock(shared().mutex);
      Block*& first = shared().lists[kind];
      if (first != nullptr) lists_.free[kind] = std::exchange(first, first->next_list);
    }
    if (lists_.free[kind] == nullptr) lists_.free[kind] = new_slab();
  }

  static inline constinit thread_local Lists lists_{};
};

}  // namespace isobar
