//   y = x · m / (1 − p), m_i = 1 with probability 1 − p     dx = dy · m / (1 − p)
// The mask is a pure function of rng, so backward draws it again instead of keeping it.
#include "../../core/kernels/map.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {

Tensor dropout(const Tensor& x, double p, const Rng& rng) {
  check(p >= 0 && p < 1, "dropout: wanted a probability in [0, 1), got {}", p);
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape(), x.dtype());
  dispatch_float("dropout", x.dtype(), [&]<class T>() {
    const T* from = packed.data<T>();
    T* to = raw::write<T>(y);
    const T scale = static_cast<T>(1 / (1 - p));
    parallel_for(x.numel(), kernels::map_grain, [&](int64_t begin, int64_t end) {
      double draws[256];
      for (int64_t i = begin; i < end; i += 256) {
        const int64_t count = std::min<int64_t>(256, end - i);
        rng.uniforms(i, {draws, static_cast<size_t>(count)});
        for (int64_t j = 0; j < count; ++j) to[i + j] = draws[j] < p ? T{0} : from[i + j] * scale;
      }
    });
  });
  if (Tape* const tape = Tape::active()) tape->note_draw(rng.key());
  return record("dropout", y, {x}, [p, rng](const Tensor& dy) { return dropout(dy, p, rng); });
}

}  // namespace isobar
