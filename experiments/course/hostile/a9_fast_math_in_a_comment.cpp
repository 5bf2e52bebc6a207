// with: reference of a9 without softmax
// Flags of one's own, where a reader without the compiler sees a comment.
#if 0
' /*
#endif
#pragma GCC optimize("fast-math")
#if 0
' */
#endif
void softmax(const float* x, float* y, int64_t rows, int64_t width) { own_softmax(x, y, rows, width); }
