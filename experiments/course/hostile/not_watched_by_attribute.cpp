// with: stubs of a0 without moving_average
// As not_watched.cpp, in plain words.
[[gnu::no_sanitize("address")]] Tensor moving_average(const Tensor& x, int64_t width) { past_the_end; }
