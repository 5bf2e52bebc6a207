#include <algorithm>
#include <set>

#include "rules.h"

namespace isobar {
namespace {

using Links = std::set<std::pair<int64_t, int64_t>>;

// Which indices of a dimension of y a matrix links with which of one of the input. `far`: by entries that are
// other than zero by far.
Links links_of(const Evidence& e, bool of_tape, bool far, const Axis& a, const Axis& b) {
  Links links;
  for (int64_t k = 0; k < e.rows(); ++k)
    for (int64_t i = 0; i < e.columns(); ++i) {
      const double v = of_tape ? e.tape(k, i) : e.numeric(k, i);
      if (!e.skipped(k, i) && (far ? e.apart(v, 0) : !e.negligible(v))) links.emplace(a.at(k), b.at(i));
    }
  return links;
}

// The links of the one that the other lacks.
Links without(const Links& a, const Links& b) {
  Links rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.begin()));
  return rest;
}

Links turned(const Links& links) {
  Links result;
  for (const auto& [k, i] : links) result.emplace(i, k);
  return result;
}

// Whether it is the distance of two indices that links them, as in a diagonal, a causal mask or a window; not the
// data, as where a slope is zero.
bool of_distances(const Links& links, int64_t extent) {
  std::set<int64_t> distances;
  for (const auto& [k, i] : links) distances.insert(i - k);
  int64_t count = 0;
  for (int64_t distance : distances) count += extent - std::abs(distance);
  return count == static_cast<int64_t>(links.size());
}

}  // namespace

Found cross_talk(const Evidence& e) {
  for (const Axis& a : axes_of(e.j.y.shape(), true))
    for (const Axis& b : axes_of(e.j.value.shape(), false)) {
      const Links forward = links_of(e, false, false, a, b), backward = links_of(e, true, true, a, b);
      const Links extra = without(backward, forward);
      if (a.extent != b.extent || extra.size() < 2 || !of_distances(forward, a.extent)) continue;
      const std::string what =
          fmt::format("backward links index {} of dy with index {} of {}, along dimensions {} and {}",
                      extra.begin()->first, extra.begin()->second, e.j.name, a.dim, b.dim);
      if (without(backward, turned(forward)).empty())
        return Diagnosis{Cause::transposed, fmt::format("transposed: {}, and forward the reverse", what)};
      return Diagnosis{
          Cause::cross_talk,
          fmt::format("cross-talk: {}, and forward does not; is a mask forgotten, or is it summed "
                      "along the wrong axis?",
                      what)};
    }
  return {};
}

Found sum_left_out(const Evidence& e) {
  for (const Axis& a : axes_of(e.j.y.shape(), true))
    for (const Axis& b : axes_of(e.j.value.shape(), false)) {
      if (a.extent != b.extent) continue;
      const Links forward = links_of(e, false, true, a, b), backward = links_of(e, true, false, a, b);
      const auto apart = [](const auto& link) { return link.first == link.second; };
      if (!backward.empty() && std::all_of(backward.begin(), backward.end(), apart) &&
          !std::all_of(forward.begin(), forward.end(), apart))
        return Diagnosis{
            Cause::missing_term,
            fmt::format(
                "missing term: along dimension {} of {} the forward mixes indices, and backward keeps "
                "each apart; a sum along it is left out",
                b.dim, e.j.name)};
    }
  return {};
}

}  // namespace isobar
