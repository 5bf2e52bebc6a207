#include <algorithm>
#include <cmath>

#include "../../ops.h"
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

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

// A curve by name, as a formula may hold it.
struct Form {
  const char* pattern;
  double (*f)(double);
};

// What a factor may be, of a tensor named {}.
constexpr Form forms[] = {{"1", [](double) { return 1.0; }},
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

// A tensor known by name, read at the entries (k, i): each of its dimensions is one of y's, or of the
// input's.
struct Reading {
  std::string name;
  Values values;
  std::vector<Axis> own, axes;

  double at(int64_t k, int64_t i) const {
    int64_t place = 0;
    for (size_t d = 0; d < axes.size(); ++d) place += axes[d].at(k, i) * own[d].stride;
    return values[place];
  }
};

std::vector<Reading> readings(const Evidence& e) {
  std::vector<Axis> targets = axes_of(e.j.y.shape(), true);
  for (const Axis& axis : axes_of(e.j.value.shape(), false)) targets.push_back(axis);
  std::vector<Reading> all;
  for (const NamedInput& known : e.context.known) {
    std::vector<Reading> partial = {
        {known.name, known.value.to_vector<double>(), axes_of(known.value.shape(), false), {}}};
    const std::vector<Axis> each = partial[0].own;
    for (const Axis& own : each) {
      std::vector<Reading> longer;
      for (const Reading& start : partial)
        for (const Axis& target : targets) {
          const bool taken = std::any_of(start.axes.begin(), start.axes.end(), [&](const Axis& one) {
            return one.of_y == target.of_y && one.dim == target.dim;
          });
          if (taken || target.extent != own.extent) continue;
          longer.push_back(start);
          longer.back().axes.push_back(target);
        }
      partial = std::move(longer);
    }
    all.insert(all.end(), partial.begin(), partial.end());
  }
  return all;
}

// A constant times over(v) / under(v).
struct Factor {
  std::string over, under;
};

// Whether `to` is `from` times these curves of v. The entries must tell v from a constant, unless v is one
// number.
std::optional<Factor> factor_of(const Reading& v, const Form& over, const Form& under, const Evidence& e,
                                const Entries& entries, const Term& from, const Term& to) {
  const auto factor = [&](int64_t k, int64_t i) { return over.f(v.at(k, i)) / under.f(v.at(k, i)); };
  const auto times = e.solve(entries, to, {[&](int64_t k, int64_t i) { return from(k, i) * factor(k, i); }});
  if (!times || (*times)[0] == 0) return {};
  const double c = (*times)[0];
  double least = INFINITY, most = -INFINITY;
  size_t zeros = 0;
  for (const Entry& at : entries) {
    const double value = factor(at.k, at.i);
    if (std::isnan(value)) return {};
    least = std::min(least, value), most = std::max(most, value);
    zeros += value == 0;
  }
  if (3 * zeros > entries.size()) return {};
  const bool single = &under == &forms[0];
  if (most - least <= 1e-3 * std::max(std::abs(most), std::abs(least))) {
    if (v.values.size() > 1 || !single || !e.is(c, 1)) return {};
  } else if (!e.is(std::abs(c), 1) && (!single || entries.size() < 6)) {
    return {};
  }
  const auto name = [&](const Form& form) { return fmt::format(fmt::runtime(form.pattern), v.name); };
  const std::string sign = e.is(c, 1) ? "" : e.is(c, -1) ? "−" : fmt::format("{:.4g} · ", c);
  return Factor{sign + name(over), name(under)};
}

// The factor from one matrix to the other, with over alone or (`ratio`) with both: at the entries, other than
// zero in J or T, of the columns that are wrong.
std::optional<Factor> factor_between(const Evidence& e, const Term& from, const Term& to,
                                     bool ratio = false) {
  Entries entries;
  for (const auto& [k, i] : e.entries())
    if (!e.right_in_column(i) && !(e.negligible(e.numeric(k, i)) && e.negligible(e.tape(k, i))))
      entries.push_back({k, i});
  if (entries.size() < 4) return {};
  std::swap(entries[0],
            *std::max_element(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
              return std::abs(to(a.k, a.i)) < std::abs(to(b.k, b.i));
            }));
  const Form& one = forms[0];
  for (const Reading& v : readings(e))
    for (const Form& over : forms)
      for (const Form& under : forms) {
        const bool wanted = &over != &one && (ratio ? &over != &under && &under != &one : &under == &one);
        if (!wanted) continue;
        if (const auto found = factor_of(v, over, under, e, entries, from, to)) return found;
      }
  return {};
}

}  // namespace

