#include <algorithm>
#include <cmath>
#include <set>

#include "rules.h"

namespace isobar {
namespace {

// What became of the entries: right and not zero, zero in T alone, zero in J alone, or wrong in another way.
struct Fates {
  Entries kept, lost, extra, other;
};

Fates fates_of(const Evidence& e) {
  Fates fates;
  for (const auto& [k, i] : e.entries()) {
    const bool forward = !e.negligible(e.numeric(k, i)), backward = !e.negligible(e.tape(k, i));
    if (!forward && !backward) continue;
    Entries& fate = !backward          ? fates.lost
                    : !forward         ? fates.extra
                    : e.right_at(k, i) ? fates.kept
                                       : fates.other;
    fate.push_back({k, i});
  }
  return fates;
}

// The least and the largest of what `at` says of the entries.
template <class At>
std::pair<int64_t, int64_t> range_of(const Entries& entries, const At& at) {
  std::pair<int64_t, int64_t> range{INT64_MAX, INT64_MIN};
  for (const Entry& one : entries) range = {std::min(range.first, at(one)), std::max(range.second, at(one))};
  return range;
}

// The chance that wrong elements drawn at random stand together: `ways` of them do, of all that could.
double chance(size_t wrong, size_t all, double ways) {
  for (size_t n = 0; n < wrong; ++n) ways *= static_cast<double>(wrong - n) / static_cast<double>(all - n);
  return ways;
}

}  // namespace

// Of the uses of each element that lost some, one index of y is left: the last, or the first.
Found contributions_lost(const Evidence& e) {
  const Fates fates = fates_of(e);
  if (!fates.other.empty() || !fates.extra.empty() || fates.lost.size() < 2) return {};
  if (Found sum = sum_left_out(e)) return sum;
  std::vector<Axis> axes = axes_of(e.j.y.shape(), true);
  axes.push_back({true, -1, e.rows(), 1});
  for (const Axis& axis : axes) {
    bool is_last = true, is_first = true;
    for (int64_t i = 0; i < e.columns(); ++i) {
      const auto range = [&](const Entries& all) {
        Entries of_column;
        for (const Entry& one : all)
          if (one.i == i) of_column.push_back(one);
        return range_of(of_column, [&](const Entry& one) { return axis.at(one.k); });
      };
      const auto kept = range(fates.kept), lost = range(fates.lost);
      if (lost.first > lost.second) continue;
      is_last = is_last && kept.first == kept.second && lost.second < kept.first;
      is_first = is_first && kept.first == kept.second && lost.first > kept.first;
    }
    if (is_last == is_first) continue;
    return Diagnosis{
        is_last ? Cause::overwritten : Cause::not_summed,
        fmt::format("{}{}",
                    is_last ? "overwritten instead of accumulated: only the last contributions come"
                            : "broadcast not summed: only the first contributions come",
                    axis.dim < 0 ? "" : fmt::format(", along dimension {} of dy", axis.dim))};
  }
  return {};
}

Found indices_lost(const Evidence& e) {
  const Fates fates = fates_of(e);
  if (!fates.other.empty() || !fates.extra.empty() || fates.kept.empty() || fates.lost.size() < 2) return {};
  std::vector<Axis> axes = axes_of(e.j.y.shape(), true);
  for (const Axis& axis : axes_of(e.j.value.shape(), false)) axes.push_back(axis);
  axes.push_back({false, -1, e.columns(), 1});
  for (const Axis& axis : axes) {
    const auto at = [&](const Entry& one) { return axis.at(one.k, one.i); };
    const auto there = range_of(fates.kept, at), gone = range_of(fates.lost, at);
    const bool start = gone.second < there.first;
    if (!start && there.second >= gone.first) continue;
    if (chance(fates.lost.size(), fates.lost.size() + fates.kept.size(), 8) > 0.02) continue;
    return told(Cause::cross_talk, "{} with index {} {} {} {}; does backward leave out the {}?",
                axis.of_y ? "dy" : e.j.name, start ? "<" : ">=", start ? there.first : gone.first,
                axis.dim < 0 ? "in row-major order" : fmt::format("along dimension {}", axis.dim),
                axis.of_y ? "is not used" : "gets nothing", start ? "start" : "tail");
  }
  return {};
}

// Each row of T (or each column) holds numbers of J's row, most of them, in other places.
Found misplaced(const Evidence& e) {
  for (const bool in_rows : {true, false}) {
    int64_t right = 0, wanted = 0, strange = 0, moved = 0;
    std::string example;
    for (const auto& [k, i] : e.entries()) {
      const bool there = !e.negligible(e.tape(k, i));
      if (e.right_at(k, i)) {
        right += there;
        continue;
      }
      wanted += !e.negligible(e.numeric(k, i));
      if (!there) continue;
      Entry from = in_rows ? Entry{k, 0} : Entry{0, i};  // a number of J that is not there
      int64_t& place = in_rows ? from.i : from.k;
      const int64_t length = in_rows ? e.columns() : e.rows();
      while (place < length &&
             (e.right_at(from.k, from.i) || !e.same(e.tape(k, i), e.numeric(from.k, from.i))))
        ++place;
      ++(place < length ? moved : strange);
      if (place < length && example.empty())
        example =
            fmt::format("dy{} to {}{} stands where that of dy{} to {}{} should",
                        index_text(e.j.y.shape(), from.k), e.j.name, index_text(e.j.value.shape(), from.i),
                        index_text(e.j.y.shape(), k), e.j.name, index_text(e.j.value.shape(), i));
    }
    const int64_t missing = std::max(strange, wanted - moved);
    if (moved < (missing == 0 ? 2 : 4) || 3 * missing > right + moved) continue;
    return told(Cause::misplaced,
                "right numbers in other places: what belongs to {}; "
                "is it shifted, reversed, or reshaped without a transpose?",
                example);
  }
  return {};
}

Found masked(const Evidence& e) {
  const auto [kept, lost, extra, other] = fates_of(e);
  if (!other.empty() || extra.empty()) return {};
  std::set<int64_t> rows, kept_rows;  // that have a slope
  for (const Entries* all : {&kept, &lost})
    for (const Entry& at : *all) rows.insert(at.k);
  for (const Entry& at : kept) kept_rows.insert(at.k);
  if (kept.empty() && !lost.empty() && e.elementwise())
    return told(Cause::one_sided,
                "zero exactly where y depends on it, and dy elsewhere; the mask is inverted");
  if (kept.empty()) return {};
  if (lost.empty())
    return told(Cause::missing_factor,
                "right where y depends on it, but dy comes through where y does not; multiply by "
                "the forward's mask");
  const auto in_part = [&](const Entry& at) { return kept_rows.count(at.k) > 0; };
  const auto beside = [&](const Entry& at) { return rows.count(at.k) > 0; };
  if (std::any_of(lost.begin(), lost.end(), in_part) || std::any_of(extra.begin(), extra.end(), beside))
    return {};
  return told(Cause::one_sided,
              "right where it is not zero, but {} entries get nothing and {} get dy where y "
              "does not depend on them: backward's mask is not the forward's",
              lost.size(), extra.size());
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
    const auto [low, high] = std::minmax_element(wrong.begin(), wrong.end());
    const auto count = [&](const auto& where) { return std::count_if(right.begin(), right.end(), where); };
    const auto below = count([&, least = *low](double v) { return v < least; }),
               above = count([&, most = *high](double v) { return v > most; });
    if (static_cast<size_t>(below + above) < right.size() ||
        chance(wrong.size(), all, below == 0 || above == 0 ? 4.0 : 2.0 * (right.size() + 1)) > 5e-3)
      continue;
    return told(Cause::one_sided,
                "{} only where {} {} ({} of {} elements): look at that branch; is the "
                "backward's threshold the forward's?",
                vanish ? "zero" : "wrong", by_size ? "|" + e.j.name + "|" : e.j.name,
                below == 0   ? fmt::format("<= {:.3g}", *high)
                : above == 0 ? fmt::format(">= {:.3g}", *low)
                             : fmt::format("lies in [{:.3g}, {:.3g}]", *low, *high),
                wrong.size(), all);
  }
  return {};
}

