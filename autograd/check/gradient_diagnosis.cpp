#include "gradient_diagnosis.h"

#include "../ops.h"
#include "diagnosis/rules.h"

namespace isobar {
namespace {

// A generator of candidates for T, or a rule of its own.
struct Row {
  Candidates (*candidates)(const Evidence& e);
  Found (*find)(const Evidence& e);
  bool of_directions = false;  // holds for a large input too, of which only sums along directions are known
};

// From the plainest explanation to the least: the first that holds is taken. J is right, T is the tape's, v a
// tensor known by name or a curve of it.
constexpr Row rule_table[] = {
    {nullptr, broken, true},        // an error, no gradient, NaN
    {nullptr, upstream, true},      // dy is ignored, or backward is not linear in it
    {nullptr, zero, true},          // T = 0
    {nullptr, nearly_right, true},  // T ≈ J
    {other_inputs, nullptr, true},  // T = c times the J of another input
    {nullptr, factor_left_out},     // T = c J / v, or c J v
    {nullptr, constant, true},      // T = c J
    {late_factors, nullptr},        // T = c J v_i / v_k
    {moved_dimensions, nullptr},    // T = c J with dimensions swapped
    {plain_dy, nullptr},            // T = c where J is not 0
    {nullptr, dy_added},            // T = J + c · 1
    {nullptr, term_left_out},       // T − J lies along ones or the input
    {nullptr, product_rule},        // T = a A + b B, where J = A + B
    {nullptr, signs},               // |T| = |J|
    {nullptr, contributions_lost},  // T = J, and 0 for all but one use of each element
    {nullptr, indices_lost},        // T = J, and 0 for some indices
    {nullptr, misplaced},           // T holds the numbers of J in other places
    {nullptr, cross_talk},          // T links indices along a dimension that J does not link
    {nullptr, masked},              // T = J where both are not zero
    {nullptr, wrong_factor},        // T = c v
    {nullptr, lost_branch},         // T = J less what comes through one product x wᵀ
    {nullptr, sum_left_out},        // J links indices along a dimension that T keeps apart
    {nullptr, group_factor},        // T = c J, with one c for each row
    {nullptr, one_sided},           // T = J on one side of a threshold
    {nullptr, sum_lost},            // J sums to 0 along a dimension, T does not
    {nullptr, mask_forgotten},      // T is not 0 where y does not depend on the element at all
};

// The first row that holds, and its place in the table.
Diagnosis first_of(const Evidence& e) {
  for (size_t rank = 0; rank < std::size(rule_table); ++rank) {
    const Row& row = rule_table[rank];
    if (e.j.sampled && !row.of_directions) continue;
    if (Found found = row.find ? row.find(e) : first_of(row.candidates(e), e)) {
      found->rank = static_cast<int>(rank);
      return *found;
    }
  }
  Diagnosis result = *unknown(e);
  result.rank = static_cast<int>(std::size(rule_table));
  return result;
}

// What a formula may be made of: y, the inputs, parts of these as long as y, and the index
// along each dimension of y.
std::vector<NamedInput> known_tensors(const Jacobian& j) {
  std::vector<NamedInput> known = {{"y", contiguous(j.y)}};
  for (const NamedInput& input : j.inputs)
    if (is_float(input.value.dtype())) known.push_back({input.name, contiguous(input.value)});
  const size_t whole = known.size();
  for (int d = 0; d < j.y.ndim(); ++d)
    if (j.y.size(d) > 1)
      known.push_back({fmt::format("the index along dimension {}", d), arange(j.y.size(d), Dtype::f64)});
  const int64_t width = j.y.ndim() == 0 ? 1 : j.y.size(-1);
  for (size_t n = 1; n < whole && width > 1; ++n) {
    const NamedInput one = known[n];
    const int64_t length = one.value.ndim() == 0 ? 0 : one.value.size(-1);
    for (int64_t at = 0; length > width && length % width == 0 && at < length; at += width)
      known.push_back({fmt::format("{}[…, {}:{}]", one.name, at, at + width),
                       contiguous(slice(one.value, -1, at, at + width))});
  }
  return known;
}

}  // namespace

std::string_view name_of(Cause cause) {
  static constexpr std::array<std::string_view, 26> names = {
      "none",           "unknown",          "wrong shape", "detached",        "not finite",
      "dy ignored",     "not linear in dy", "sign",        "constant factor", "1/N",
      "transposed",     "wrong axis",       "overwritten", "not summed",      "missing term",
      "missing factor", "misplaced",        "one-sided",   "nearly right",    "swapped inputs",
      "wrong factor",   "row factor",       "cross-talk",  "dy added",        "lost branch",
      "attention"};
  static_assert(names.size() == static_cast<size_t>(Cause::attention) + 1);
  return names.at(static_cast<size_t>(cause));
}

std::vector<Diagnosis> diagnose(const std::vector<Jacobian>& all, double tolerance) {
  std::vector<Diagnosis> result;
  Context context{all, {}, {}};
  for (const Jacobian& j : all) {
    result.push_back({Cause::none, j.name + ": the gradient is right"});
    if (j.right(tolerance)) continue;
    if (context.known.empty()) {
      context.inner = inner_products(all);
      context.known = known_tensors(j);
    }
    result.back() = first_of(Evidence(j, context));
    result.back().text = fmt::format("{}: {}", j.name, result.back().text);
  }
  return result;
}

Diagnosis diagnose(const Jacobian& jacobian, double tolerance) {
  return diagnose(std::vector{jacobian}, tolerance)[0];
}

}  // namespace isobar
