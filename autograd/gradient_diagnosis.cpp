#include "gradient_diagnosis.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "diagnosis/formula_rules.h"

namespace isobar {
namespace {

using Found = std::optional<Diagnosis>;

// Rules that need only the run itself.
Found broken(const Jacobian& j, const GradientMatrices&) {
  if (!j.error.empty()) {
    const bool turned = j.error.find("transposed?") != std::string::npos;
    return Diagnosis{turned ? Cause::transposed : Cause::wrong_shape, j.error};
  }
  if (!j.on_tape)
    return Diagnosis{
        Cause::detached,
        "detached: the forward never recorded a use of it; is it read through data(), to_vector() "
        "or detach(), or missing from record()'s inputs?"};
  if (!j.received)
    return Diagnosis{
        Cause::detached,
        "detached: it is on the tape, but backward returned no gradient for it (an undefined tensor)"};
  for (size_t e = 0; e < j.tape.size(); ++e)
    if (!std::isfinite(j.tape[e]) && std::isfinite(j.numeric[e]))
      return Diagnosis{Cause::not_finite,
                       "not finite: backward gives NaN or infinity where the slope is finite"};
  return {};
}

Found zero(const Jacobian&, const GradientMatrices& m) {
  if (!m.explained([](int64_t, int64_t) { return 0.0; })) return {};
  return Diagnosis{
      Cause::detached,
      "detached: backward gives zero everywhere; was the value detached, or the gradient never written?"};
}

Found upstream(const Jacobian& j, const GradientMatrices&) {
  if (j.ignores_dy)
    return Diagnosis{Cause::ignores_dy,
                     "dy is ignored: the same gradient comes for every dy; multiply by dy"};
  if (!j.linear)
    return Diagnosis{Cause::not_linear,
                     "not linear in dy: twice the dy gives another gradient than twice it"};
  return {};
}

// T = c J.
Found ratio(const Jacobian& j, const GradientMatrices& m) {
  const double c = m.common_ratio();
  if (c == 0 || !m.explained([&](int64_t k, int64_t i) { return c * m.numeric(k, i); })) return {};
  const auto is = [&](double wanted) { return std::abs(c - wanted) <= 1e-5 * std::abs(wanted); };
  if (is(1))
    return Diagnosis{
        Cause::unknown,
        "unknown cause: it agrees to five digits and no further; is something computed in f32, or only "
        "nearly the slope?"};
  if (is(-1)) return Diagnosis{Cause::sign, "sign: it is −1 times the right one everywhere"};
  if (Found found = number_left_out(j, c)) return found;
  const std::string flipped = c < 0 ? ", and the sign is wrong" : "";
  const double size = std::abs(c);
  const auto near = [&](double wanted) { return std::abs(size - wanted) <= 1e-5 * wanted; };
  std::string extents, roots;
  for (const auto& [name, n] : counts_of(j)) {
    if (near(n) || near(1 / n)) extents += (extents.empty() ? "" : ", ") + name;
    if (near(std::sqrt(n)) || near(1 / std::sqrt(n))) roots = fmt::format(" (the root of {})", name);
    if (near(n / (n - 1)) || near((n - 1) / n))
      roots = fmt::format(" (N and N − 1 for {}: Bessel's correction)", name);
  }
  // An extent of 2 explains nothing that a plain factor of 2 does not.
  const bool two = near(2) || near(0.5);
  if (!extents.empty() && !two)
    return Diagnosis{
        Cause::missing_mean,
        fmt::format(
            "{}: it is {} the right one, and that is {}{}", size > 1 ? "missing 1/N" : "1/N once too often",
            size > 1 ? fmt::format("{:.6g} times", c) : fmt::format("1/{:.6g} of", 1 / c), extents, flipped)};
  return Diagnosis{Cause::constant_factor,
                   fmt::format("off by a factor of {:.6g} everywhere{}{}{}", c,
                               !extents.empty() ? fmt::format(" (which is also {})", extents)
                               : two            ? ""
                                                : roots,
                               is(0.5) ? "; is one of two equal uses overwritten?" : "", flipped)};
}

// Dimensions of the input, or of y, swapped.
Found transposed(const Jacobian& j, const GradientMatrices& m) {
  for (const auto& [a, b] : pairs_of_dimensions(j.value.shape())) {
    const std::vector<int64_t> places = transposed_places(j.value.shape(), a, b);
    if (m.explained([&](int64_t k, int64_t i) { return m.numeric(k, places[i]); }))
      return Diagnosis{Cause::transposed,
                       fmt::format("transposed: right numbers with dimensions {} and {} of {} swapped", a, b,
                                   j.value.shape())};
  }
  if (j.rows == j.columns && m.explained([&](int64_t k, int64_t i) { return m.numeric(i, k); }))
    return Diagnosis{
        Cause::transposed,
        "transposed: backward multiplies by the matrix itself, not by its transpose (dx = dy W for "
        "y = x Wᵀ)"};
  for (const auto& [a, b] : pairs_of_dimensions(j.y.shape())) {
    const std::vector<int64_t> places = transposed_places(j.y.shape(), a, b);
    if (m.explained([&](int64_t k, int64_t i) { return m.numeric(places[k], i); }))
      return Diagnosis{
          Cause::wrong_axis,
          fmt::format("wrong axis: right for a dy with dimensions {} and {} swapped; is the sum over "
                      "the right axis?",
                      a, b)};
  }
  return {};
}

// Every contribution to an element is there or missing as a whole, and those that are there are the last, or
// the first.
Found erased(const Jacobian&, const GradientMatrices& m) {
  bool last = true, first = true, several = false;
  int64_t most = 0;
  for (int64_t i = 0; i < m.columns(); ++i) {
    std::vector<bool> kept;  // of the numbers of y that the element acts upon
    for (int64_t k = 0; k < m.rows(); ++k) {
      if (m.skipped(k, i) || m.negligible(m.numeric(k, i))) {
        if (!m.skipped(k, i) && !m.same(m.tape(k, i), 0)) return {};
        continue;
      }
      if (m.same(m.tape(k, i), m.numeric(k, i)))
        kept.push_back(true);
      else if (m.same(m.tape(k, i), 0))
        kept.push_back(false);
      else
        return {};
    }
    if (std::find(kept.begin(), kept.end(), true) == kept.end()) {
      if (!kept.empty()) return {};  // nothing kept: the rule `zero` covers it
      continue;
    }
    last = last && std::is_sorted(kept.begin(), kept.end());
    first = first && std::is_sorted(kept.rbegin(), kept.rend());
    several = several || !std::all_of(kept.begin(), kept.end(), [](bool k) { return k; });
    most = std::max<int64_t>(most, static_cast<int64_t>(kept.size()));
  }
  if (!several || last == first) return {};
  if (last)
    return Diagnosis{
        Cause::overwritten,
        fmt::format("overwritten instead of accumulated: an element used up to {} times gets only its "
                    "last contributions",
                    most)};
  return Diagnosis{Cause::not_summed,
                   fmt::format("broadcast not summed: an element used up to {} times gets only its first "
                               "contributions",
                               most)};
}

// Right numbers, moved along a dimension of the input or of y.
Found misplaced(const Jacobian& j, const GradientMatrices& m) {
  for (const bool of_input : {true, false}) {
    const Shape& shape = of_input ? j.value.shape() : j.y.shape();
    for (int d = 0; d < shape.ndim(); ++d)
      for (const Move& move : moves_along(shape, d)) {
        const auto moved = [&](int64_t k, int64_t i) {
          const int64_t from = move.places[of_input ? i : k];
          return from < 0 ? 0.0 : of_input ? m.numeric(k, from) : m.numeric(from, i);
        };
        if (m.explained(moved))
          return Diagnosis{Cause::misplaced,
                           fmt::format("misplaced: right numbers, {} along dimension {} of {}", move.name, d,
                                       of_input ? j.name : "dy")};
      }
  }
  return {};
}

// Some elements are right and others wrong, and a threshold on their value parts them.
Found one_sided(const Jacobian& j, const GradientMatrices& m) {
  std::vector<double> right, wrong;
  bool vanish = true;
  const std::vector<double> x = j.value.to_vector<double>();
  for (int64_t i = 0; i < m.columns(); ++i) {
    bool agrees = true;
    for (int64_t k = 0; k < m.rows(); ++k) {
      agrees = agrees && m.same(m.tape(k, i), m.numeric(k, i));
      vanish = vanish && (m.same(m.tape(k, i), m.numeric(k, i)) || m.same(m.tape(k, i), 0));
    }
    (agrees ? right : wrong).push_back(x[i]);
  }
  if (right.size() < 2 || wrong.size() < 2) return {};
  for (const bool by_size : {false, true}) {
    if (by_size)
      for (std::vector<double>* side : {&right, &wrong})
        for (double& v : *side) v = std::abs(v);
    const auto [low_right, high_right] = std::minmax_element(right.begin(), right.end());
    const auto [low_wrong, high_wrong] = std::minmax_element(wrong.begin(), wrong.end());
    const std::string what = by_size ? "|" + j.name + "|" : j.name;
    const std::string how = vanish ? "zero" : "wrong";
    const std::string share = fmt::format("({} of {} elements)", wrong.size(), right.size() + wrong.size());
    if (*high_wrong < *low_right || *low_wrong > *high_right) {
      const bool below = *high_wrong < *low_right;
      return Diagnosis{
          Cause::one_sided,
          fmt::format("one-sided: right where {} {} {:.3g}, {} on the other side {}: look at that branch",
                      what, below ? ">=" : "<=", below ? *low_right : *high_right, how, share)};
    }
    const double low = *low_wrong, high = *high_wrong;
    if (std::none_of(right.begin(), right.end(), [&](double v) { return v > low && v < high; }))
      return Diagnosis{Cause::one_sided,
                       fmt::format("one-sided: {} only where {} lies in [{:.3g}, {:.3g}] {}: is the "
                                   "backward's threshold the forward's?",
                                   how, what, low, high, share)};
  }
  return {};
}

Found unknown(const Jacobian& j, const GradientMatrices& m) {
  double product = 0, tape = 0, numeric = 0;
  for (int64_t k = 0; k < m.rows(); ++k)
    for (int64_t i = 0; i < m.columns(); ++i) {
      if (m.skipped(k, i)) continue;
      product += m.tape(k, i) * m.numeric(k, i);
      tape += m.tape(k, i) * m.tape(k, i);
      numeric += m.numeric(k, i) * m.numeric(k, i);
    }
  const double cosine = tape > 0 && numeric > 0 ? product / std::sqrt(tape * numeric) : 0;
  return Diagnosis{
      Cause::unknown,
      fmt::format(
          "unknown cause: the angle between the tape's derivatives and the right ones has cosine {:.3f}, the "
          "ratio of norms is {:.3g}{}",
          cosine, numeric > 0 ? std::sqrt(tape / numeric) : 0,
          j.sampled ? "; give a smaller example input to look at single elements" : "")};
}

}  // namespace

std::string_view name_of(Cause cause) {
  static const std::map<Cause, std::string_view> names = {{Cause::none, "none"},
                                                          {Cause::unknown, "unknown"},
                                                          {Cause::wrong_shape, "wrong shape"},
                                                          {Cause::detached, "detached"},
                                                          {Cause::not_finite, "not finite"},
                                                          {Cause::ignores_dy, "dy ignored"},
                                                          {Cause::not_linear, "not linear in dy"},
                                                          {Cause::sign, "sign"},
                                                          {Cause::constant_factor, "constant factor"},
                                                          {Cause::missing_mean, "1/N"},
                                                          {Cause::transposed, "transposed"},
                                                          {Cause::wrong_axis, "wrong axis"},
                                                          {Cause::overwritten, "overwritten"},
                                                          {Cause::not_summed, "not summed"},
                                                          {Cause::missing_term, "missing term"},
                                                          {Cause::missing_factor, "missing factor"},
                                                          {Cause::misplaced, "misplaced"},
                                                          {Cause::one_sided, "one-sided"}};
  return names.at(cause);
}

Diagnosis diagnose(const Jacobian& jacobian, double tolerance) {
  if (jacobian.right(tolerance)) return {Cause::none, jacobian.name + ": the gradient is right"};
  const GradientMatrices matrices(jacobian);
  // From the plainest explanation to the least: the first that holds for every entry is taken.
  std::vector<Found (*)(const Jacobian&, const GradientMatrices&)> rules = {broken, upstream, zero, ratio};
  if (!jacobian.sampled)
    rules.insert(rules.end(), {transposed, erased, slope_left_out, term_left_out, mask_left_out,
                               factor_left_out, misplaced, one_sided});
  rules.push_back(unknown);
  for (const auto rule : rules)
    if (const Found found = rule(jacobian, matrices))
      return {found->cause, fmt::format("{}: {}", jacobian.name, found->text)};
  return {};
}

}  // namespace isobar
