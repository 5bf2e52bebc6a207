#include "evidence.h"

#include <algorithm>

#include "../../../core/raw.h"
#include "../../ops.h"

namespace isobar {

Evidence::Evidence(const Jacobian& jacobian, const Context& around) : j(jacobian), context(around) {
  double value = 0;
  for (double v : j.numeric)
    if (std::isfinite(v)) largest_ = std::max(largest_, std::abs(v));
  for (double v : j.y.to_vector<double>())
    if (std::isfinite(v)) value = std::max(value, std::abs(v));
  // Differences of f64 numbers are wrong by some 10⁻¹⁰ of the values; see GradcheckReport.
  const bool in_f64 = j.rounding == Rounding::none;
  precision_ = in_f64 ? 1e-5 : 2e-3;
  floor_ =
      in_f64 ? 1e-4 * std::max(largest_, value) : std::max(1e-2 * largest_, 1e3 * j.rounded / precision_);
  for (int64_t k = 0; k < rows(); ++k)
    for (int64_t i = 0; i < columns(); ++i)
      if (!skipped(k, i)) entries_.push_back({k, i});
  std::stable_sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) {
    return std::abs(tape(a.k, a.i)) > std::abs(tape(b.k, b.i));
  });
  elementwise_ = rows() == columns() && everywhere([&](int64_t k, int64_t i) {
                   return k == i || (negligible(tape(k, i)) && negligible(numeric(k, i)));
                 });
}

bool Evidence::same(double a, double b) const {
  return std::abs(a - b) <= precision_ * std::max({std::abs(a), std::abs(b), floor_});
}

bool Evidence::apart(double a, double b) const {
  return std::abs(a - b) > 1e-2 * std::max({std::abs(a), std::abs(b), 0.2 * largest_, floor_});
}

bool Evidence::right_in_column(int64_t i) const {
  for (int64_t k = 0; k < rows(); ++k)
    if (!right_at(k, i)) return false;
  return true;
}

std::optional<Values> Evidence::solve(const Entries& over, const Term& to, const std::vector<Term>& terms,
                                      const Term& base) const {
  std::vector<Values> columns(terms.size());
  Values wanted, rest;
  for (const Entry& at : over) {
    const size_t before = wanted.size();
    bool said = true;
    for (size_t n = 0; n < terms.size(); ++n) {
      const double v = terms[n](at.k, at.i);
      if (std::isinf(v)) return {};
      said = said && !std::isnan(v);
      columns[n].push_back(v);
    }
    for (Values& column : columns)
      if (!said) column.resize(before);
    if (!said) continue;
    wanted.push_back(to(at.k, at.i));
    rest.push_back(wanted.back() - (base ? base(at.k, at.i) : 0));
    // One term: most of many candidates end here, at the second entry.
    if (terms.size() == 1 && !base &&
        std::abs(wanted[before] * columns[0][0] - wanted[0] * columns[0][before]) >
            4 * precision_ * std::abs(columns[0][0]) * std::max(std::abs(wanted[0]), floor_))
      return {};
  }
  if (2 * wanted.size() < over.size() || wanted.empty()) return {};
  const auto [times, independent] = least_squares(columns, rest);
  if (!independent && terms.size() > 1 && !base)
    return {};  // of several parts it is open which comes how often
  for (size_t at = 0; at < rest.size(); ++at) {
    for (size_t n = 0; n < terms.size(); ++n) rest[at] -= times[n] * columns[n][at];
    if (!same(wanted[at], wanted[at] - rest[at])) return {};
  }
  return times;
}

std::optional<double> Evidence::multiple(const Term& term) const {
  if (j.tape.empty()) return {};
  const std::optional<Values> times = solve(entries_, given, {term});
  const bool of_wrong =
      times && !everywhere([&](int64_t k, int64_t i) { return std::isnan(term(k, i)) || right_at(k, i); });
  return of_wrong && (*times)[0] != 0 ? std::optional((*times)[0]) : std::nullopt;
}

std::vector<std::vector<int>> sets_of_dimensions(int count) {
  std::vector<std::vector<int>> sets;
  if (count > 0) sets.push_back({count - 1});
  for (int bits = 1; bits < 1 << count; ++bits) {
    std::vector<int> dims;
    for (int d = 0; d < count; ++d)
      if (bits >> d & 1) dims.push_back(d);
    if (dims != sets.front()) sets.push_back(std::move(dims));
  }
  return sets;
}

std::vector<std::vector<int64_t>> groups_along(const Shape& shape, const std::vector<int>& dims) {
  Shape kept = shape;
  for (int d : dims) kept = kept.with(d, 1);
  const Tensor numbered = reshape(arange(kept.numel()), kept);
  const auto group_of =
      raw::as_strided(numbered, shape, broadcast_strides(kept, kept.strides(), shape)).to_vector<int64_t>();
  std::vector<std::vector<int64_t>> groups(kept.numel());
  for (int64_t i = 0; i < shape.numel(); ++i) groups[group_of[i]].push_back(i);
  return groups;
}

std::vector<Axis> axes_of(const Shape& shape, bool of_y) {
  std::vector<Axis> axes;
  for (int d = 0; d < shape.ndim(); ++d)
    if (shape[d] > 1) axes.push_back({of_y, d, shape[d], shape.strides()[d]});
  return axes;
}

std::vector<std::pair<Axis, Axis>> equal_axes(const Jacobian& j) {
  std::vector<std::pair<Axis, Axis>> pairs;
  for (const Axis& a : axes_of(j.y.shape(), true))
    for (const Axis& b : axes_of(j.value.shape(), false))
      if (a.extent == b.extent) pairs.emplace_back(a, b);
  return pairs;
}

}  // namespace isobar
