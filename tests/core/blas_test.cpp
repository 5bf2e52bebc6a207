// gemm against three loops, at the edges, and bit for bit between thread counts. (An element's bits:
// spec/same_as_spec.cpp.)
#include "../../core/blas.h"

#include <sys/mman.h>
#include <unistd.h>

#include <functional>

#include "../../core/kernels/gemm.h"
#include "../skip.h"
#include "../thread_counts.h"
#include "gemm_product.h"

namespace isobar::blas_test {

// Why there are no products by OpenBLAS to try.
#ifdef ISOBAR_WITHOUT_OPENBLAS
const std::string no_openblas = "built with ISOBAR_OPENBLAS=OFF";
#else
const std::string no_openblas;
#endif

const std::vector<Problem> sizes = {{1, 1, 1},   {1, 7, 3},    {7, 1, 3},    {5, 3, 1},      {3, 5, 7},
                                    {17, 33, 9}, {64, 64, 64}, {1, 1600, 5}, {130, 70, 257}, {37, 1541, 19}};

// Sizes around those of registers, tiles and panels, each with each in two dimensions; in the third, all of
// them in turn.
std::vector<Problem> edges() {
  const std::vector<int64_t> lengths = {1, 15, 16, 17, 31, 33, 511, 513};
  const int64_t count = std::ssize(lengths);
  std::vector<Problem> result;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < count; ++j) {
      result.push_back({.m = lengths[i], .n = lengths[j], .k = lengths[(i + 2 * j) % count]});
      result.push_back({.m = lengths[i], .n = lengths[(i + 2 * j) % count], .k = lengths[j]});
    }
  return result;
}

// Numbers of which the last one ends a page of memory; the page after it cannot be read or written.
template <class T>
class AtPageEnd {
 public:
  explicit AtPageEnd(const std::vector<T>& numbers) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes = numbers.size() * sizeof(T);
    const size_t before = (bytes + page - 1) / page * page;
    size_ = before + page;
    void* const place = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE_FALSE(place == MAP_FAILED);
    start_ = static_cast<char*>(place);
    REQUIRE(mprotect(start_ + before, page, PROT_NONE) == 0);
    data_ = reinterpret_cast<T*>(start_ + before - bytes);
    std::copy(numbers.begin(), numbers.end(), data_);
  }
  ~AtPageEnd() { munmap(start_, size_); }
  AtPageEnd(const AtPageEnd&) = delete;
  AtPageEnd& operator=(const AtPageEnd&) = delete;
  T* data() const { return data_; }

 private:
  char* start_;
  size_t size_;
  T* data_;
};

TEST_CASE_TEMPLATE("our own kernel equals three loops, both ways round", T, float, double) {
  std::vector<Problem> problems = edges();
  problems.push_back({.m = 2070, .n = 50, .k = 9});  // A, where it is copied, in two parts
  for (Problem p : problems)
    for (int flags = 0; flags < 4; ++flags) {
      p.transpose_a = flags & 1;
      p.transpose_b = flags & 2;
      p.gap = flags == 2 ? 5 : 0;
      p.accumulate = (p.m + p.n) % 4 == 2;
      p.bias = !p.accumulate && flags != 1;
      check_against_loops<T>(p, kernels::multiply<T>);
      check_against_loops<T>(p, [](const Gemm<T>& g) { kernels::multiply(g.transposed()); });
    }
}

TEST_CASE_TEMPLATE("our own kernel touches nothing after the ends of its matrices", T, float, double) {
  for (const int64_t m : {1, 9})
    for (const int64_t n : {1, 15, 17, 33, 48, 65})
      for (const int64_t k : {1, 17})
        for (int flags = 0; flags < 4; ++flags) {
          Product<T> product(
              {.m = m, .n = n, .k = k, .transpose_a = (flags & 1) != 0, .transpose_b = (flags & 2) != 0});
          const AtPageEnd<T> a(product.a), b(product.b), c(product.c);
          kernels::multiply(product.g);
          Gemm<T> guarded = product.g;
          guarded.a.data = a.data();
          guarded.b.data = b.data();
          guarded.c.data = c.data();
          kernels::multiply(guarded);
          CHECK(std::equal(product.c.begin(), product.c.end(), c.data()));
        }
}

TEST_CASE("an empty inner dimension gives zeros or the bias, or leaves C as it is when accumulating") {
  for (bool accumulate : {false, true}) {
    check_against_loops<float>({.m = 3, .n = 5, .k = 0, .accumulate = accumulate, .gap = 2});
    check_against_loops<double>({.m = 3, .n = 5, .k = 0, .accumulate = accumulate, .gap = 2});
    check_against_loops<float>({.m = 33, .n = 65, .k = 0, .transpose_b = true, .accumulate = accumulate});
    check_against_loops<float>({.m = 33, .n = 65, .k = 0, .transpose_b = true, .bias = !accumulate});
  }
}

