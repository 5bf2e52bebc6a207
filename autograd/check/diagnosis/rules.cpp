#include <algorithm>
#include <cmath>

#include "rules.h"

namespace isobar {

Found broken(const Evidence& e) {
  const Jacobian& j = e.j;
  if (j.error.empty() && !j.compared && j.kinks.empty())
    return Diagnosis{
        Cause::unknown,
        fmt::format("not compared: forward rounds to f32, and y jumps by {:.0e}, more than a difference "
                    "shows; does it subtract large numbers from one another?",
                    j.rounded)};
  if (j.error.empty() && !j.compared)
    return Diagnosis{
        Cause::unknown,
        fmt::format("not compared: each of its {} elements is near a kink, as {} (slope {:.3g} on the left, "
                    "{:.3g} on the right); give an example that is farther from them",
                    j.columns, j.kinks[0].index, j.kinks[0].left, j.kinks[0].right)};
  if (!j.error.empty()) {
    const bool turned = j.error.find("transposed?") != std::string::npos;
    return Diagnosis{turned ? Cause::transposed : Cause::wrong_shape, j.error};
  }
  if (!j.on_tape)
    return told(Cause::detached,
                "the forward never recorded a use of it; is it read through data(), to_vector(), "
                "detach() or contiguous(), or missing from record()'s inputs?");
  if (!j.received)
    return told(Cause::detached,
                "it is on the tape, but backward returned no gradient for it (an undefined tensor)");
  if (e.everywhere([&](int64_t k, int64_t i) { return std::isfinite(e.tape(k, i)); })) return {};
  return told(Cause::not_finite, "backward gives NaN or infinity where the slope is finite");
}

Found upstream(const Evidence& e) {
  if (e.j.ignores_dy)
    return Diagnosis{Cause::ignores_dy,
                     "dy is ignored: the same gradient comes for every dy; multiply by dy"};
  if (!e.j.linear) return told(Cause::not_linear, "twice the dy gives another gradient than twice it");
  if (!e.j.additive)
    return told(Cause::not_linear,
                "the gradient of a sum of two dy is not the sum of theirs; is one of several "
                "contributions chosen, where all count?");
  return {};
}

Found zero(const Evidence& e) {
  if (e.j.tape.empty() || !e.everywhere([&](int64_t k, int64_t i) { return e.negligible(e.tape(k, i)); }))
    return {};
  const double size = largest_of(e.j.tape);
  if (size > 0 && size < 1e-200)  // the bits of an address, read as a number
    return told(Cause::wrong_factor,
                "backward multiplies dy by numbers of {:.0e}; does it capture by reference "
                "([&]) a variable that has ended?",
                size);
  return told(Cause::detached,
              "backward gives zero everywhere; was the value detached, or the gradient never written?");
}

Found nearly_right(const Evidence& e) {
  if (!e.everywhere([&](int64_t k, int64_t i) { return !e.apart(e.tape(k, i), e.numeric(k, i)); })) return {};
  if (e.j.rounding == Rounding::partly)
    return told(Cause::nearly_right,
                "forward rounds a part of what it computes to f32, and y jumps by {:.0e}; keep "
                "the dtype of x, or compute all of it in f32",
                e.j.rounded);
  return told(Cause::nearly_right,
              "it agrees to {} digits; is eps left out or in another place, a constant "
              "rounded, or something computed in f32?",
              std::max(2, static_cast<int>(-std::log10(std::max(e.j.max_relative_error, 1e-15)))));
}

Found signs(const Evidence& e) {
  int64_t wrong = 0, right = 0;
  bool positive = true;
  const bool holds = e.everywhere([&](int64_t k, int64_t i) {
    (e.right_at(k, i) ? right : wrong) += !e.negligible(e.numeric(k, i));
    positive = positive && e.tape(k, i) >= 0;
    return e.same(std::abs(e.tape(k, i)), std::abs(e.numeric(k, i)));
  });
  if (!holds || wrong < 3 || positive) return {};  // |v| has its name: see wrong_factor
  return told(Cause::sign,
              "right but for the sign of {} of {} entries; is a − added "
              "that the formula subtracts?",
              wrong, wrong + right);
}

// y does not change when all elements along one dimension get the same constant, so dx must sum to 0 along
// it.
Found sum_lost(const Evidence& e) {
  for (const Axis& axis : axes_of(e.j.value.shape(), false)) {
    const bool last = axis.dim == e.j.value.ndim() - 1;
    bool forward = true, backward = true;
    for (int64_t k = 0; k < e.rows(); ++k)
      for (const std::vector<int64_t>& group : groups_along(e.j.value.shape(), {axis.dim})) {
        double numeric = 0, tape = 0, size = 0;
        for (int64_t i : group) {
          numeric += e.numeric(k, i);
          tape += e.tape(k, i);
          size = std::max(size, std::abs(e.numeric(k, i)));
        }
        forward = forward && std::abs(numeric) <= 1e-7 * std::max(size, 1e-2);
        backward = backward && !e.apart(tape, 0);
      }
    if (!forward || backward) continue;
    return told(
        last ? Cause::missing_term : Cause::attention,
        "y stays the same when all of {} along dimension {} get the same constant, so its gradient must "
        "sum to 0 along it, and does not: {}",
        e.j.name, axis.dim,
        last ? "the sum over y · dy, or the mean's part, is missing"
             : "softmax's backward needs its sum, p · (dp − Σ p dp)");
  }
  return {};
}

Found unknown(const Evidence& e) {
  const Jacobian& j = e.j;
  if (j.sampled)
    return Diagnosis{Cause::unknown,
                     "unknown cause; give a smaller example input to look at single elements"};
  int64_t wrong = 0;
  for (int64_t i = 0; i < e.columns(); ++i) wrong += e.right_in_column(i) ? 0 : 1;
  Values slopes, given;
  double worst = -1, error = 0;
  Entry at{0, 0};
  for (const auto& [k, i] : e.entries()) {
    slopes.push_back(e.numeric(k, i)), given.push_back(e.tape(k, i));
    const double apart = std::abs(given.back() - slopes.back());
    if (apart > worst) worst = apart, at = {k, i};
  }
  const double c = least_squares({slopes}, given).times[0];
  for (size_t n = 0; n < given.size(); ++n) error += std::pow(given[n] - c * slopes[n], 2);
  return Diagnosis{
      Cause::unknown,
      fmt::format("unknown cause: {} of {} elements are wrong; dy{} reaches {}{} times {:.4g}, and "
                  "should times {:.4g}; {:.3g} times the right one is nearest, {:.0f} % of it away",
                  wrong, e.columns(), index_text(j.y.shape(), at.k), j.name,
                  index_text(j.value.shape(), at.i), e.tape(at.k, at.i), e.numeric(at.k, at.i), c,
                  100 * std::sqrt(error) / euclidean_norm(given))};
}

}  // namespace isobar
