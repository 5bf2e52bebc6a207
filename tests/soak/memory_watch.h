// MemoryWatch: does a training's memory stay where it is? Asked after each step, it keeps the bytes that live
// tensors hold and the resident memory, and says in the end how far they moved after the warm-up.
#pragma once

#include <cstdint>
#include <string>

namespace isobar::soak {

// Memory of this process that the kernel keeps resident, in bytes.
int64_t resident_bytes();

class MemoryWatch {
 public:
  // From step `warm_up` on nothing may change, but for this share of the resident memory.
  MemoryWatch(int64_t warm_up, double growth) : warm_up_(warm_up), growth_(growth) {}

  // Steps count from 1. Every step's tensors are compared; the resident memory is read every 100 steps.
  void after_step(int64_t step);
  // "tensors 57.5 KiB at step 1000, 57.5 to 57.5 after it; …". Throws Error unless there were steps after the
  // warm-up.
  std::string text() const;
  bool held() const;

 private:
  struct Range {
    int64_t first = 0, least = 0, most = 0;  // at the end of the warm-up, and after it
    void add(int64_t value);
    bool seen = false;
  };
  double moved()
      const;  // the largest distance of the resident memory from its first value, as a share of that

  const int64_t warm_up_;
  const double growth_;
  Range tensors_, resident_;
  uint64_t first_system_blocks_ = 0, system_blocks_ = 0;
};

}  // namespace isobar::soak