TEST_CASE("an empty result touches nothing") {
  Gemm<float> nothing;  // all pointers null
  nothing.k = 4;
  nothing.n = 3;
  CHECK_NOTHROW(gemm(nothing));
  nothing.m = 3;
  nothing.n = 0;
  CHECK_NOTHROW(gemm(nothing));
}

TEST_CASE("NaN and infinity go through our own kernel as through three loops") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const Problem& p :
       {Problem{.m = 40, .n = 75, .k = 33, .transpose_b = true},
        Problem{.m = 65, .n = 512, .k = 40, .transpose_a = true}, Problem{.m = 300, .n = 70, .k = 65}}) {
    Product<float> product(p);
    std::fill(product.a.begin(), product.a.end(), 0.0f);
    const auto b = [&](int64_t l, int64_t j) -> float& {
      return product.b[product.g.b.at(l, j) - product.b.data()];
    };
    b(p.k - 1, 3) = nan;
    b(0, p.n - 1) = inf;  // 0 · ∞ is NaN
    product.a[0] = 1;     // A(0, 0)
    gemm(product.g);
    CAPTURE(p.m);
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        const float c = *product.g.c.at(i, j);
        if (j == 3 || (j == p.n - 1 && i > 0))
          REQUIRE(std::isnan(c));
        else
          REQUIRE(c == (i == 0 ? b(0, j) : 0));
      }
  }
}

template <class T>
void check_thread_counts() {
  // OpenBLAS multiplies the last two in tiles; the very last tile is small enough for other kernels of its.
  const std::vector<Problem> shapes = {{517, 803, 301}, {3, 2001, 65},  {2001, 3, 65},  {33, 769, 1025},
                                       {1, 1537, 63},   {32, 512, 512}, {7, 4001, 301}, {1921, 16, 683}};
  for (Problem p : shapes)
    for (int flags = 0; flags < 4; ++flags) {
      p.transpose_a = flags & 1;
      p.transpose_b = flags & 2;
      p.accumulate = p.transpose_a;
      p.bias = !p.accumulate;
      Product<T> product(p);
      const std::vector<T> start = product.c;
      INFO("m ", p.m, ", n ", p.n, ", k ", p.k, ", flags ", flags);
      check_same_on_threads([&] {
        product.c = start;
        product.point();
        gemm(product.g);
        return product.c;
      });
    }
}

TEST_CASE_TEMPLATE("the bits are the same for 1, 2, 3 and 8 threads", T, float, double) {
  check_thread_counts<T>();
  if (!no_openblas.empty()) return skip(no_openblas);
  const WithProducts guard(Products::openblas);
  check_thread_counts<T>();
}

TEST_CASE("a product inside a parallel loop has the bits of one outside") {
  const Problem p{.m = 300, .n = 900, .k = 65};
  Product<float> outside(p);
  gemm(outside.g);
  const WithThreads guard(3);
  std::vector<Product<float>> inside(4, Product<float>(p));
  for (auto& product : inside) product.point();
  parallel_for(4, 1, [&](int64_t begin, int64_t) { gemm(inside[begin].g); });
  for (const auto& product : inside) CHECK(product.c == outside.c);
}

TEST_CASE("dimensions that do not fit the library's 32-bit integers are refused") {
  Gemm<float> huge{1, 1, int64_t{1} << 31, {nullptr, int64_t{1} << 31}, {nullptr, 1}, {}, {nullptr, 1}};
  CHECK_THROWS_WITH_AS(gemm(huge), "gemm: dimensions must be below 2^31, got 1 x 1 x 2147483648", Error);
  huge.k = 1;  // and so are distances between rows
  CHECK_THROWS_WITH_AS(gemm(huge), "gemm: dimensions must be below 2^31, got 1 x 1 x 1", Error);
}

TEST_CASE_TEMPLATE("gemm equals three loops, by our own kernel and by OpenBLAS", T, float, double) {
  CHECK(blas_version() == "own");
  CHECK_FALSE(blas_core().empty());
  for (const Products products : {Products::own, Products::openblas}) {
    if (products == Products::openblas && !no_openblas.empty()) return skip(no_openblas);
    const WithProducts guard(products);
    if (products == Products::openblas) {
      CHECK(blas_version().substr(0, 9) == "OpenBLAS ");
      CHECK_FALSE(blas_core().empty());
    }
    for (Problem p : sizes)
      for (int flags = 0; flags < 8; ++flags) {
        p.transpose_a = flags & 1;
        p.transpose_b = flags & 2;
        p.accumulate = flags & 4;
        p.bias = !p.accumulate;
        p.gap = flags == 1 || flags == 6 ? 5 : 0;
        check_against_loops<T>(p);
      }
  }
}

}  // namespace isobar::blas_test
