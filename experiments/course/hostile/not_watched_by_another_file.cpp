// with: stubs of a0 without moving_average
// The same, said to be of a header of the system.
# 1 "/usr/include/c++/12/vector" 1 3
__attribute__((no_sanitize("address", "undefined")))
# 5 "a0.cpp" 2
Tensor
moving_average(const Tensor& x, int64_t width) {
  past_the_end;
}
