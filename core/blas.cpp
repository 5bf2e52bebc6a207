#include "blas.h"

#include <cblas.h>

#include <algorithm>
#include <limits>

#include "error.h"
#include "parallel.h"

namespace isobar {
namespace {

void call(const Gemm<float>& p) {
  cblas_sgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans,
              p.transpose_b ? CblasTrans : CblasNoTrans, static_cast<blasint>(p.m), static_cast<blasint>(p.n),
              static_cast<blasint>(p.k), 1, p.a, static_cast<blasint>(p.lda), p.b,
              static_cast<blasint>(p.ldb), p.accumulate ? 1 : 0, p.c, static_cast<blasint>(p.ldc));
}

void call(const Gemm<double>& p) {
  cblas_dgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans,
              p.transpose_b ? CblasTrans : CblasNoTrans, static_cast<blasint>(p.m), static_cast<blasint>(p.n),
              static_cast<blasint>(p.k), 1, p.a, static_cast<blasint>(p.lda), p.b,
              static_cast<blasint>(p.ldb), p.accumulate ? 1 : 0, p.c, static_cast<blasint>(p.ldc));
}

// The sizes of C's tiles: columns at least 512 wide where there are so many, and rows so that a tile holds
// about 2^23 multiply-adds (a tenth of a millisecond), in multiples of 16.
struct Tiles {
  int64_t rows, columns;
};

Tiles tiles_for(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t target = int64_t{1} << 23;
  const int64_t columns = n <= 768 ? n : 512;
  const int64_t rows = target / std::max<int64_t>(1, columns * k) / 16 * 16;
  return {std::clamp<int64_t>(rows, 32, std::max<int64_t>(m, 32)), columns};
}

}  // namespace

template <class T>
void gemm_serial(const Gemm<T>& p) {
  [[maybe_unused]] static const bool one_thread = (openblas_set_num_threads(1), true);
  constexpr int64_t limit = std::numeric_limits<blasint>::max();
  check(p.m <= limit && p.n <= limit && p.k <= limit && std::max({p.lda, p.ldb, p.ldc}) <= limit,
        "gemm: dimensions must be below 2^31, got {} x {} x {}", p.m, p.n, p.k);
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) {
    if (!p.accumulate)
      for (int64_t i = 0; i < p.m; ++i) std::fill_n(p.c + i * p.ldc, p.n, T{0});
    return;
  }
  // BLAS wants leading dimensions of at least one, even of matrices without columns.
  Gemm<T> product = p;
  for (int64_t* step : {&product.lda, &product.ldb, &product.ldc}) *step = std::max<int64_t>(*step, 1);
  call(product);
}

template <class T>
void gemm(const Gemm<T>& p) {
  if (p.m == 0 || p.n == 0) return;
  const Tiles tile = tiles_for(p.m, p.n, p.k);
  const int64_t down = chunk_count(p.m, tile.rows), across = chunk_count(p.n, tile.columns);
  parallel_for(down * across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t i = t / across * tile.rows, j = t % across * tile.columns;
      Gemm<T> part = p;
      part.m = std::min(tile.rows, p.m - i);
      part.n = std::min(tile.columns, p.n - j);
      part.a += p.transpose_a ? i : i * p.lda;
      part.b += p.transpose_b ? j * p.ldb : j;
      part.c += i * p.ldc + j;
      gemm_serial(part);
    }
  });
}

template void gemm(const Gemm<float>&);
template void gemm(const Gemm<double>&);
template void gemm_serial(const Gemm<float>&);
template void gemm_serial(const Gemm<double>&);

std::string blas_core() { return openblas_get_corename(); }

std::string blas_version() {
  const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …"
  const size_t space = config.find(' ', config.find(' ') + 1);
  return config.substr(0, space);
}

std::string blas_warning() {
  const std::string core = blas_core();
  const bool wide = core == "SkylakeX" || core == "Cooperlake" || core == "SapphireRapids";
  if (wide || !__builtin_cpu_supports("avx512f") || core.find("ZEN") != std::string::npos ||
      core.find("Zen") != std::string::npos)
    return "";
  return fmt::format(
      "OpenBLAS runs its {} kernels on a CPU with AVX-512: matrix products lose a third of their speed; "
      "unset OPENBLAS_CORETYPE",
      core);
}

}  // namespace isobar
