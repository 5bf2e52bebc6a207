// with: stubs of a0 without moving_average
// The same read past the end, in a function that the sanitizers leave out.
#define UNWATCHED(what) __attribute__((no_##what))
UNWATCHED(sanitize_address) Tensor moving_average(const Tensor& x, int64_t width) { past_the_end; }