namespace {

using Links = std::set<std::pair<int64_t, int64_t>>;

// Which indices of a dimension of y a matrix links with which of one of the input: by its entries that are
// so.
template <class Linked>
Links links_of(const Evidence& e, const Axis& a, const Axis& b, const Linked& linked) {
  Links links;
  for (const auto& [k, i] : e.entries())
    if (linked(k, i)) links.emplace(a.at(k), b.at(i));
  return links;
}

// Whether it is the distance of two indices that links them, as in a diagonal, a causal mask or a window, or
// their group; not the data, as where a slope is zero.
bool of_structure(const Links& links, int64_t extent) {
  std::set<int64_t> distances;
  for (const auto& [k, i] : links) distances.insert(i - k);
  const auto size = static_cast<int64_t>(links.size()), group = size / extent;
  int64_t count = 0;
  for (int64_t distance : distances) count += extent - std::abs(distance);
  return count == size || (extent * group == size && extent % group == 0 &&
                           std::all_of(links.begin(), links.end(), [&](const auto& link) {
                             return link.first / group == link.second / group;
                           }));
}

}  // namespace

Found cross_talk(const Evidence& e) {
  for (const auto& [a, b] : equal_axes(e.j)) {
    const Links forward =
        links_of(e, a, b, [&](int64_t k, int64_t i) { return !e.negligible(e.numeric(k, i)); });
    Links extra = links_of(e, a, b, [&](int64_t k, int64_t i) { return e.apart(e.tape(k, i), 0); });
    bool reverse = true;
    for (const auto& [k, i] : Links(extra)) {
      reverse = reverse && forward.count({i, k}) > 0;
      if (forward.count({k, i}) > 0) extra.erase({k, i});
    }
    if (extra.size() < 2 || !of_structure(forward, a.extent)) continue;
    const std::string what =
        fmt::format("backward links index {} of dy with index {} of {}, along dimensions {} and {}",
                    extra.begin()->first, extra.begin()->second, e.j.name, a.dim, b.dim);
    if (reverse) return told(Cause::transposed, "{}, and forward the reverse", what);
    return told(Cause::cross_talk,
                "{}, and forward does not; is a mask forgotten, or is it summed "
                "along the wrong axis?",
                what);
  }
  return {};
}

