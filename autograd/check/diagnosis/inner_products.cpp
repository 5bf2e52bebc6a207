#include "evidence.h"

#include <algorithm>
#include <numeric>

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

// J_h times w, J_h solved from J_w; nothing where J_w has no such form.
std::optional<Values> jacobian_through(const Product& p) {
  Values path(p.x.rows * p.x.columns, 0.0);
  const double allowed = 1e-6 * largest_of(p.w.numeric);
  bool proved = false;  // more equations than unknowns
  for (int64_t k = 0; k < p.w.rows; ++k) {
    std::vector<Values> rows;
    const std::vector<int64_t> used = rows_used(p, k);
    for (const int64_t row : used)
      rows.emplace_back(&p.of_x[row * p.width], &p.of_x[row * p.width] + p.width);
    if (used.size() > static_cast<size_t>(p.width)) return {};
    proved = proved || used.size() < static_cast<size_t>(p.width);
    for (int64_t o = 0; o < p.out; ++o) {
      Values by_w;
      for (int64_t c = 0; c < p.width; ++c) by_w.push_back(p.w.numeric[k * p.w.columns + p.place(o, c)]);
      const Fit by_h = least_squares(rows, by_w);
      if (!by_h.independent) return {};
      for (int64_t c = 0; c < p.width; ++c) {
        double sum = 0;
        for (size_t a = 0; a < used.size(); ++a) {
          sum += by_h.times[a] * rows[a][c];
          path[k * p.x.columns + used[a] * p.width + c] += by_h.times[a] * p.of_w[p.place(o, c)];
        }
        if (!(std::abs(sum - by_w[c]) <= allowed)) return {};
      }
    }
  }
  return proved ? std::optional(path) : std::nullopt;
}

double dot(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void subtract(Values& from, double times, const Values& what) {
  for (size_t n = 0; n < from.size(); ++n) from[n] -= times * what[n];
}

}  // namespace

// By Gram and Schmidt: each column less its parts along those before it.
Fit least_squares(std::vector<Values> columns, Values target) {
  const size_t count = columns.size();
  Fit fit{Values(count, 0.0)};
  std::vector<Values> part(count, Values(count, 0.0));
  for (size_t a = 0; a < count; ++a) {
    const double before = dot(columns[a], columns[a]);
    for (size_t b = 0; b < a; ++b) {
      const double length = dot(columns[b], columns[b]);
      part[b][a] = length > 0 ? dot(columns[b], columns[a]) / length : 0;
      subtract(columns[a], part[b][a], columns[b]);
    }
    const double length = dot(columns[a], columns[a]);
    if (!(length > 1e-6 * before)) {
      fit.independent = false;
      std::fill(columns[a].begin(), columns[a].end(), 0.0);
      continue;
    }
    fit.times[a] = dot(columns[a], target) / length;
    subtract(target, fit.times[a], columns[a]);
  }
  for (size_t a = count; a-- > 0;)
    for (size_t b = 0; b < a; ++b) fit.times[b] -= part[b][a] * fit.times[a];
  return fit;
}

std::vector<InnerProduct> inner_products(const std::vector<Jacobian>& all) {
  std::vector<InnerProduct> result;
  for (const Jacobian& x : all)
    for (const Jacobian& w : all)
      for (const bool flipped : {false, true}) {
        if (x.sampled || w.sampled || &x == &w || w.value.ndim() != 2 || x.value.ndim() < 2 ||
            x.value.size(-1) != w.value.size(flipped ? 0 : 1) || !w.error.empty())
          continue;
        const std::optional<Values> path = jacobian_through({x, w, flipped});
        if (!path) continue;
        result.push_back({x.name, fmt::format("{}·{}", x.name, w.name), *path});
        break;
      }
  return result;
}

}  // namespace isobar
