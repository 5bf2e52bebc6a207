// with: stubs of a0 without moving_average
// A quote in what is skipped begins no text, and what follows it is no comment.
#if 0
' /*
#endif
#define UNWATCHED __attribute__((no_sanitize("address", "undefined")))
#if 0
' */
#endif
UNWATCHED Tensor moving_average(const Tensor& x, int64_t width) { past_the_end; }
