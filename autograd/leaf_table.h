// LeafTable: maps a leaf, by the identity of its tensor, to its slot on a tape. Leaves carry no slot
// themselves, so every use of a leaf looks it up here. Open addressing in one array: a lookup costs a few
// instructions.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "../core/object_memory.h"

namespace isobar {

class LeafTable {
 public:
  // The slot of this tensor; `fresh` for a new one, which the caller sets. The reference is valid until the
  // next call.
  int64_t& slot_of(const void* id) {
    if (2 * (count_ + 1) > places_.size()) grow();
    Place& place = find(id);
    if (place.id == nullptr) {
      place = {id, fresh};
      ++count_;
    }
    return place.slot;
  }
  static constexpr int64_t fresh = -1;

  bool holds(const void* id) { return !places_.empty() && find(id).id != nullptr; }
  void clear() {
    places_.clear();
    count_ = 0;
  }

 private:
  struct Place {
    const void* id = nullptr;
    int64_t slot = fresh;
  };

  Place& find(const void* id) {
    const size_t mask = places_.size() - 1;
    // Fibonacci hashing (Knuth 1973, section 6.4): tensors are at least 32 bytes apart.
    size_t i = (reinterpret_cast<uintptr_t>(id) >> 5) * 0x9E3779B97F4A7C15 >> 40;
    for (i &= mask; places_[i].id != nullptr && places_[i].id != id; i = (i + 1) & mask) {
    }
    return places_[i];
  }
  void grow() {
    auto before = std::exchange(places_, {});
    places_.resize(before.empty() ? 16 : 2 * before.size());
    for (const Place& place : before)
      if (place.id != nullptr) find(place.id) = place;
  }

  std::vector<Place, ObjectAllocator<Place>> places_;
  size_t count_ = 0;
};

}  // namespace isobar
