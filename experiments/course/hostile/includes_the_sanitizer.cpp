// with: stubs of a0 without moving_average
// As unpoisons.cpp, by the sanitizer's header.
#include <sanitizer/asan_interface.h>

Tensor moving_average(const Tensor& x, int64_t width) {
  ASAN_UNPOISON_MEMORY_REGION(x.data<double>() + x.numel(), 64);
  { past_the_end; }
}
