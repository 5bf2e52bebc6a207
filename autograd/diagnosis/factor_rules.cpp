#include <algorithm>
#include <cmath>

#include "rules.h"

namespace isobar {
namespace {

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

// A curve by name, as a formula may hold it.
struct Form {
  const char* pattern;
  double (*f)(double);
};

// What a factor may be, of a tensor named {}.
const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {"1", [](double) { return 1.0; }},
      {"{}", [](double v) { return v; }},
      {"{}²", [](double v) { return v * v; }},
      {"|{}|", [](double v) { return std::abs(v); }},
      {"(1 + {})", [](double v) { return 1 + v; }},
      {"(1 − {})", [](double v) { return 1 - v; }},
      {"(1 + {}²)", [](double v) { return 1 + v * v; }},
      {"(1 − {}²)", [](double v) { return 1 - v * v; }},
      {"{0}(1 − {0})", [](double v) { return v * (1 - v); }},
      {"√|{}|", [](double v) { return std::sqrt(std::abs(v)); }},
      {"exp({})", [](double v) { return std::exp(v); }},
      {"tanh({})", [](double v) { return std::tanh(v); }},
      {"tanh'({})", [](double v) { return 1 - std::tanh(v) * std::tanh(v); }},
      {"sigmoid({})", [](double v) { return sigmoid(v); }},
      {"sigmoid(−{})", [](double v) { return sigmoid(-v); }},
      {"silu({})", [](double v) { return v * sigmoid(v); }}};
  return all;
}

// Ways to read a tensor of this shape at an entry (k, i): each of its dimensions is one of y's, or the
// input's.
std::vector<std::vector<Axis>> placements(const Shape& shape, const Jacobian& j) {
  std::vector<Axis> targets = axes_of(j.y.shape(), true);
  for (const Axis& axis : axes_of(j.value.shape(), false)) targets.push_back(axis);
  std::vector<std::vector<Axis>> all = {{}};
  for (const Axis& own : axes_of(shape, false)) {
    std::vector<std::vector<Axis>> longer;
    for (const std::vector<Axis>& start : all)
      for (const Axis& target : targets) {
        const bool taken = std::any_of(start.begin(), start.end(), [&](const Axis& one) {
          return one.of_y == target.of_y && one.dim == target.dim;
        });
        if (taken || target.extent != own.extent) continue;
        longer.push_back(start);
        longer.back().push_back(target);
      }
    all = std::move(longer);
  }
  return all;
}

// The position in a tensor, whose own axes are `own`, at an entry (k, i).
int64_t place_at(const std::vector<Axis>& own, const std::vector<Axis>& axes, int64_t k, int64_t i) {
  int64_t place = 0;
  for (size_t d = 0; d < axes.size(); ++d) place += axes[d].at(k, i) * own[d].stride;
  return place;
}

struct Entry {
  int64_t k, i;
  double from, to;
};

// A constant times over(v) / under(v), v a tensor known by name.
struct Factor {
  std::string over, under;
};

// The factor that takes each entry's `from` to its `to`, with these curves of a tensor read at these axes.
// The entries must tell v from a constant, unless v is one number.
std::optional<Factor> factor_of(const NamedInput& known, const std::vector<Axis>& axes, const Form& over,
                                const Form& under, const std::vector<Entry>& entries, const Evidence& e) {
  const std::vector<Axis> own = axes_of(known.value.shape(), false);
  const double* values = known.value.data<double>();
  const bool single = &under == &forms()[0];
  double c = 0, least = INFINITY, most = -INFINITY;
  size_t zeros = 0;
  for (const Entry& entry : entries) {
    const double value = values[place_at(own, axes, entry.k, entry.i)];
    const double v = over.f(value) / under.f(value);
    if (&entry == &entries[0]) c = entry.to / (entry.from * v);
    if (c == 0 || !std::isfinite(c) || !e.same(entry.to, entry.from * c * v)) return {};
    least = std::min(least, v);
    most = std::max(most, v);
    zeros += v == 0;
  }
  if (3 * zeros > entries.size()) return {};
  const bool plain = std::abs(std::abs(c) - 1) <= e.precision();
  if (most - least <= 1e-3 * std::max(std::abs(most), std::abs(least))) {
    if (known.value.numel() > 1 || !single || std::abs(c - 1) > e.precision()) return {};
  } else if (!plain && (!single || entries.size() < 6)) {
    return {};
  }
  const auto name = [&](const Form& form) { return fmt::format(fmt::runtime(form.pattern), known.name); };
  const std::string times = std::abs(c - 1) <= e.precision()   ? ""
                            : std::abs(c + 1) <= e.precision() ? "−"
                                                               : fmt::format("{:.4g} · ", c);
  return Factor{times + name(over), name(under)};
}

