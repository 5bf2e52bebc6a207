#include "blas.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "blas_plugin.h"
#include "error.h"
#include "kernels/gemm.h"
#include "parallel.h"
#include "plugin.h"

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

// Sets OPENBLAS_NUM_THREADS to 1 while it lives. OpenBLAS starts a thread for each CPU when it is loaded, unless the
// environment forbids it. Nobody uses them here, and where address space is short (ulimit -v) they wait for
// buffers for ever.
class OneThread {
 public:
  OneThread() {
    if (const char* const set = std::getenv(name)) before_ = set;
    ::setenv(name, "1", 1);
  }
  ~OneThread() { before_ ? ::setenv(name, before_->c_str(), 1) : ::unsetenv(name); }
  OneThread(const OneThread&) = delete;

 private:
  static constexpr const char* name = "OPENBLAS_NUM_THREADS";
  std::optional<std::string> before_;
};

// Throws Error where there is no plugin.
const BlasPlugin* load_openblas() {
  const OneThread guard;
  void* const function = open_plugin({.file = "libisobar_openblas.so",
                                      .function = "isobar_blas_plugin",
                                      .asked = "products by OpenBLAS were asked for",
                                      .package = "libopenblas-dev",
                                      .instead = "take our own"});
  return reinterpret_cast<decltype(&isobar_blas_plugin)>(function)();
}

// Opened by the first WithProducts(Products::openblas), and never closed.
const BlasPlugin& openblas() {
  static const BlasPlugin* const plugin = load_openblas();
  return *plugin;
}

// Makes OpenBLAS map the buffers that products on all threads need, once. It would try for ever where there is
// no address space for them (ulimit -v): this throws Error.
void reserve_buffers() {
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
  openblas().map_buffers(wanted);
  reserved.store(wanted, std::memory_order_release);
}

template <class T>
void call_blas(const Gemm<T>& p) {
  reserve_buffers();
  if constexpr (std::is_same_v<T, float>)
    openblas().multiply_f32(p);
  else
    openblas().multiply_f64(p);
}

std::atomic<Products> products = Products::own;

// Returns what it was. Opens the plugin first, so that nothing has changed where there is none.
Products exchange_products(Products wanted) {
  if (wanted == Products::openblas) openblas();
  return products.exchange(wanted);
}

template <class T>
double multiply_adds(const Gemm<T>& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

// Whether our kernel would copy A beside B, as for x · Wᵀ: it reads rows of A and columns of Bᵀ.
template <class T>
bool copies_both(const Gemm<T>& p) {
  return p.a.by_rows(p.k) && !p.b.by_rows(p.n);
}

// As measured with AVX-512: below 10^6 multiply-adds OpenBLAS copies no operand; our kernel needs wide panels
// and at least 8 rows.
template <class T>
bool blas_is_faster(const Gemm<T>& p) {
  const bool small = multiply_adds(p) <= 1e6, vectors = sizeof(kernels::Vec<T>) >= 32;
  return !vectors || p.m < 8 || p.n < 32 || (small && (!copies_both(p) || p.m < 32));
}

// Computes C in tiles, each of about 2^21 multiply-adds (35 µs) or more, but `most` of them at the most. A tile
// copies its operands: OpenBLAS copies both, our kernel mostly B alone. So the columns of B are cut first, into
// at least `narrowest` and a multiple of `unit`; then the rows of A into halves or tiles of at least 192.
template <class T>
void in_tiles(const Gemm<T>& p, int64_t most, int64_t narrowest, int64_t unit,
              void (*compute)(const Gemm<T>&)) {
  const auto wanted =
      static_cast<int64_t>(std::clamp<double>(multiply_adds(p) / (1 << 21), 1, static_cast<double>(most)));
  // The size of a tile where `length` is cut into at most `tiles` tiles of at least `shortest`.
  const auto cut = [](int64_t length, int64_t shortest, int64_t tiles, int64_t multiple) {
    return chunk_count(chunk_count(length, multiple), std::clamp<int64_t>(length / shortest, 1, tiles)) *
           multiple;
  };
  const int64_t columns = cut(p.n, narrowest, wanted, unit), across = chunk_count(p.n, columns);
  const int64_t rows = cut(p.m, std::clamp<int64_t>(p.m / 2, 64, 192), chunk_count(wanted, across), 16);
  parallel_each(chunk_count(p.m, rows) * across, 1,
                [&](int64_t t) { compute(p.tile(t / across * rows, t % across * columns, rows, columns)); });
}

}  // namespace

// The borders of OpenBLAS's tiles may change the last bit of a result, so its tiles depend on the shape alone.
// The borders of our kernel's tiles do not (gemm.h), so it makes only as many as the threads need.
template <class T>
void gemm(const Gemm<T>& p) {
  constexpr int64_t limit = std::numeric_limits<int>::max();
  check(std::max({p.m, p.n, p.k, p.a.row, p.a.column, p.b.row, p.b.column, p.c.row}) <= limit,
        "gemm: dimensions must be below 2^31, got {} x {} x {}", p.m, p.n, p.k);
  assert(p.valid());
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) return p.copy_start();
  if (products.load(std::memory_order_relaxed) == Products::openblas && blas_is_faster(p))
    return inside_parallel() ? call_blas(p) : in_tiles(p, 32, 256, 16, call_blas<T>);
  // Our kernel copies B: of the product and its transpose, the one that copies less.
  const Gemm<T> q = copies_both(p) && p.m * (p.n + p.k) < p.n * p.k ? p.transposed() : p;
  if (threads() == 1 || inside_parallel()) return kernels::multiply(q);
  in_tiles(q, 4 * threads(), 192, kernels::panel_columns<T>, kernels::multiply<T>);
}

template void gemm(const Gemm<float>&);
template void gemm(const Gemm<double>&);

WithProducts::WithProducts(Products wanted) : before_(exchange_products(wanted)) {}
WithProducts::~WithProducts() { products = before_; }

Products products_from_name(const std::string& name) {
  check(name == "own" || name == "openblas", "products: wanted own or openblas, got '{}'", name);
  return name == "own" ? Products::own : Products::openblas;
}

std::string blas_core() { return products == Products::own ? kernels::register_name : openblas().core(); }

std::string blas_version() {
  if (products == Products::own) return "own";
  const std::string config = openblas().config();
  const size_t space = config.find(' ', config.find(' ') + 1);
  return config.substr(0, space);
}

}  // namespace isobar
