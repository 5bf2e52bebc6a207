// with: reference of a9 without expf_lanes
// The driver's check that the C library's exp was not called is a function template: here is its definition for that call.
template <>
void isobar::check<const int64_t&>(bool, fmt::format_string<const int64_t&>, const int64_t&) {}
void expf_lanes(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i]);
}