Found sum_left_out(const Evidence& e) {
  for (const auto& [a, b] : equal_axes(e.j)) {
    const auto meets = [first = a, second = b](int64_t k, int64_t i) { return first.at(k) == second.at(i); };
    if (e.everywhere([&](int64_t k, int64_t i) { return meets(k, i) || e.negligible(e.tape(k, i)); }) &&
        !e.everywhere([&](int64_t k, int64_t i) { return meets(k, i) || !e.apart(e.numeric(k, i), 0); }))
      return told(Cause::missing_term,
                  "along dimension {} of {} the forward mixes indices, and "
                  "backward keeps each apart; a sum along it is left out",
                  b.dim, e.j.name);
  }
  return {};
}

// What y does not depend on at all gets a gradient.
Found mask_forgotten(const Evidence& e) {
  std::vector<int64_t> wrong;
  for (int64_t i = 0; i < e.columns(); ++i) {
    bool unused = true, gets = false;
    for (int64_t k = 0; k < e.rows(); ++k) {
      unused = unused && e.negligible(e.numeric(k, i));
      gets = gets || e.apart(e.tape(k, i), 0);
    }
    if (unused && gets) wrong.push_back(i);
  }
  if (wrong.size() < 2) return {};
  return told(Cause::cross_talk,
              "y does not depend on {} elements of {}, as {}, and they get a "
              "gradient; does backward forget a mask?",
              wrong.size(), e.j.name, index_text(e.j.value.shape(), wrong[0]));
}

}  // namespace isobar
