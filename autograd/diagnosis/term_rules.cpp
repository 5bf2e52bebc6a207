#include <cmath>

#include "rules.h"

namespace isobar {

Found dy_added(const Evidence& e) {
  if (e.rows() != e.columns()) return {};
  double c = 0;
  for (int64_t i = 0; i < e.columns() && c == 0; ++i)
    if (!e.skipped(i, i)) c = e.tape(i, i) - e.numeric(i, i);
  if (!e.apart(c, 0)) return {};
  if (!e.explained([&](int64_t k, int64_t i) { return e.numeric(k, i) + (k == i ? c : 0); })) return {};
  return Diagnosis{
      Cause::dy_added,
      c < 0 ? fmt::format("dy added: right but for {:.4g} · dy that is missing, as if of the two uses in "
                          "x + f(x) only f(x) counted",
                          -c)
            : fmt::format("dy added: right but for {:.4g} · dy too much; is a residual added twice?", c)};
}

namespace {

// Vectors over the elements of the input, of which T − J may be made up in every row.
struct Span {
  std::vector<Values> vectors;  // one or two
  std::string text;
};

std::vector<Span> spans_of(const Evidence& e) {
  const Values x = e.j.value.to_vector<double>(), ones(x.size(), 1.0);
  return {{{ones}, "ones: the mean's part"},
          {{x}, "the input: the mean square's (the norm's) part"},
          {{ones, x}, "ones and the input: the mean's and the variance's part, or one of them,"}};
}

// Whether row k of T − J, seen in one group, lies in the span; by least squares.
bool lies_in(const Evidence& e, int64_t k, const std::vector<int64_t>& group, const Span& span) {
  Values rest;
  for (int64_t i : group) {
    if (e.skipped(k, i)) return false;
    rest.push_back(e.tape(k, i) - e.numeric(k, i));
  }
  std::vector<Values> basis;
  const auto remove = [&](Values& from, const Values& along) {
    double product = 0, squares = 0;
    for (size_t n = 0; n < group.size(); ++n) product += from[n] * along[n], squares += along[n] * along[n];
    for (size_t n = 0; n < group.size() && squares > 0; ++n) from[n] -= product / squares * along[n];
  };
  for (const Values& vector : span.vectors) {
    Values part;
    for (int64_t i : group) part.push_back(vector[i]);
    for (const Values& one : basis) remove(part, one);
    remove(rest, part);
    basis.push_back(part);
  }
  for (size_t n = 0; n < group.size(); ++n)
    if (!e.same(e.tape(k, group[n]), e.tape(k, group[n]) - rest[n])) return false;
  return true;
}

}  // namespace

Found term_left_out(const Evidence& e) {
  const Shape& shape = e.j.value.shape();
  for (const Span& span : spans_of(e))
    for (const std::vector<int>& dims : sets_of_dimensions(shape.ndim())) {
      const auto groups = groups_along(shape, dims);
      // Any two numbers lie along any direction.
      bool holds = !groups.empty() && groups[0].size() >= span.vectors.size() + 2;
      for (int64_t k = 0; holds && k < e.rows(); ++k)
        for (size_t g = 0; holds && g < groups.size(); ++g) holds = lies_in(e, k, groups[g], span);
      if (holds)
        return Diagnosis{Cause::missing_term,
                         fmt::format("missing term: what is wrong lies along {} is missing "
                                     "or wrong",
                                     span.text)};
    }
  return {};
}

// y = x g(x), so that J = g + x g' with g = y / x, and T holds one of these terms twice, not at all, or with
// the other sign.
Found product_rule(const Evidence& e) {
  if (!e.elementwise() || e.columns() < 4) return {};
  const Values x = e.j.value.to_vector<double>(), y = e.j.y.to_vector<double>();
  for (const double times : {0.0, -1.0, 2.0})
    for (const bool first : {true, false}) {
      const auto sum = [&](int64_t k, int64_t i) {
        if (k != i) return 0.0;
        if (x[i] == 0) return HUGE_VAL;  // y / x is unknown
        const double g = y[i] / x[i], other = e.numeric(i, i) - g;
        return first ? times * g + other : g + times * other;
      };
      if (!e.explained(sum)) continue;
      const char* const what = times == 0    ? "missing term: {} is left out"
                               : times == -1 ? "sign: {} has the wrong sign"
                                             : "missing term: {} is there twice, in place of the other";
      return Diagnosis{
          times == -1 ? Cause::sign : Cause::missing_term,
          fmt::format(fmt::runtime(what), first ? "y/x · dy, one term of the product rule,"
                                                : "x · (y/x)' · dy, one term of the product rule,")};
    }
  return {};
}

// J of x is the sum of what comes through each product h = x wᵀ and of the rest; T holds these parts other than
// once.
Found lost_branch(const Evidence& e) {
  std::vector<std::pair<std::string, Values>> parts;
  Values rest = e.j.numeric;
  for (const Hidden& h : e.context.hidden) {
    if (h.x != e.j.name) continue;
    parts.emplace_back(h.name, h.path);
    for (size_t n = 0; n < rest.size(); ++n) rest[n] -= h.path[n];
  }
  if (parts.empty()) return {};
  if (largest_of(rest) > 1e-6 * largest_of(e.j.numeric)) parts.emplace_back("the rest of the formula", rest);
  const size_t count = parts.size();
  Values gram(count * count, 0.0), product(count, 0.0), times(count, 0.0);
  for (size_t n = 0; n < rest.size(); ++n)
    for (size_t a = 0; a < count; ++a) {
      product[a] += parts[a].second[n] * e.j.tape[n];
      for (size_t b = 0; b < count; ++b) gram[a * count + b] += parts[a].second[n] * parts[b].second[n];
    }
  const std::optional<Values> inverted = inverse(gram, static_cast<int64_t>(count));
  if (!inverted) return {};
  std::string text;
  bool lost = false;
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = 0; b < count; ++b) times[a] += (*inverted)[a * count + b] * product[b];
    if (std::abs(times[a] - 1) < 1e-4) continue;
    lost = lost || std::abs(times[a] + 1) > 1e-4;
    text += fmt::format("{}what comes back through {} {}", text.empty() ? "" : ", and ", parts[a].first,
                        std::abs(times[a]) < 1e-4 ? "is missing (overwritten?)"
                                                  : fmt::format("comes {:.4g} times", times[a]));
  }
  const auto sum = [&](int64_t k, int64_t i) {
    double v = 0;
    for (size_t a = 0; a < count; ++a) v += times[a] * parts[a].second[k * e.columns() + i];
    return v;
  };
  if (text.empty() || !e.explained(sum)) return {};
  return Diagnosis{lost ? Cause::lost_branch : Cause::sign,
                   fmt::format("{}: {}", lost ? "lost branch" : "sign", text)};
}

// y does not change when all elements along one dimension get the same constant, so dx must sum to 0 along it.
Found sum_lost(const Evidence& e) {
  for (const Axis& axis : axes_of(e.j.value.shape(), false)) {
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
    const bool last = axis.dim == e.j.value.ndim() - 1;
    return Diagnosis{
        last ? Cause::missing_term : Cause::attention,
        fmt::format("{}: y stays the same when all of {} along dimension {} get the same constant, so its "
                    "gradient must sum to 0 along it, and does not: {}",
                    last ? "missing term" : "attention", e.j.name, axis.dim,
                    last ? "the sum over y · dy, or the mean's part, is missing"
                         : "softmax's backward needs its sum, p · (dp − Σ p dp)")};
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
  return Diagnosis{Cause::cross_talk,
                   fmt::format("cross-talk: y does not depend on {} elements of {}, as {}, and they get a "
                               "gradient; does backward forget a mask?",
                               wrong.size(), e.j.name, index_text(e.j.value.shape(), wrong[0]))};
}

}  // namespace isobar
