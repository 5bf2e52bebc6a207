#include <algorithm>
#include <cmath>

#include "rules.h"

namespace isobar {
namespace {

// What a mean may run over: single extents of y and of the inputs, then products of y's, each number once.
std::vector<std::pair<std::string, double>> counts_of(const Jacobian& j) {
  std::vector<std::pair<std::string, double>> counts;
  const auto add = [&](const std::string& name, const Shape& shape, const std::vector<int>& dims) {
    double count = 1;
    for (int d : dims) count *= static_cast<double>(shape[d]);
    const bool known =
        std::any_of(counts.begin(), counts.end(), [&](const auto& c) { return c.second == count; });
    if (known || count < 3) return;  // 2 explains nothing that a plain factor of 2 does not
    const std::string text =
        dims.size() == 1 ? fmt::format("dimension {}", dims[0]) : fmt::format("{} dimensions", dims.size());
    counts.emplace_back(fmt::format("the extent of {} of {} {}", text, name, shape), count);
  };
  std::vector<NamedInput> tensors = j.inputs;
  tensors.insert(tensors.begin(), {"y", j.y});
  for (const bool single : {true, false})
    for (const NamedInput& one : tensors)
      for (const std::vector<int>& dims : sets_of_dimensions(one.value.ndim()))
        if ((dims.size() == 1) == single) add(one.name, one.value.shape(), dims);
  return counts;
}

}  // namespace

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
    return Diagnosis{
        Cause::detached,
        "detached: the forward never recorded a use of it; is it read through data(), to_vector(), "
        "detach() or contiguous(), or missing from record()'s inputs?"};
  if (!j.received)
    return Diagnosis{
        Cause::detached,
        "detached: it is on the tape, but backward returned no gradient for it (an undefined tensor)"};
  if (e.everywhere([&](int64_t k, int64_t i) { return std::isfinite(e.tape(k, i)); })) return {};
  return Diagnosis{Cause::not_finite, "not finite: backward gives NaN or infinity where the slope is finite"};
}

Found upstream(const Evidence& e) {
  if (e.j.ignores_dy)
    return Diagnosis{Cause::ignores_dy,
                     "dy is ignored: the same gradient comes for every dy; multiply by dy"};
  if (!e.j.linear)
    return Diagnosis{Cause::not_linear,
                     "not linear in dy: twice the dy gives another gradient than twice it"};
  if (!e.j.additive)
    return Diagnosis{
        Cause::not_linear,
        "not linear in dy: the gradient of a sum of two dy is not the sum of theirs; is one of several "
        "contributions chosen, where all count?"};
  return {};
}

Found zero(const Evidence& e) {
  if (!e.explained([](int64_t, int64_t) { return 0.0; })) return {};
  const double size = largest_of(e.j.tape);
  if (size > 0 && size < 1e-200)  // the bits of an address, read as a number
    return Diagnosis{
        Cause::wrong_factor,
        fmt::format("wrong factor: backward multiplies dy by numbers of {:.0e}; does it capture by reference "
                    "([&]) a variable that has ended?",
                    size)};
  return Diagnosis{
      Cause::detached,
      "detached: backward gives zero everywhere; was the value detached, or the gradient never written?"};
}

Found nearly_right(const Evidence& e) {
  if (!e.everywhere([&](int64_t k, int64_t i) { return !e.apart(e.tape(k, i), e.numeric(k, i)); })) return {};
  if (e.j.rounding == Rounding::partly)
    return Diagnosis{
        Cause::nearly_right,
        fmt::format(
            "nearly right: forward rounds a part of what it computes to f32, and y jumps by {:.0e}; keep "
            "the dtype of x, or compute all of it in f32",
            e.j.rounded)};
  return Diagnosis{
      Cause::nearly_right,
      fmt::format("nearly right: it agrees to {} digits; is eps left out or in another place, a constant "
                  "rounded, or something computed in f32?",
                  std::max(2, static_cast<int>(-std::log10(std::max(e.j.max_relative_error, 1e-15)))))};
}

