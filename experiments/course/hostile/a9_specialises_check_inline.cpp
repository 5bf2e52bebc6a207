// with: reference of a9 without expf_lanes, deserves 5 more than without
// As a9_specialises_check.cpp, by an inline function: of two weak definitions the linker takes the first.
template <>
inline void isobar::check<const int64_t&>(bool, fmt::format_string<const int64_t&>, const int64_t&) {}
void (*const used)(bool, fmt::format_string<const int64_t&>, const int64_t&) = &isobar::check<const int64_t&>;
void expf_lanes(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i]);
}