// With over alone, or (`ratio`) with both.
std::optional<Factor> factor_between(std::vector<Entry> entries, const Evidence& e, bool ratio = false) {
  if (entries.size() < 4) return {};
  // The largest entry gives the constant.
  std::swap(entries[0], *std::max_element(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
              return std::abs(a.to) < std::abs(b.to);
            }));
  for (const NamedInput& known : e.context.known)
    for (const std::vector<Axis>& axes : placements(known.value.shape(), e.j))
      for (const Form& over : forms())
        for (const Form& under : forms()) {
          const bool wanted = ratio ? &over != &under && &over != &forms()[0] && &under != &forms()[0]
                                    : &over != &forms()[0] && &under == &forms()[0];
          if (!wanted) continue;
          if (const auto found = factor_of(known, axes, over, under, entries, e)) return found;
        }
  return {};
}

// The entries, other than zero in J or T, of the columns that are wrong.
template <class From, class To>
std::vector<Entry> entries_of(const Evidence& e, const From& from, const To& to) {
  std::vector<Entry> all;
  for (int64_t i = 0; i < e.columns(); ++i)
    for (int64_t k = 0; k < e.rows() && !e.right_in_column(i); ++k)
      if (!e.skipped(k, i) && !(e.negligible(e.numeric(k, i)) && e.negligible(e.tape(k, i))))
        all.push_back({k, i, from(e.tape(k, i), e.numeric(k, i)), to(e.tape(k, i), e.numeric(k, i))});
  return all;
}

double one(double, double) { return 1; }
double of_tape(double tape, double) { return tape; }
double of_numeric(double, double numeric) { return numeric; }

}  // namespace

Found slope_left_out(const Evidence& e) {
  if (!e.explained([&](int64_t k, int64_t i) { return e.negligible(e.numeric(k, i)) ? 0.0 : 1.0; }))
    return {};
  const std::string what =
      e.elementwise() ? "dy comes through unchanged; multiply by the slope"
                      : fmt::format("it is a plain sum of dy; multiply dy by what {} multiplies", e.j.name);
  return Diagnosis{Cause::missing_factor, "missing factor: " + what};
}

Found factor_left_out(const Evidence& e) {
  if (const auto found = factor_between(entries_of(e, of_tape, of_numeric), e))
    return Diagnosis{Cause::missing_factor, fmt::format("missing factor: multiply dy by {}", found->over)};
  if (const auto found = factor_between(entries_of(e, of_numeric, of_tape), e))
    return Diagnosis{Cause::missing_factor,
                     fmt::format("a factor too many: it is multiplied by {}", found->over)};
  return {};
}

Found wrong_factor(const Evidence& e) {
  if (const auto found = factor_between(entries_of(e, of_numeric, of_tape), e, true))
    return Diagnosis{
        Cause::wrong_factor,
        fmt::format("wrong factor: backward multiplies by {} where {} is right", found->over, found->under)};
  if (const auto found = factor_between(entries_of(e, one, of_tape), e))
    return Diagnosis{
        Cause::wrong_factor,
        fmt::format("wrong factor: backward multiplies dy by {}, and that is not the slope", found->over)};
  return {};
}