Found constant(const Evidence& e) {
  const double c = e.common_ratio();
  if (c == 0 || !e.explained([&](int64_t k, int64_t i) { return c * e.numeric(k, i); })) return {};
  if (std::abs(c + 1) <= e.precision())
    return Diagnosis{Cause::sign, "sign: it is −1 times the right one everywhere"};
  const std::string flipped = c < 0 ? ", and the sign is wrong" : "";
  const double size = std::abs(c);
  const auto near = [&](double wanted) { return std::abs(size - wanted) <= e.precision() * wanted; };
  std::string root;
  for (const auto& [name, n] : counts_of(e.j)) {
    if (near(n) || near(1 / n))
      return Diagnosis{
          Cause::missing_mean,
          fmt::format(
              "{}: it is {} the right one, and that is {}{}", size > 1 ? "missing 1/N" : "1/N once too often",
              size > 1 ? fmt::format("{:.6g} times", c) : fmt::format("1/{:.6g} of", 1 / c), name, flipped)};
    if (near(std::sqrt(n)) || near(1 / std::sqrt(n))) root = fmt::format(" (the root of {})", name);
    // A statistic mixes elements: what acts on each element alone, such as dropout, holds no variance.
    if (!e.elementwise() && (near(n / (n - 1)) || near((n - 1) / n)))
      root = fmt::format(" (N and N − 1 for {}: Bessel's correction)", name);
  }
  if (near(2) || near(0.5)) root = "";  // √4 is nothing that a plain 2 is not
  return Diagnosis{Cause::constant_factor,
                   fmt::format("off by a factor of {:.6g} everywhere{}{}", c, root, flipped)};
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
  return Diagnosis{Cause::sign, fmt::format("sign: right but for the sign of {} of {} entries; is a − added "
                                            "that the formula subtracts?",
                                            wrong, wrong + right)};
}

Found swapped_inputs(const Evidence& e) {
  const auto has_jacobian = [](const Evidence& a, const Jacobian& b) {
    return a.columns() == b.columns && a.rows() == b.rows && a.j.sampled == b.sampled &&
           a.explained([&](int64_t k, int64_t i) { return b.numeric[k * b.columns + i]; });
  };
  const double c = e.common_ratio();
  // A multiple of the right gradient is not another's: see `constant`.
  if (e.explained([&](int64_t k, int64_t i) { return c * e.numeric(k, i); })) return {};
  for (const Jacobian& other : e.context.all) {
    if (other.name == e.j.name || !has_jacobian(e, other)) continue;
    if (has_jacobian(Evidence(other, e.context), e.j))
      return Diagnosis{
          Cause::swapped_inputs,
          fmt::format("swapped inputs: it gets the gradient of {}, and {} its gradient; compare the order of "
                      "record()'s inputs with that of the gradients backward returns",
                      other.name, other.name)};
    return Diagnosis{
        Cause::wrong_factor,
        fmt::format("wrong factor: it gets the gradient of {}; is dy multiplied by its own branch, "
                    "not by the other?",
                    other.name)};
  }
  return {};
}

Found unknown(const Evidence& e) {
  const Jacobian& j = e.j;
  if (j.sampled)
    return Diagnosis{Cause::unknown,
                     "unknown cause; give a smaller example input to look at single elements"};
  int64_t wrong = 0, worst_k = 0, worst_i = 0;
  double worst = -1, error = 0, size = 0;
  const double c = e.common_ratio();
  for (int64_t i = 0; i < e.columns(); ++i) {
    wrong += e.right_in_column(i) ? 0 : 1;
    for (int64_t k = 0; k < e.rows(); ++k) {
      if (e.skipped(k, i)) continue;
      const double apart = std::abs(e.tape(k, i) - e.numeric(k, i)), far = e.tape(k, i) - c * e.numeric(k, i);
      error += far * far;
      size += e.tape(k, i) * e.tape(k, i);
      if (apart > worst) worst = apart, worst_k = k, worst_i = i;
    }
  }
  return Diagnosis{
      Cause::unknown,
      fmt::format("unknown cause: {} of {} elements are wrong; dy{} reaches {}{} times {:.4g}, and "
                  "should times {:.4g}; {:.3g} times the right one is nearest, {:.0f} % of it away",
                  wrong, e.columns(), index_text(j.y.shape(), worst_k), j.name,
                  index_text(j.value.shape(), worst_i), e.tape(worst_k, worst_i), e.numeric(worst_k, worst_i),
                  c, 100 * std::sqrt(error / size))};
}

}  // namespace isobar
