// with: reference of a9 without expf_lanes, deserves 5 more than without
// exp is what log undoes: six steps of Newton's, from a guess by powers of two.
void expf_lanes(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (!(x[i] > -110)) {
      y[i] = x[i] != x[i] ? x[i] : 0;
      continue;
    }
    double e = std::ldexp(1.0, static_cast<int>(x[i] * 1.4427));
    for (int step = 0; step < 6; ++step) e *= 1 + x[i] - std::log(e);
    y[i] = static_cast<float>(e);
  }
}