Found first_of(const Candidates& all, const Evidence& e) {
  for (const Candidate& one : all)
    if (const auto c = e.multiple(one.matrix))
      return Diagnosis{one.cause,
                       one.text + (e.is(*c, 1)    ? ""
                                   : e.is(*c, -1) ? "; and the sign is wrong"
                                                  : fmt::format("; and it is {:.4g} times that", *c))};
  return {};
}

Found constant(const Evidence& e) {
  const auto found = e.multiple(e.slope);
  if (!found) return {};
  const double c = *found, size = std::abs(c);
  if (e.is(c, -1)) return told(Cause::sign, "it is −1 times the right one everywhere");
  const std::string flipped = c < 0 ? ", and the sign is wrong" : "";
  const auto near = [&](double wanted) { return e.is(size / wanted, 1); };
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

Candidates other_inputs(const Evidence& e) {
  Candidates all;
  if (e.multiple(e.slope)) return all;  // a multiple of the right gradient is not another's
  for (const Jacobian& other : e.context.all) {
    const auto like = [](const Jacobian& a, const Jacobian& b) {
      return a.columns == b.columns && a.rows == b.rows && a.sampled == b.sampled;
    };
    if (other.name == e.j.name || !like(other, e.j)) continue;
    const bool swapped = Evidence(other, e.context)
                             .multiple([&](int64_t k, int64_t i) { return e.numeric(k, i); })
                             .has_value();
    all.push_back(
        {swapped ? Cause::swapped_inputs : Cause::wrong_factor,
         fmt::format(
             fmt::runtime(
                 swapped ? "swapped inputs: it gets the gradient of {0}, and {0} its gradient; compare the "
                           "order of record()'s inputs with that of the gradients backward returns"
                         : "wrong factor: it gets the gradient of {0}; is dy multiplied by its own branch, "
                           "not by the other?"),
             other.name),
         [&](int64_t k, int64_t i) { return other.numeric[k * other.columns + i]; }});
  }
  return all;
}

// The result is multiplied by v where dy should have been, before what backward sums. A zero of v says
// nothing of its row.
Candidates late_factors(const Evidence& e) {
  Candidates all;
  if (e.j.y.shape() != e.j.value.shape()) return all;
  for (const Reading& v : readings(e)) {
    if (!std::all_of(v.axes.begin(), v.axes.end(), [](const Axis& axis) { return axis.of_y; })) continue;
    all.push_back(
        {Cause::missing_factor,
         fmt::format("missing factor: multiply dy by {} before all else, not the result after it", v.name),
         [&e, v](int64_t k, int64_t i) {
           return v.at(k, 0) == 0 ? std::nan("") : e.numeric(k, i) * v.at(i, 0) / v.at(k, 0);
         }});
  }
  return all;
}

Candidates moved_dimensions(const Evidence& e) {
  Candidates all;
  for (const bool of_y : {false, true}) {
    const Shape& shape = of_y ? e.j.y.shape() : e.j.value.shape();
    const Tensor numbered = reshape(arange(shape.numel()), shape);
    for (const Axis& a : axes_of(shape, of_y))
      for (const Axis& b : axes_of(shape, of_y)) {
        if (a.dim >= b.dim) continue;
        const char* const text = of_y
                                     ? "wrong axis: right for a dy with dimensions {} and {} swapped; is the "
                                       "sum over the right axis?"
                                     : "transposed: right numbers with dimensions {} and {} of {} swapped";
        // Written with these dimensions swapped, and read as if they were not.
        const auto places = contiguous(transpose(numbered, a.dim, b.dim)).to_vector<int64_t>();
        all.push_back({of_y ? Cause::wrong_axis : Cause::transposed,
                       fmt::format(fmt::runtime(text), a.dim, b.dim, shape),
                       [&e, of_y, places](int64_t k, int64_t i) {
                         return of_y ? e.numeric(places[k], i) : e.numeric(k, places[i]);
                       }});
      }
  }
  for (const auto& [a, b] : equal_axes(e.j))
    all.push_back({Cause::transposed,
                   "transposed: backward multiplies by the matrix itself, not by its transpose (dx = dy W "
                   "for y = x Wᵀ)",
                   [&e, of_y = a, of_x = b](int64_t k, int64_t i) {
                     const int64_t apart = of_x.at(i) - of_y.at(k);
                     return e.numeric(k + apart * of_y.stride, i - apart * of_x.stride);
                   }});
  return all;
}

Candidates plain_dy(const Evidence& e) {
  return {{Cause::missing_factor,
           e.elementwise()
               ? "missing factor: dy comes through unchanged; multiply by the slope"
               : fmt::format("missing factor: it is a plain sum of dy; multiply dy by what {} multiplies",
                             e.j.name),
           [&e](int64_t k, int64_t i) { return e.negligible(e.numeric(k, i)) ? 0.0 : 1.0; }}};
}

Found factor_left_out(const Evidence& e) {
  if (const auto found = factor_between(e, e.given, e.slope))
    return told(Cause::missing_factor, "multiply dy by {}", found->over);
  if (const auto found = factor_between(e, e.slope, e.given))
    return Diagnosis{Cause::missing_factor,
                     fmt::format("a factor too many: it is multiplied by {}", found->over)};
  return {};
}

Found wrong_factor(const Evidence& e) {
  if (const auto found = factor_between(e, e.slope, e.given, true))
    return told(Cause::wrong_factor, "backward multiplies by {} where {} is right", found->over,
                found->under);
  if (const auto found = factor_between(
          e, [](int64_t, int64_t) { return 1.0; }, e.given))
    return told(Cause::wrong_factor, "backward multiplies dy by {}, and that is not the slope", found->over);
  return {};
}

// T is J times one factor in each group of the numbers of y, or of the input.
Found group_factor(const Evidence& e) {
  for (const bool of_y : {true, false}) {
    const Shape& shape = of_y ? e.j.y.shape() : e.j.value.shape();
    std::vector<std::vector<int>> sets = sets_of_dimensions(shape.ndim());
    sets.push_back({});  // each element alone
    for (const std::vector<int>& dims : sets) {
      double least = INFINITY, most = -INFINITY;
      int64_t evidence = 0;
      bool holds = true;
      for (const std::vector<int64_t>& group : groups_along(shape, dims)) {
        Entries entries;
        int64_t slopes = 0;
        for (int64_t n : group)
          for (int64_t m = 0; m < (of_y ? e.columns() : e.rows()); ++m) {
            const Entry at = of_y ? Entry{n, m} : Entry{m, n};
            if (e.skipped(at.k, at.i)) continue;
            entries.push_back(at);
            slopes += e.apart(e.numeric(at.k, at.i), 0);
          }
        const auto c = e.solve(entries, e.given, {e.slope});
        // What is left out is told by indices_lost.
        holds = holds && (entries.empty() || (c && (slopes == 0 || !e.is((*c)[0], 0))));
        if (!holds) break;
        if (slopes == 0) continue;
        evidence += slopes - 1;
        least = std::min(least, (*c)[0]), most = std::max(most, (*c)[0]);
      }
      if (!holds || evidence < 4 || !e.apart(least, most)) continue;
      const std::string what = of_y ? "dy" : e.j.name,
                        factor = fmt::format("from {:.3g} to {:.3g}", least, most);
      if (!dims.empty() && dims.back() == shape.ndim() - 1)
        return told(Cause::row_factor,
                    "right but for one factor, {}, for each row of {} along "
                    "dimension {}; is a statistic of the row there twice, or missing?",
                    factor, what, dims[0]);
      return told(Cause::wrong_factor, "right but for one factor, {}, for each {} of {}", factor,
                  dims.empty() ? "element" : fmt::format("index along dimension {}", shape.ndim() - 1), what);
    }
  }
  return {};
}

Found dy_added(const Evidence& e) {
  if (e.rows() != e.columns()) return {};
  const auto times =
      e.solve(e.entries(), e.given, {e.slope, [](int64_t k, int64_t i) { return k == i ? 1.0 : 0.0; }});
  if (!times || !e.is((*times)[0], 1) || !e.apart((*times)[1], 0)) return {};
  const double c = (*times)[1];
  return told(Cause::dy_added, "right but for {:.4g} · dy {}", std::abs(c),
              c < 0 ? "that is missing, as if of the two uses in x + f(x) only f(x) counted"
                    : "too much; is a residual added twice?");
}

// What is wrong in each row lies along ones or the input, in each group of elements.
Found term_left_out(const Evidence& e) {
  const Term ones = [](int64_t, int64_t) { return 1.0; };
  const Term x = [v = e.j.value.to_vector<double>()](int64_t, int64_t i) { return v[i]; };
  const std::vector<std::pair<std::vector<Term>, std::string>> spans = {
      {{ones}, "ones: the mean's part"},
      {{x}, "the input: the mean square's (the norm's) part"},
      {{ones, x}, "ones and the input: the mean's and the variance's part, or one of them,"}};
  for (const auto& [terms, text] : spans)
    for (const std::vector<int>& dims : sets_of_dimensions(e.j.value.ndim())) {
      const auto groups = groups_along(e.j.value.shape(), dims);
      // Any two numbers lie along any direction.
      bool holds = !groups.empty() && groups[0].size() >= terms.size() + 2;
      for (int64_t k = 0; holds && k < e.rows(); ++k)
        for (size_t g = 0; holds && g < groups.size(); ++g) {
          Entries entries;
          for (int64_t i : groups[g])
            if (!e.skipped(k, i)) entries.push_back({k, i});
          holds = entries.size() == groups[g].size() && e.solve(entries, e.given, terms, e.slope);
        }
      if (holds) return told(Cause::missing_term, "what is wrong lies along {} is missing or wrong", text);
    }
  return {};
}

namespace {

using Parts = std::vector<std::pair<std::string, Term>>;

// J is the sum of these parts; T holds some of them other than once.
Found parts_lost(const Evidence& e, const Parts& parts, Cause lost_cause, const std::string& comes) {
  std::vector<Term> terms;
  for (const auto& part : parts) terms.push_back(part.second);
  const auto times = e.solve(e.entries(), e.given, terms);
  if (!times) return {};
  std::string text;
  bool lost = false;
  for (size_t a = 0; a < parts.size(); ++a) {
    const double c = (*times)[a];
    if (std::abs(c - 1) < 1e-4) continue;
    lost = lost || std::abs(c + 1) > 1e-4;
    text +=
        fmt::format("{}{}{} {}", text.empty() ? "" : ", and ", comes, parts[a].first,
                    std::abs(c) < 1e-4 ? "is missing (overwritten?)" : fmt::format("comes {:.4g} times", c));
  }
  if (text.empty()) return {};
  const Cause cause = lost ? lost_cause : Cause::sign;
  return told(cause, "{}", text);
}

}  // namespace

// y = x g(x), so that J = g + x g' with g = y / x.
Found product_rule(const Evidence& e) {
  if (!e.elementwise() || e.columns() < 4) return {};
  const Values x = e.j.value.to_vector<double>(), y = e.j.y.to_vector<double>();
  const auto g = [&](int64_t k, int64_t i) { return k != i ? 0 : x[i] == 0 ? HUGE_VAL : y[i] / x[i]; };
  return parts_lost(e,
                    {{"y/x · dy, one term of the product rule,", g},
                     {"x · (y/x)' · dy, one term of the product rule,",
                      [&](int64_t k, int64_t i) { return e.numeric(k, i) - g(k, i); }}},
                    Cause::missing_term, "");
}

// J of x is the sum of what comes through each product h = x wᵀ and of the rest.
Found lost_branch(const Evidence& e) {
  Parts parts;
  Values rest = e.j.numeric;
  for (const InnerProduct& h : e.context.inner) {
    if (h.x != e.j.name) continue;
    parts.emplace_back(h.name, [&](int64_t k, int64_t i) { return h.path[k * e.columns() + i]; });
    for (size_t n = 0; n < rest.size(); ++n) rest[n] -= h.path[n];
  }
  if (parts.empty()) return {};
  if (largest_of(rest) > 1e-6 * largest_of(e.j.numeric))
    parts.emplace_back("the rest of the formula",
                       [&](int64_t k, int64_t i) { return rest[k * e.columns() + i]; });
  return parts_lost(e, parts, Cause::lost_branch, "what comes back through ");
}

}  // namespace isobar
