#include "hidden.h"

#include <algorithm>
#include <cmath>

#include "differences.h"

namespace isobar {
namespace {

// w as it takes a row of x, (C), to one of h, (O).
struct Product {
  const Jacobian &x, &w;
  bool flipped;  // h = x w, not x wᵀ
  Values of_x = x.value.to_vector<double>(), of_w = w.value.to_vector<double>();
  int64_t width = x.value.size(-1), count = x.value.numel() / width, out = w.value.numel() / width;

  int64_t place(int64_t o, int64_t c) const { return flipped ? c * out + o : o * width + c; }
};

// The rows of x that number k of y depends on.
std::vector<int64_t> rows_used(const Product& p, int64_t k) {
  std::vector<int64_t> used;
  const double least = 1e-9 * std::max(1.0, largest_of(p.x.numeric));
  for (int64_t row = 0; row < p.count; ++row) {
    const double* from = &p.x.numeric[k * p.x.columns + row * p.width];
    if (std::any_of(from, from + p.width, [&](double v) { return std::abs(v) > least; })) used.push_back(row);
  }
  return used;
}

// J_h from J_w, (numbers of y, count · out); nothing where J_w has no such form.
std::optional<Values> solved(const Product& p, const Values& of_w) {
  Values result(p.w.rows * p.count * p.out, 0.0);
  const double allowed = 1e-6 * largest_of(of_w);
  bool proved = false;  // more equations than unknowns
  for (int64_t k = 0; k < p.w.rows; ++k) {
    const std::vector<int64_t> used = rows_used(p, k);
    const auto n = static_cast<int64_t>(used.size());
    const auto x = [&](int64_t row, int64_t c) { return p.of_x[used[row] * p.width + c]; };
    Values gram(n * n, 0.0);
    for (int64_t a = 0; a < n; ++a)
      for (int64_t b = 0; b < n; ++b)
        for (int64_t c = 0; c < p.width; ++c) gram[a * n + b] += x(a, c) * x(b, c);
    const std::optional<Values> inverted = n <= p.width ? inverse(gram, n) : std::nullopt;
    if (!inverted) return {};
    proved = proved || n < p.width;
    for (int64_t o = 0; o < p.out; ++o) {
      double* h = &result[k * p.count * p.out];
      for (int64_t a = 0; a < n; ++a)
        for (int64_t b = 0; b < n; ++b)
          for (int64_t c = 0; c < p.width; ++c)
            h[used[a] * p.out + o] +=
                (*inverted)[a * n + b] * x(b, c) * of_w[k * p.w.columns + p.place(o, c)];
      for (int64_t c = 0; c < p.width; ++c) {
        double sum = 0;
        for (int64_t a = 0; a < n; ++a) sum += h[used[a] * p.out + o] * x(a, c);
        if (!(std::abs(sum - of_w[k * p.w.columns + p.place(o, c)]) <= allowed)) return {};
      }
    }
  }
  return proved ? std::optional(result) : std::nullopt;
}

// J_h times w.
Values path_of(const Product& p, const Values& by_h) {
  Values path(p.x.rows * p.x.columns, 0.0);
  for (int64_t k = 0; k < p.x.rows; ++k)
    for (int64_t row = 0; row < p.count; ++row)
      for (int64_t o = 0; o < p.out; ++o)
        for (int64_t c = 0; c < p.width; ++c)
          path[k * p.x.columns + row * p.width + c] +=
              by_h[(k * p.count + row) * p.out + o] * p.of_w[p.place(o, c)];
  return path;
}

}  // namespace

std::optional<Values> inverse(Values a, int64_t n) {
  Values result(n * n, 0.0);
  const double size = largest_of(a);
  for (int64_t i = 0; i < n; ++i) result[i * n + i] = 1;
  for (int64_t i = 0; i < n; ++i) {
    const double pivot = a[i * n + i];
    if (!(pivot > 1e-6 * size)) return {};
    for (Values* m : {&a, &result})
      for (int64_t j = 0; j < n; ++j) (*m)[i * n + j] /= pivot;
    for (int64_t r = 0; r < n; ++r) {
      const double times = r == i ? 0 : a[r * n + i];
      for (Values* m : {&a, &result})
        for (int64_t j = 0; j < n; ++j) (*m)[r * n + j] -= times * (*m)[i * n + j];
    }
  }
  return result;
}

std::vector<Hidden> hidden_products(const std::vector<Jacobian>& all) {
  std::vector<Hidden> result;
  for (const Jacobian& x : all)
    for (const Jacobian& w : all)
      for (const bool flipped : {false, true}) {
        if (x.sampled || w.sampled || &x == &w || w.value.ndim() != 2 || x.value.ndim() < 2 ||
            x.value.size(-1) != w.value.size(flipped ? 0 : 1) || !w.error.empty())
          continue;
        const Product p{x, w, flipped};
        const std::optional<Values> by_h = solved(p, w.numeric);
        if (!by_h) continue;
        result.push_back({x.name, fmt::format("{}·{}", x.name, w.name), path_of(p, *by_h)});
        break;
      }
  return result;
}

}  // namespace isobar
