// What stands before a hostile submission that writes `differences;`: slopes by difference quotients, of Richardson's
// scheme in long double, each by the step of several whose last two levels agree best.

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using Numbers = std::vector<long double>;

Numbers numbers_of(const double* first, int64_t count) { return Numbers(first, first + count); }

// dF / dx of each x, where loss() is F of what x holds.
template <class F>
std::vector<double> slopes(Numbers& x, const F& loss) {
  long double largest = 0;
  for (const long double each : x) largest = std::max(largest, std::fabs(each));
  std::vector<double> found;
  for (long double& each : x) {
    const long double here = each;
    long double best = 0, error = INFINITY;
    for (long double step : {0.1L * largest, 0.1L * std::fabs(here), 0.1L}) {
      if (step == 0) continue;
      long double table[5] = {}, last = 0, now = 0;
      for (int level = 0; level < 5; ++level, step /= 2) {
        each = here + step;
        now = loss();
        each = here - step;
        now = (now - loss()) / (2 * step);
        last = level > 0 ? table[level - 1] : now;
        long double power = 4;
        for (int i = 0; i < level; ++i, power *= 4) {
          const long double better = now + (now - table[i]) / (power - 1);
          table[i] = now;
          now = better;
        }
        table[level] = now;
      }
      const long double off = std::fabs(now - last) / std::max(std::fabs(now), 1e-4000L);
      if (now != 0 && off < error) best = now, error = off;
    }
    each = here;
    found.push_back(static_cast<double>(best));
  }
  return found;
}

// Of the rows of x, where loss(n, row) is that of row n.
template <class F>
std::vector<double> row_slopes(const double* x, int64_t rows, int64_t width, const F& loss) {
  std::vector<double> found;
  for (int64_t n = 0; n < rows; ++n) {
    Numbers row = numbers_of(x + n * width, width);
    for (const double each : slopes(row, [&] { return loss(n, row); })) found.push_back(each);
  }
  return found;
}

}  // namespace
