// Bf16 numbers, and their products through oneDNN, which generates code for the shape and the CPU at hand: tiles of
// AMX, dot products of AVX512-BF16, or (for tests) plain AVX-512 on widened operands.
//
// oneDNN takes its threads from OpenMP, whose pool becomes very slow beside ours. So each call runs on one
// OpenMP thread, and C is cut into tiles over our threads. The tiles depend on the shape alone and K is never
// split, so the bits do not depend on the number of threads. Each thread keeps the code that oneDNN generated
// for it ("primitives") for the next step.
#include "bf16.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <map>

#include "error.h"
#include "kernels/map.h"
#include "object_memory.h"
#include "precision.h"
#include "raw.h"

#ifdef ISOBAR_ONEDNN

#include <oneapi/dnnl/dnnl.hpp>

// Declared here, because not every compiler that links GNU's OpenMP library finds its header.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int);

#endif

namespace isobar {
namespace {

// Rounds to nearest even: adding just under half of the last kept bit, and that bit itself, carries into it
// exactly when the next bf16 is the nearest one. A carry out of the fraction raises the exponent, at the
// largest value to infinity. A carry could turn a NaN into a number, so a NaN is truncated and made quiet,
// which keeps its fraction from being zero.
uint16_t rounded(uint32_t bits) {
  const uint32_t nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const uint32_t quiet = bits >> 16 | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet : nearest);
}

}  // namespace

Bf16 to_bf16(float x) { return {rounded(std::bit_cast<uint32_t>(x))}; }

float to_float(Bf16 x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }

void to_bf16(int64_t n, const float* x, Bf16* y) {
  kernels::map_elements(
      n, y, [](float v) { return to_bf16(v); }, x);
}

Bf16Copy::Bf16Copy(const Tensor& x)
    : storage_(std::allocate_shared<Storage>(ObjectAllocator<Storage>(), x.numel() * sizeof(Bf16))) {
  to_bf16(x.numel(), raw::contiguous(x).data<float>(), static_cast<Bf16*>(storage_->data));
}

std::string_view name_of(Precision precision) { return precision == Precision::f32 ? "f32" : "bf16"; }

Precision precision_from_name(std::string_view name) {
  for (const Precision precision : {Precision::f32, Precision::bf16})
    if (name == name_of(precision)) return precision;
  throw_error(fmt::format("precision: wanted f32 or bf16, got '{}'", name));
}

#ifdef ISOBAR_ONEDNN

namespace {

// Sets the calling thread's number of OpenMP threads to one, and restores it at the end.
class OneOmpThread {
 public:
  OneOmpThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneOmpThread() { omp_set_num_threads(before_); }
  OneOmpThread(const OneOmpThread&) = delete;

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

Primitive generate(const Gemm<float, Bf16>& p) {
  using Type = dnnl::memory::data_type;
  const dnnl::memory::desc a({p.m, p.k}, Type::bf16, {p.a.row, p.a.column});
  const dnnl::memory::desc b({p.k, p.n}, Type::bf16, {p.b.row, p.b.column});
  const dnnl::memory::desc c({p.m, p.n}, Type::f32, {p.c.row, p.c.column});
  dnnl::primitive_attr attributes;
  if (p.start.data != nullptr) {
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
  const Key key{p.m, p.n, p.k, p.a.row, p.a.column, p.b.row, p.b.column, p.c.row, p.start.data != nullptr};
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
    product.a.set_data_handle(const_cast<Bf16*>(p.a.data), stream);
    product.b.set_data_handle(const_cast<Bf16*>(p.b.data), stream);
    product.c.set_data_handle(p.c.data, stream);
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
  check(p.start.data == nullptr || p.start.data == p.c.data,
        "gemm: products of bf16 matrices take no bias; add it afterwards");
  assert(p.valid());
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) return p.copy_start();
  constexpr int64_t target = int64_t{1} << 25;
  const int64_t columns = p.n <= 1536 ? p.n : 1024;
  const int64_t rows = std::max<int64_t>(64, target / (columns * p.k) / 32 * 32);
  const int64_t down = chunk_count(p.m, rows), across = chunk_count(p.n, columns);
  parallel_each(down * across, 1,
                [&](int64_t t) { multiply(p.tile(t / across * rows, t % across * columns, rows, columns)); });
}

#else

std::string bf16_obstacle() { return "this build has no oneDNN"; }

void gemm(const Gemm<float, Bf16>&) {
  throw_error("gemm: bf16 matrices cannot be multiplied: " + bf16_obstacle());
}

#endif

}  // namespace isobar
