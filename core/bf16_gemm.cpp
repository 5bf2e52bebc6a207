// Products of bf16 matrices through oneDNN, which generates code for the shape and the CPU at hand: tiles of
// AMX, dot products of AVX512-BF16, or (for tests) plain AVX-512 on widened operands.
//
// oneDNN takes its threads from OpenMP, whose pool becomes very slow beside ours. So each call runs on one
// OpenMP thread, and C is cut into tiles over our threads. The tiles depend on the shape alone and K is never
// split, so the bits do not depend on the number of threads. Each thread keeps the code that oneDNN generated
// for it ("primitives") for the next step.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <map>

#include "bf16.h"
#include "error.h"
#include "parallel.h"
#include "precision.h"

#ifdef ISOBAR_ONEDNN

#include <oneapi/dnnl/dnnl.hpp>

// Declared here, because not every compiler that links GNU's OpenMP library finds its header.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int);

namespace isobar {
namespace {

// Sets the calling thread's number of OpenMP threads to one, and restores it at the end.
class OneOmpThread {
 public:
  OneOmpThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneOmpThread() { omp_set_num_threads(before_); }
  OneOmpThread(const OneOmpThread&) = delete;
  OneOmpThread& operator=(const OneOmpThread&) = delete;

 private:
  const int before_;
};

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// A generated product and its matrices, whose addresses are set before each call.
struct Primitive {
  dnnl::matmul run;
  dnnl::memory a, b, c;
};

// The layout of a matrix (rows, columns) that is stored as it is, or transposed.
dnnl::memory::desc describe(int64_t rows, int64_t columns, bool transposed, int64_t stride,
                            dnnl::memory::data_type type) {
  return {{rows, columns}, type, transposed ? dnnl::memory::dims{1, stride} : dnnl::memory::dims{stride, 1}};
}

Primitive generate(const Gemm<float, Bf16>& p) {
  using Type = dnnl::memory::data_type;
  const dnnl::memory::desc a = describe(p.m, p.k, p.transpose_a, p.lda, Type::bf16);
  const dnnl::memory::desc b = describe(p.k, p.n, p.transpose_b, p.ldb, Type::bf16);
  const dnnl::memory::desc c = describe(p.m, p.n, false, p.ldc, Type::f32);
  dnnl::primitive_attr attributes;
  if (p.accumulate) {
    dnnl::post_ops add_to_c;
    add_to_c.append_sum(1);
    attributes.set_post_ops(add_to_c);
  }
  const dnnl::matmul::primitive_desc product(dnnl::matmul::desc(a, b, c), attributes, cpu());
  return {dnnl::matmul(product), dnnl::memory(a, cpu(), nullptr), dnnl::memory(b, cpu(), nullptr),
          dnnl::memory(c, cpu(), nullptr)};
}

// This thread's primitive for the shape. A primitive works in memory of the thread that made it, so threads
// share none. The cache is emptied when it is full: a program whose shapes keep changing must not fill the
// memory with code.
Primitive& primitive_for(const Gemm<float, Bf16>& p) {
  constexpr size_t most = 1024;
  using Key = std::array<int64_t, 9>;
  static thread_local std::map<Key, Primitive> known;
  const Key key{p.transpose_a, p.transpose_b, p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.accumulate};
  if (const auto found = known.find(key); found != known.end()) return found->second;
  if (known.size() == most) known.clear();
  return known.emplace(key, generate(p)).first->second;
}

// Computes one tile on the calling thread.
void multiply(const Gemm<float, Bf16>& p) {
  static thread_local dnnl::stream stream(cpu());
  const OneOmpThread guard;
  try {
    Primitive& product = primitive_for(p);
    product.a.set_data_handle(const_cast<Bf16*>(p.a), stream);
    product.b.set_data_handle(const_cast<Bf16*>(p.b), stream);
    product.c.set_data_handle(p.c, stream);
    product.run.execute(
        stream, {{DNNL_ARG_SRC, product.a}, {DNNL_ARG_WEIGHTS, product.b}, {DNNL_ARG_DST, product.c}});
    stream.wait();
  } catch (const dnnl::error& error) {
    throw_error(fmt::format("gemm: oneDNN cannot multiply bf16 matrices of {} x {} and {} x {}: {}", p.m, p.k,
                            p.k, p.n, error.what()));
  }
}

bool emulation_wanted() {
  const char* value = std::getenv("ISOBAR_BF16");
  return value != nullptr && std::string_view(value) == "emulated";
}

}  // namespace

std::string bf16_obstacle() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  if (isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx512_core_amx) return "";
  if (!emulation_wanted()) return "this CPU has neither AMX-BF16 nor AVX512-BF16";
  const bool wide = isa == dnnl::cpu_isa::avx512_core || isa == dnnl::cpu_isa::avx512_core_vnni;
  return wide ? "" : "this CPU has no AVX-512 to emulate bf16 with";
}

// A tile has about 2^25 multiply-adds: 70 µs at 1 TFLOP/s, while a call costs a few µs. oneDNN reorders B's
// columns for each tile; at least 64 rows a tile keep that cost small.
void gemm(const Gemm<float, Bf16>& p) {
  const std::string obstacle = bf16_obstacle();
  check(obstacle.empty(), "gemm: bf16 matrices cannot be multiplied: {}", obstacle);
  check(p.bias == nullptr, "gemm: products of bf16 matrices take no bias; add it afterwards");
  assert(p.m >= 0 && p.n >= 0 && p.k >= 0);
  if (p.m == 0 || p.n == 0) return;
  assert(p.c != nullptr && p.ldc >= p.n);
  if (p.k == 0) {
    if (!p.accumulate)
      for (int64_t i = 0; i < p.m; ++i) std::fill_n(p.c + i * p.ldc, p.n, 0.0f);
    return;
  }
  assert(p.a != nullptr && p.lda >= (p.transpose_a ? p.m : p.k));
  assert(p.b != nullptr && p.ldb >= (p.transpose_b ? p.k : p.n));
  constexpr int64_t target = int64_t{1} << 25;
  const int64_t columns = p.n <= 1536 ? p.n : 1024;
  const int64_t rows = std::max<int64_t>(64, target / (columns * p.k) / 32 * 32);
  const int64_t down = chunk_count(p.m, rows), across = chunk_count(p.n, columns);
  parallel_for(down * across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t i = t / across * rows, j = t % across * columns;
      Gemm<float, Bf16> tile = p;
      tile.m = std::min(rows, p.m - i);
      tile.n = std::min(columns, p.n - j);
      tile.a += p.transpose_a ? i : i * p.lda;
      tile.b += p.transpose_b ? j * p.ldb : j;
      tile.c += i * p.ldc + j;
      multiply(tile);
    }
  });
}

}  // namespace isobar

#else

namespace isobar {

std::string bf16_obstacle() { return "this build has no oneDNN"; }

void gemm(const Gemm<float, Bf16>&) {
  throw_error("gemm: bf16 matrices cannot be multiplied: " + bf16_obstacle());
}

}  // namespace isobar

#endif
