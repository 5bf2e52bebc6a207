#include <algorithm>
#include <cmath>
#include <set>

#include "rules.h"

namespace isobar {

Found exchanged(const Evidence& e) {
  const Jacobian& j = e.j;
  for (const bool of_y : {false, true}) {
    const Shape& shape = of_y ? j.y.shape() : j.value.shape();
    for (const auto& [a, b] : pairs_of_dimensions(shape)) {
      const std::vector<int64_t> places = transposed_places(shape, a, b);
      if (!e.explained(
              [&](int64_t k, int64_t i) { return of_y ? e.numeric(places[k], i) : e.numeric(k, places[i]); }))
        continue;
      if (!of_y)
        return Diagnosis{
            Cause::transposed,
            fmt::format("transposed: right numbers with dimensions {} and {} of {} swapped", a, b, shape)};
      return Diagnosis{Cause::wrong_axis,
                       fmt::format("wrong axis: right for a dy with dimensions {} and {} swapped; is the sum "
                                   "over the right axis?",
                                   a, b)};
    }
  }
  for (const Axis& a : axes_of(j.y.shape(), true))
    for (const Axis& b : axes_of(j.value.shape(), false)) {
      const auto turned = [&](int64_t k, int64_t i) {
        const int64_t apart = b.at(i) - a.at(k);
        return e.numeric(k + apart * a.stride, i - apart * b.stride);
      };
      if (a.extent == b.extent && e.explained(turned))
        return Diagnosis{
            Cause::transposed,
            "transposed: backward multiplies by the matrix itself, not by its transpose (dx = dy W for "
            "y = x Wᵀ)"};
    }
  return {};
}

namespace {

using Entries = std::vector<std::pair<int64_t, int64_t>>;

// Where T is zero and J is not, if T is J elsewhere, and where both are not; else nothing.
std::pair<Entries, Entries> lost_and_kept(const Evidence& e) {
  Entries kept, lost;
  for (int64_t k = 0; k < e.rows(); ++k)
    for (int64_t i = 0; i < e.columns(); ++i) {
      if (!e.right_at(k, i) && !e.negligible(e.tape(k, i))) return {};
      if (!e.skipped(k, i) && !e.negligible(e.numeric(k, i)))
        (e.right_at(k, i) ? kept : lost).emplace_back(k, i);
    }
  return {lost, kept};
}

// The chance that wrong elements drawn at random stand together: `ways` of them do, of all that could.
double chance(size_t wrong, size_t all, double ways) {
  for (size_t n = 0; n < wrong; ++n) ways *= static_cast<double>(wrong - n) / static_cast<double>(all - n);
  return ways;
}

constexpr const char* last_only = "overwritten instead of accumulated: only the last contributions come";
constexpr const char* first_only = "broadcast not summed: only the first contributions come";

}  // namespace

Found indices_lost(const Evidence& e) {
  const auto [lost, kept] = lost_and_kept(e);
  if (kept.empty() || lost.size() < 2) return {};
  std::vector<Axis> axes = axes_of(e.j.y.shape(), true);
  for (const Axis& axis : axes_of(e.j.value.shape(), false)) axes.push_back(axis);
  axes.push_back({false, -1, e.columns(), 1});
  for (const Axis& axis : axes) {
    std::set<int64_t> there, gone;
    for (const auto& [k, i] : kept) there.insert(axis.at(k, i));
    for (const auto& [k, i] : lost) gone.insert(axis.at(k, i));
    const bool start = *gone.rbegin() < *there.begin();
    if (!start && *there.rbegin() >= *gone.begin()) continue;
    if (chance(lost.size(), lost.size() + kept.size(), 8) > 0.02) continue;
    const std::string where =
        fmt::format("with index {} {} {}", start ? "<" : ">=", start ? *there.begin() : *gone.begin(),
                    axis.dim < 0 ? "in row-major order" : fmt::format("along dimension {}", axis.dim));
    if (axis.of_y && there.size() == 1)
      return Diagnosis{start ? Cause::overwritten : Cause::not_summed,
                       fmt::format("{}; dy {} is not used", start ? last_only : first_only, where)};
    return Diagnosis{
        Cause::cross_talk,
        fmt::format("cross-talk: {} {} {}; does backward leave out the {}?", axis.of_y ? "dy" : e.j.name,
                    where, axis.of_y ? "is not used" : "gets nothing", start ? "start" : "tail")};
  }
  return {};
}

Found contributions_lost(const Evidence& e) {
  const auto [lost, kept] = lost_and_kept(e);
  std::vector<int64_t> count(e.columns(), 0), only(e.columns(), 0);
  for (const auto& [k, i] : kept) ++count[i], only[i] = k;
  bool is_last = true, is_first = true;
  for (const auto& [k, i] : lost) {
    is_last = is_last && count[i] == 1 && k < only[i];
    is_first = is_first && count[i] == 1 && k > only[i];
  }
  if (lost.size() < 2 || is_last == is_first) return {};
  return Diagnosis{is_last ? Cause::overwritten : Cause::not_summed, is_last ? last_only : first_only};
}

// Each row of T (or each column) holds numbers of J's row, most of them, in other places.
Found misplaced(const Evidence& e) {
  for (const bool in_rows : {true, false}) {
    const int64_t lines = in_rows ? e.rows() : e.columns(), length = in_rows ? e.columns() : e.rows();
    int64_t found = 0, missing = 0, moved = 0;  // missing: not of J, or of J and not there
    std::string example;
    for (int64_t line = 0; line < lines; ++line) {
      const auto k = [&](int64_t n) { return in_rows ? line : n; };
      const auto i = [&](int64_t n) { return in_rows ? n : line; };
      std::vector<bool> used(length, false);
      int64_t strange = 0, absent = 0;
      for (const bool in_place : {true, false})
        for (int64_t n = 0; n < length; ++n) {
          const double tape = e.tape(k(n), i(n));
          if (e.skipped(k(n), i(n)) || e.negligible(tape) || e.right_at(k(n), i(n)) != in_place) continue;
          int64_t from = in_place ? n : 0;
          while (from < length && (used[from] || !e.same(tape, e.numeric(k(from), i(from))))) ++from;
          strange += from == length;
          if (from == length) continue;
          used[from] = true;
          ++found;
          moved += !in_place;
          if (!in_place && example.empty())
            example = fmt::format("dy{} to {}{} stands where that of dy{} to {}{} should",
                                  index_text(e.j.y.shape(), k(from)), e.j.name,
                                  index_text(e.j.value.shape(), i(from)), index_text(e.j.y.shape(), k(n)),
                                  e.j.name, index_text(e.j.value.shape(), i(n)));
        }
      for (int64_t n = 0; n < length; ++n) absent += !used[n] && !e.negligible(e.numeric(k(n), i(n)));
      missing += std::max(strange, absent);
    }
    if (moved < (missing == 0 ? 2 : 4) || 3 * missing > found) continue;
    return Diagnosis{Cause::misplaced,
                     fmt::format("misplaced: right numbers in other places: what belongs to {}; "
                                 "is it shifted, reversed, or reshaped without a transpose?",
                                 example)};
  }
  return {};
}

Found masked(const Evidence& e) {
  const auto none = [&](double v) { return e.negligible(v); };
  int64_t lost = 0, extra = 0, agree = 0;
  std::vector<bool> has_slope(e.rows(), false), has_extra(e.rows(), false);
  for (int64_t k = 0; k < e.rows(); ++k)
    for (int64_t i = 0; i < e.columns(); ++i) {
      if (e.skipped(k, i)) continue;
      const bool forward = !none(e.numeric(k, i)), backward = !none(e.tape(k, i));
      if (forward && backward && !e.right_at(k, i)) return {};
      agree += forward && backward;
      lost += forward && !backward;
      extra += backward && !forward;
      if (forward) has_slope[k] = true;
      if (backward && !forward) has_extra[k] = true;
    }
  if (agree == 0 && lost > 0 && extra > 0 && e.elementwise())
    return Diagnosis{Cause::one_sided,
                     "one-sided: zero exactly where y depends on it, and dy elsewhere; the mask is inverted"};
  if (agree == 0 || extra == 0) return {};
  if (lost == 0)
    return Diagnosis{
        Cause::missing_factor,
        "missing factor: right where y depends on it, but dy comes through where y does not; multiply by "
        "the forward's mask"};
  // Where dy has a slope and another one besides, it is no mask that is wrong.
  for (int64_t k = 0; k < e.rows(); ++k)
    if (has_slope[k] && has_extra[k]) return {};
  return Diagnosis{
      Cause::one_sided,
      fmt::format("one-sided: right where it is not zero, but {} entries get nothing and {} get dy where y "
                  "does not depend on them: backward's mask is not the forward's",
                  lost, extra)};
}

// Some elements are right and others wrong, and a threshold on their value parts them.
Found one_sided(const Evidence& e) {
  std::vector<double> right, wrong;
  bool vanish = true;
  const std::vector<double> x = e.j.value.to_vector<double>();
  for (int64_t i = 0; i < e.columns(); ++i) {
    bool far = false;
    for (int64_t k = 0; k < e.rows(); ++k) {
      if (e.right_at(k, i)) continue;
      far = far || e.apart(e.tape(k, i), e.numeric(k, i));
      vanish = vanish && e.negligible(e.tape(k, i));
    }
    if (!far && !e.right_in_column(i)) return {};
    (far ? wrong : right).push_back(x[i]);
  }
  const size_t all = right.size() + wrong.size();
  if (right.size() < 2 || wrong.size() < 2) return {};
  for (const bool by_size : {false, true}) {
    if (by_size)
      for (std::vector<double>* side : {&right, &wrong})
        for (double& v : *side) v = std::abs(v);
    const auto [low_right, high_right] = std::minmax_element(right.begin(), right.end());
    const auto [low_wrong, high_wrong] = std::minmax_element(wrong.begin(), wrong.end());
    const std::string what = by_size ? "|" + e.j.name + "|" : e.j.name;
    const std::string how = vanish ? "zero" : "wrong";
    const std::string share = fmt::format("({} of {} elements)", wrong.size(), all);
    if ((*high_wrong < *low_right || *low_wrong > *high_right) && chance(wrong.size(), all, 4) < 0.01) {
      const bool below = *high_wrong < *low_right;
      return Diagnosis{
          Cause::one_sided,
          fmt::format("one-sided: right where {} {} {:.3g}, {} on the other side {}: look at that branch",
                      what, below ? ">=" : "<=", below ? *low_right : *high_right, how, share)};
    }
    const double low = *low_wrong, high = *high_wrong;
    if (std::none_of(right.begin(), right.end(), [&](double v) { return v > low && v < high; }) &&
        chance(wrong.size(), all, static_cast<double>(2 * (right.size() + 1))) < 0.01)
      return Diagnosis{Cause::one_sided,
                       fmt::format("one-sided: {} only where {} lies in [{:.3g}, {:.3g}] {}: is the "
                                   "backward's threshold the forward's?",
                                   how, what, low, high, share)};
  }
  return {};
}

}  // namespace isobar
