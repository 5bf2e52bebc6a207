#include "blas.h"

#include <cblas.h>
#include <sys/mman.h>

#include <atomic>
#include <limits>
#include <mutex>
#include <vector>

#include "error.h"
#include "kernels/gemm.h"
#include "parallel.h"

// OpenBLAS's own, which no header of it declares. Weak: a build of it may hide them.
extern "C" __attribute__((weak)) void* blas_memory_alloc(int procedure);
extern "C" __attribute__((weak)) void blas_memory_free(void* buffer);

namespace isobar {
namespace {

// A buffer of OpenBLAS 0.3.21 on x86-64 has 128 MiB. Debian's is built for 128 threads: more of them get
// theirs when they ask, with a warning of OpenBLAS's. Beside the buffers threads need room for their stacks
// and heaps.
constexpr size_t buffer_bytes = size_t{128} << 20, spare_bytes = size_t{64} << 20;
constexpr int64_t most_buffers = 128;

// Whether so many buffers could be mapped: one by one, as OpenBLAS does, for some systems refuse one mapping
// that is larger than their memory.
bool room_for(int64_t buffers) {
  std::vector<std::pair<void*, size_t>> room;
  bool fits = true;
  for (int64_t i = 0; fits && i <= buffers; ++i) {
    const size_t bytes = i == 0 ? spare_bytes : buffer_bytes;
    void* const place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fits = place != MAP_FAILED;
    if (fits) room.emplace_back(place, bytes);
  }
  for (const auto& [place, bytes] : room) ::munmap(place, bytes);
  return fits;
}

// OpenBLAS keeps a buffer that was freed, and takes it again.
void map_buffers(int64_t count) {
  if (blas_memory_alloc == nullptr || blas_memory_free == nullptr) return;
  std::vector<void*> buffers;
  for (int64_t i = 0; i < count; ++i) buffers.push_back(blas_memory_alloc(0));
  for (void* buffer : buffers) blas_memory_free(buffer);
}

template <class T>
void call_blas(Gemm<T> p) {
  [[maybe_unused]] static const bool one_thread = (openblas_set_num_threads(1), true);
  reserve_blas_buffers();
  // BLAS wants leading dimensions of at least one, even of matrices without columns.
  for (int64_t* step : {&p.a.step, &p.b.step, &p.c.step}) *step = std::max<int64_t>(*step, 1);
  const auto turned = [](bool transposed) { return transposed ? CblasTrans : CblasNoTrans; };
  const auto call = [&](auto* gemm) {
    gemm(CblasRowMajor, turned(p.a.transposed), turned(p.b.transposed), static_cast<blasint>(p.m),
         static_cast<blasint>(p.n), static_cast<blasint>(p.k), 1, p.a.data, static_cast<blasint>(p.a.step),
         p.b.data, static_cast<blasint>(p.b.step), p.accumulate ? 1 : 0, p.c.data,
         static_cast<blasint>(p.c.step));
  };
  if constexpr (std::is_same_v<T, float>)
    call(cblas_sgemm);
  else
    call(cblas_dgemm);
}

std::atomic<Products> products = Products::own;

// Our kernel copies B. As packed_transposed it computes Cᵀ = Bᵀ · Aᵀ and copies A instead.
enum class Kernel { blas, packed, packed_transposed };

template <class T>
double multiply_adds(const Gemm<T>& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

// Of our kernel's two ways the one that copies less: it copies both operands of x · Wᵀ's kind, else B alone.
// With Products::openblas the fastest kernel for the shape, as measured with AVX-512: below 10^6
// multiply-adds OpenBLAS copies no operand; our kernel needs wide panels and at least 8 rows.
template <class T>
Kernel choose(const Gemm<T>& p) {
  const bool both = p.b.transposed && !p.a.transposed;
  if (products.load(std::memory_order_relaxed) == Products::openblas) {
    const bool small = multiply_adds(p) <= 1e6, vectors = sizeof(kernels::Register<T>) >= 32;
    if (!vectors || p.m < 8 || p.n < 32 || (small && (!both || p.m < 32))) return Kernel::blas;
  }
  return both && p.m * (p.n + p.k) < p.n * p.k ? Kernel::packed_transposed : Kernel::packed;
}

template <class T>
void call_packed(const Gemm<T>& p, bool transposed) {
  const kernels::Product<T> product{
      .m = p.m,
      .n = p.n,
      .k = p.k,
      .a = {p.a.data, p.a.transposed ? 1 : p.a.step, p.a.transposed ? p.a.step : 1},
      .b = {p.b.data, p.b.transposed ? 1 : p.b.step, p.b.transposed ? p.b.step : 1},
      .start = p.accumulate ? kernels::Strided<const T>{p.c.data, p.c.step, 1}
                            : kernels::Strided<const T>{p.bias, 0, 1},
      .c = {p.c.data, p.c.step, 1},
  };
  kernels::multiply(transposed ? product.transposed() : product);
}

// Preconditions that ops and kernels keep. What users may get wrong is checked by the ops.
template <class T>
void assert_valid([[maybe_unused]] const Gemm<T>& p) {
  assert(p.m >= 0 && p.n >= 0 && p.k >= 0);
  if (p.m == 0 || p.n == 0) return;
  assert(p.c.data != nullptr && p.c.step >= p.n && p.c.data != p.bias && !p.c.transposed);
  if (p.k == 0) return;
  assert(p.a.data != nullptr && p.a.step >= (p.a.transposed ? p.m : p.k) && p.c.data != p.a.data);
  assert(p.b.data != nullptr && p.b.step >= (p.b.transposed ? p.k : p.n) && p.c.data != p.b.data);
}

template <class T>
void run(Gemm<T> p, Kernel kernel) {
  constexpr int64_t limit = std::numeric_limits<blasint>::max();
  check(p.m <= limit && p.n <= limit && p.k <= limit && std::max({p.a.step, p.b.step, p.c.step}) <= limit,
        "gemm: dimensions must be below 2^31, got {} x {} x {}", p.m, p.n, p.k);
  check(!p.bias || !p.accumulate, "gemm: wanted a bias or accumulate, got both");
  assert_valid(p);
  if (p.m == 0 || p.n == 0) return;
  if (p.k > 0 && kernel != Kernel::blas) return call_packed(p, kernel == Kernel::packed_transposed);
  // The sums start from the bias, or from zero where there are none.
  if (p.bias || (p.k == 0 && !p.accumulate))
    for (int64_t i = 0; i < p.m; ++i)
      p.bias ? std::copy_n(p.bias, p.n, p.c.data + i * p.c.step)
             : std::fill_n(p.c.data + i * p.c.step, p.n, T{0});
  p.accumulate = p.accumulate || p.bias;
  if (p.k > 0) call_blas(p);
}

// The size of C's tiles; each tile is a task of about 2^21 multiply-adds (35 µs) or more. Each task copies
// its operands: OpenBLAS copies both, our kernel mostly B alone. So the columns of B are cut first, then the
// rows of A into halves or tiles of at least 192.
//
// The borders of OpenBLAS's tiles may change the last bit of a result, so its tiles depend on the shape
// alone. The borders of our kernel's tiles do not (gemm.h), so it makes only as many as the threads need.
struct Tiles {
  int64_t rows, columns;
};

template <class T>
Tiles tiles_for(const Gemm<T>& p, Kernel kernel) {
  if (kernel != Kernel::blas && threads() == 1) return {p.m, p.n};
  const int64_t most = kernel == Kernel::blas ? 32 : 4 * threads();
  const auto wanted =
      static_cast<int64_t>(std::clamp<double>(multiply_adds(p) / (1 << 21), 1, static_cast<double>(most)));
  // The size of a tile where `length` is cut into at most `tiles` tiles of at least `shortest`, in multiples
  // of `unit`.
  const auto cut = [](int64_t length, int64_t shortest, int64_t tiles, int64_t unit) {
    return chunk_count(chunk_count(length, unit), std::clamp<int64_t>(length / shortest, 1, tiles)) * unit;
  };
  const bool across =
      kernel == Kernel::packed_transposed;  // our kernel then cuts the rows of C as its columns
  const int64_t m = across ? p.n : p.m, n = across ? p.m : p.n;
  const int64_t columns =
      kernel == Kernel::blas ? cut(n, 256, wanted, 16) : cut(n, 192, wanted, kernels::panel_columns<T>);
  const int64_t rows =
      cut(m, std::clamp<int64_t>(m / 2, 64, 192), chunk_count(wanted, chunk_count(n, columns)), 16);
  return across ? Tiles{columns, rows} : Tiles{rows, columns};
}

}  // namespace

template <class T>
void gemm_serial(const Gemm<T>& p) {
  run(p, choose(p));
}

template <class T>
void gemm(const Gemm<T>& p) {
  if (p.m == 0 || p.n == 0) return;
  const Kernel kernel = choose(p);
  const Tiles tile = tiles_for(p, kernel);
  const int64_t down = chunk_count(p.m, tile.rows), across = chunk_count(p.n, tile.columns);
  parallel_each(down * across, 1, [&](int64_t t) {
    const int64_t i = t / across * tile.rows, j = t % across * tile.columns;
    run(p.tile(i, j, tile.rows, tile.columns), kernel);
  });
}

template void gemm(const Gemm<float>&);
template void gemm(const Gemm<double>&);
template void gemm_serial(const Gemm<float>&);
template void gemm_serial(const Gemm<double>&);

WithProducts::WithProducts(Products wanted) : before_(products.exchange(wanted)) {}
WithProducts::~WithProducts() { products = before_; }

void reserve_blas_buffers() {
  static std::atomic<int64_t> reserved = 0;
  static std::mutex reserving;
  const int64_t wanted = std::min<int64_t>(threads(), most_buffers);
  if (reserved.load(std::memory_order_acquire) >= wanted) return;
  const std::lock_guard lock(reserving);
  if (reserved >= wanted) return;
  check(
      room_for(wanted - reserved),
      "OpenBLAS: wanted {} MiB of address space for each of {} threads, and {} beside them, got less; raise the "
      "limit (ulimit -v) or take fewer threads",
      buffer_bytes >> 20, wanted, spare_bytes >> 20);
  map_buffers(wanted);
  reserved.store(wanted, std::memory_order_release);
}

std::string blas_core() { return openblas_get_corename(); }

std::string blas_version() {
  const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …"
  const size_t space = config.find(' ', config.find(' ') + 1);
  return config.substr(0, space);
}

}  // namespace isobar