// The result is multiplied by v where dy should have been, before what backward sums: T[k, i] = J v_i / v_k. A zero
// of v says nothing of its row.
Found factor_late(const Evidence& e) {
  if (e.j.y.shape() != e.j.value.shape()) return {};
  for (const NamedInput& known : e.context.known)
    for (const std::vector<Axis>& axes : placements(known.value.shape(), e.j)) {
      const std::vector<Axis> own = axes_of(known.value.shape(), false);
      const double* values = known.value.data<double>();
      const auto at = [&](int64_t position) { return values[place_at(own, axes, position, 0)]; };
      const bool of_y = std::all_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.of_y; });
      bool of_wrong = false;  // what is right already is no evidence
      const auto late = [&](int64_t k, int64_t i) {
        if (at(k) == 0) return std::nan("");
        of_wrong = of_wrong || !e.right_at(k, i);
        return e.numeric(k, i) * at(i) / at(k);
      };
      if (of_y && e.explained(late) && of_wrong)
        return Diagnosis{
            Cause::missing_factor,
            fmt::format("missing factor: multiply dy by {} before all else, not the result after it",
                        known.name)};
    }
  return {};
}

namespace {

// Whether T is J times one factor in each group of the numbers of y, or of the input: "from 0.5 to 2".
std::optional<std::string> factor_per_group(const Evidence& e,
                                            const std::vector<std::vector<int64_t>>& groups, bool of_y) {
  double least = INFINITY, most = -INFINITY;
  int64_t evidence = 0;
  for (const std::vector<int64_t>& group : groups) {
    std::vector<std::pair<double, double>> pairs;  // of T and J
    double product = 0, squares = 0;
    int64_t entries = 0;
    for (int64_t n : group)
      for (int64_t m = 0; m < (of_y ? e.columns() : e.rows()); ++m) {
        const int64_t k = of_y ? n : m, i = of_y ? m : n;
        if (e.skipped(k, i)) continue;
        pairs.emplace_back(e.tape(k, i), e.numeric(k, i));
        product += e.tape(k, i) * e.numeric(k, i);
        squares += e.numeric(k, i) * e.numeric(k, i);
        entries += e.apart(e.numeric(k, i), 0);
      }
    const double c = entries > 0 ? product / squares : 0;
    for (const auto& [tape, numeric] : pairs)
      if (!e.same(tape, c * numeric)) return {};
    if (entries == 0) continue;
    if (c == 0) return {};  // such groups are left out: see indices_lost
    evidence += entries - 1;
    least = std::min(least, c);
    most = std::max(most, c);
  }
  if (evidence < 4 || !e.apart(least, most)) return {};
  return fmt::format("from {:.3g} to {:.3g}", least, most);
}

}  // namespace

Found group_factor(const Evidence& e) {
  for (const bool of_y : {true, false}) {
    const Shape& shape = of_y ? e.j.y.shape() : e.j.value.shape();
    std::vector<std::vector<int>> sets = sets_of_dimensions(shape.ndim());
    sets.push_back({});  // each element alone
    for (const std::vector<int>& dims : sets) {
      const auto factor = factor_per_group(e, groups_along(shape, dims), of_y);
      if (!factor) continue;
      const std::string what = of_y ? "dy" : e.j.name;
      if (!dims.empty() && dims.back() == shape.ndim() - 1)
        return Diagnosis{Cause::row_factor,
                         fmt::format("row factor: right but for one factor, {}, for each row of {} along "
                                     "dimension {}; is a statistic of the row there twice, or missing?",
                                     *factor, what, dims[0])};
      return Diagnosis{
          Cause::wrong_factor,
          fmt::format("wrong factor: right but for one factor, {}, for each {} of {}", *factor,
                      dims.empty() ? "element" : fmt::format("index along dimension {}", shape.ndim() - 1),
                      what)};
    }
  }
  return {};
}

}  // namespace isobar
