#include "formula_rules.h"

#include <cmath>
#include <functional>
#include <limits>

#include "../../core/raw.h"

namespace isobar {
namespace {

using Found = std::optional<Diagnosis>;
using Values = std::vector<double>;

// The elements of a tensor repeated to a shape; nothing where it does not broadcast to it.
Values repeated(const Tensor& x, const Shape& shape) {
  const int extra = shape.ndim() - x.ndim();
  if (extra < 0) return {};
  for (int d = 0; d < x.ndim(); ++d)
    if (x.size(d) != shape[d + extra] && x.size(d) != 1) return {};
  return raw::as_strided(x, shape, broadcast_strides(x.shape(), x.strides(), shape)).to_vector<double>();
}

// The elements of a shape, in groups that run over these dimensions.
std::vector<std::vector<int64_t>> groups_along(const Shape& shape, const std::vector<int>& dims) {
  Shape kept = shape;
  for (int d : dims) kept = kept.with(d, 1);
  const Strides to = broadcast_strides(kept, kept.strides(), shape);
  std::vector<std::vector<int64_t>> groups(kept.numel());
  for (int64_t i = 0; i < shape.numel(); ++i) {
    int64_t rest = i, group = 0;
    for (int d = shape.ndim() - 1; d >= 0; --d) {
      group += rest % shape[d] * to[d];
      rest /= shape[d];
    }
    groups[group].push_back(i);
  }
  return groups;
}

// A direction along which T − J may lie.
struct Direction {
  Values of_element;
  bool centred;  // less its mean in each group
  bool and_ones;
  const char* text;
};

std::vector<Direction> directions_of(const Jacobian& j) {
  const Values x = j.value.to_vector<double>();
  std::vector<Direction> all = {
      {Values(x.size(), 1.0), false, false, "lies along ones: the mean's part is missing or wrong"},
      {x, true, false, "lies along the centred input: the variance's part is missing or wrong"},
      {x, false, false, "lies along the input: the mean square's (the norm's) part is missing or wrong"},
      {x, false, true,
       "lies along ones and the input: the mean's and the variance's parts are missing or wrong "
       "(statistics taken as constants)"}};
  if (j.y.shape() == j.value.shape()) {
    Values y = j.y.to_vector<double>();
    all.push_back({y, false, false, "lies along y: the sum over y · dy (softmax) is missing or wrong"});
    for (double& v : y) v = std::exp(v);
    all.push_back({y, false, false, "lies along exp(y): the sum over dy (log-softmax) is missing or wrong"});
  }
  return all;
}

// Whether E's row k, seen in one group, is a multiple of the direction (and of ones), by least squares.
bool lies_along(const GradientMatrices& m, int64_t k, const std::vector<int64_t>& group,
                const Direction& direction, bool& present) {
  const auto count = static_cast<double>(group.size());
  Values e, d;
  double e_mean = 0, d_mean = 0;
  for (int64_t i : group) {
    if (m.skipped(k, i)) return false;
    present = present || !m.same(m.tape(k, i), m.numeric(k, i));
    e.push_back(m.tape(k, i) - m.numeric(k, i));
    d.push_back(direction.of_element[i]);
    e_mean += e.back() / count;
    d_mean += d.back() / count;
  }
  const bool centre = direction.centred || direction.and_ones;
  double product = 0, squares = 0;
  for (size_t n = 0; n < e.size(); ++n) {
    if (centre) d[n] -= d_mean;
    product += (e[n] - (direction.and_ones ? e_mean : 0)) * d[n];
    squares += d[n] * d[n];
  }
  const double slope = squares > 0 ? product / squares : 0;
  for (size_t n = 0; n < e.size(); ++n) {
    const double along = slope * d[n] + (direction.and_ones ? e_mean : 0);
    const double numeric = m.numeric(k, group[n]);
    if (!m.same(numeric + e[n], numeric + along)) return false;
  }
  return true;
}

Found along_a_direction(const Jacobian& j, const GradientMatrices& m) {
  for (const Direction& direction : directions_of(j))
    for (const std::vector<int>& dims : sets_of_dimensions(j.value.ndim())) {
      const auto groups = groups_along(j.value.shape(), dims);
      // Any two numbers lie along any direction.
      if (groups.empty() || groups[0].size() < (direction.and_ones ? 4 : 3)) continue;
      bool present = false, holds = true;
      for (int64_t k = 0; holds && k < m.rows(); ++k)
        for (size_t g = 0; holds && g < groups.size(); ++g)
          holds = lies_along(m, k, groups[g], direction, present);
      if (holds && present)
        return Diagnosis{Cause::missing_term, fmt::format("missing term: what is wrong {}", direction.text)};
    }
  return {};
}

bool diagonal(const GradientMatrices& m) {
  for (int64_t k = 0; k < m.rows(); ++k)
    for (int64_t i = 0; i < m.columns(); ++i)
      if (k != i && !(m.negligible(m.tape(k, i)) && (m.skipped(k, i) || m.negligible(m.numeric(k, i)))))
        return false;
  return true;
}

// y = x f(x), one of the two terms of (x f)' = f + x f' left out.
Found product_rule(const Jacobian& j, const GradientMatrices& m) {
  if (j.rows != j.columns || !diagonal(m)) return {};
  const Values x = j.value.to_vector<double>(), y = j.y.to_vector<double>();
  const auto factor = [&](int64_t i) { return y[i] / x[i]; };
  if (m.explained([&](int64_t k, int64_t i) { return k == i ? factor(i) : 0.0; }))
    return Diagnosis{
        Cause::missing_term,
        "missing term: only y/x · dy came; the other term of the product rule, x · (y/x)' · dy, is left out"};
  if (m.explained([&](int64_t k, int64_t i) { return k == i ? m.numeric(k, i) - factor(i) : 0.0; }))
    return Diagnosis{Cause::missing_term,
                     "missing term: y/x · dy, one term of the product rule, is left out"};
  return {};
}

// A factor that a formula may need, by name.
struct Factor {
  std::string name;
  Values values;  // one per number of y, or of the input
  bool of_y;
};

std::vector<Factor> factors_of(const Jacobian& j) {
  struct Form {
    const char* pattern;
    double (*f)(double);
  };
  static const std::vector<Form> forms = {{"{}", [](double v) { return v; }},
                                          {"{}²", [](double v) { return v * v; }},
                                          {"1 + {}", [](double v) { return 1 + v; }},
                                          {"1 − {}", [](double v) { return 1 - v; }},
                                          {"1 − {}²", [](double v) { return 1 - v * v; }},
                                          {"1/{}", [](double v) { return 1 / v; }},
                                          {"exp({})", [](double v) { return std::exp(v); }}};
  std::vector<NamedInput> known = j.inputs;
  known.push_back({"y", j.y});
  std::vector<Factor> all;
  for (const NamedInput& one : known) {
    if (!is_float(one.value.dtype())) continue;
    for (const bool of_y : {true, false}) {
      const Values plain = repeated(one.value, of_y ? j.y.shape() : j.value.shape());
      if (plain.empty()) continue;
      for (const Form& form : forms) {
        Values values = plain;
        for (double& v : values) v = form.f(v);
        all.push_back({fmt::format(fmt::runtime(form.pattern), one.name), std::move(values), of_y});
      }
    }
  }
  return all;
}

}  // namespace

Found slope_left_out(const Jacobian& j, const GradientMatrices& m) {
  if (j.rows == j.columns && diagonal(m) &&
      m.explained([](int64_t k, int64_t i) { return k == i ? 1.0 : 0.0; }))
    return Diagnosis{Cause::missing_factor,
                     "missing factor: dy comes through unchanged; multiply by the slope"};
  bool all_used = true;
  for (int64_t i = 0; i < m.columns(); ++i) {
    bool used = false;
    for (int64_t k = 0; k < m.rows(); ++k) used = used || m.same(m.tape(k, i), 1);
    all_used = all_used && used;
  }
  const auto ones = [&](int64_t k, int64_t i) { return m.negligible(m.numeric(k, i)) ? 0.0 : 1.0; };
  if (all_used && m.explained(ones))
    return Diagnosis{
        Cause::missing_factor,
        fmt::format("missing factor: it is a plain sum of dy; multiply dy by what {} multiplies", j.name)};
  return {};
}

Found term_left_out(const Jacobian& j, const GradientMatrices& m) {
  if (const Found found = product_rule(j, m)) return found;
  if (j.rows == j.columns &&
      m.explained([&](int64_t k, int64_t i) { return m.numeric(k, i) - (k == i ? 1 : 0); }))
    return Diagnosis{
        Cause::overwritten,
        "overwritten instead of accumulated: dy itself is missing, as if of the two uses in x + f(x) "
        "only f(x) counted"};
  return along_a_direction(j, m);
}

Found factor_left_out(const Jacobian& j, const GradientMatrices& m) {
  for (const Factor& factor : factors_of(j)) {
    const auto at = [&](int64_t k, int64_t i) { return factor.values[factor.of_y ? k : i]; };
    const std::string where = factor.of_y ? "dy" : "the result";
    if (m.explained([&](int64_t k, int64_t i) {
          return at(k, i) == 0 ? std::numeric_limits<double>::quiet_NaN() : m.numeric(k, i) / at(k, i);
        }))
      return Diagnosis{Cause::missing_factor,
                       fmt::format("missing factor: multiply {} by {}", where, factor.name)};
    if (m.explained([&](int64_t k, int64_t i) { return m.numeric(k, i) * at(k, i); }))
      return Diagnosis{Cause::missing_factor,
                       fmt::format("a factor too many: {} is multiplied by {}", where, factor.name)};
  }
  return {};
}

Found mask_left_out(const Jacobian& j, const GradientMatrices& m) {
  const auto none = [&](double v) { return m.negligible(v); };
  const bool passes = m.explained([&](int64_t k, int64_t i) {
    return none(m.numeric(k, i)) ? std::numeric_limits<double>::quiet_NaN() : m.numeric(k, i);
  });
  if (passes)
    return Diagnosis{
        Cause::missing_factor,
        "missing factor: right where y depends on it, but dy comes through where y does not; multiply by "
        "the forward's mask"};
  if (j.rows != j.columns || !diagonal(m)) return {};
  for (int64_t i = 0; i < m.columns(); ++i)
    if (!m.skipped(i, i) && none(m.numeric(i, i)) == none(m.tape(i, i))) return {};
  return Diagnosis{Cause::one_sided,
                   "one-sided: zero exactly where y depends on it, and dy elsewhere; the mask is inverted"};
}

Found number_left_out(const Jacobian& j, double c) {
  for (const NamedInput& input : j.inputs) {
    if (!is_float(input.value.dtype()) || input.value.numel() != 1) continue;
    const double number = input.value.item();
    if (std::abs(c * number - 1) <= 1e-5)
      return Diagnosis{Cause::missing_factor, fmt::format("missing factor: multiply by {}", input.name)};
    if (std::abs(c - number) <= 1e-5 * std::abs(number))
      return Diagnosis{Cause::missing_factor,
                       fmt::format("a factor too many: it is multiplied by {}", input.name)};
  }
  return {};
}

}  // namespace isobar
