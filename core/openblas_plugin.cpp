// The plugin for OpenBLAS: the only file that calls it.
#include <cblas.h>

#include <type_traits>
#include <vector>

#include "blas_plugin.h"

// OpenBLAS's own, which no header of it declares. Weak: a build of it may hide them.
extern "C" __attribute__((weak)) void* blas_memory_alloc(int procedure);
extern "C" __attribute__((weak)) void blas_memory_free(void* buffer);

namespace isobar {
namespace {

template <class T>
void multiply(const Gemm<T>& p) {
  if (p.start.data != nullptr) p.copy_start();
  const bool a_by_rows = p.a.by_rows(p.k), b_by_rows = p.b.by_rows(p.n);
  const auto call = [&p, a_by_rows, b_by_rows](auto* gemm) {
    gemm(CblasRowMajor, a_by_rows ? CblasNoTrans : CblasTrans, b_by_rows ? CblasNoTrans : CblasTrans,
         static_cast<blasint>(p.m), static_cast<blasint>(p.n), static_cast<blasint>(p.k), 1, p.a.data,
         static_cast<blasint>(a_by_rows ? p.a.row : p.a.column), p.b.data,
         static_cast<blasint>(b_by_rows ? p.b.row : p.b.column), p.start.data != nullptr ? 1 : 0, p.c.data,
         static_cast<blasint>(p.c.row));
  };
  if constexpr (std::is_same_v<T, float>)
    call(cblas_sgemm);
  else
    call(cblas_dgemm);
}

// OpenBLAS keeps a buffer that was freed, and takes it again.
void map_buffers(int64_t count) {
  if (blas_memory_alloc == nullptr || blas_memory_free == nullptr) return;
  std::vector<void*> buffers;
  for (int64_t i = 0; i < count; ++i) buffers.push_back(blas_memory_alloc(0));
  for (void* buffer : buffers) blas_memory_free(buffer);
}

}  // namespace

// Its threads would change bits with their number, and slow skinny products.
extern "C" const BlasPlugin* isobar_blas_plugin() {
  openblas_set_num_threads(1);
  static constexpr BlasPlugin plugin{multiply<float>, multiply<double>, map_buffers,
                                     [] { return static_cast<const char*>(openblas_get_config()); },
                                     [] { return static_cast<const char*>(openblas_get_corename()); }};
  return &plugin;
}

}  // namespace isobar
