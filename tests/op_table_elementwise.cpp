// Rows of the elementwise functions, masks and reductions. A mask has no gradient: its row chooses by it.
#include <limits>

#include "../autograd/ops.h"
#include "op_table.h"

namespace isobar {
namespace {

constexpr OpFlags fused{.fused = true};
constexpr double infinity = std::numeric_limits<double>::infinity();

// One row a line reads best: the formatter would spread each over four.
// clang-format off

std::vector<OpRow> number_rows() {
  return {
      {"multiply by a number", [](In x) { return x[0] * 3; }, {normal(3, 5)}},
      {"divide by a number", [](In x) { return x[0] / 49; }, {normal(3, 5)}},
      {"divide a number", [](In x) { return 2 / x[0]; }, {off_zero(3, 5)}},
      {"abs", [](In x) { return abs(x[0]); }, {off_zero(3, 5)}},
      {"sign", [](In x) { return sign(x[0]); }, {off_zero(3, 5)}},
      {"floor", [](In x) { return floor(x[0] + 0.05) * x[0]; }, {distinct(3, 15)}},
      {"ceil", [](In x) { return ceil(x[0] - 2.05) * x[0]; }, {distinct(3, 15)}},
      {"trunc", [](In x) { return trunc(x[0] - 2.05) * x[0]; }, {distinct(3, 15)}},
      {"round", [](In x) { return round(x[0] - 2.05) * x[0]; }, {distinct(3, 15)}},
      {"round with no other op", [](In x) { return round(x[0]); }, {off_zero(3, 5)}},
      {"leaky_relu", [](In x) { return leaky_relu(x[0]); }, {off_zero(3, 5)}, fused},
      {"leaky_relu of many", [](In x) { return leaky_relu(x[0], 0.2); }, {off_zero(300, 129)}, fused},
      {"elu", [](In x) { return elu(x[0]); }, {off_zero(3, 5)}, fused},
      {"elu of another alpha", [](In x) { return elu(x[0], 1.5); }, {off_zero(17)}, fused},
      {"sign times x", [](In x) { return sign(x[0]) * x[0]; }, {off_zero(3, 5)}},
      {"pow cubed", [](In x) { return pow(x[0], 3); }, {normal(3, 5)}},
      {"pow to a broken exponent", [](In x) { return pow(x[0], -1.5); }, {positive(3, 5)}},
      {"pow to zero", [](In x) { return pow(x[0], 0); }, {positive(3, 5)}},
      {"pow of a number", [](In x) { return pow(2.5, x[0]); }, {normal(3, 5)}},
      {"pow of two tensors", [](In x) { return pow(x[0], x[1]); }, {positive(3, 5), normal(3, 5)}},
      {"minimum", [](In x) { return minimum(x[0], x[1]); }, {normal(3, 5), normal(3, 5)}},
      {"maximum", [](In x) { return maximum(x[0], x[1]); }, {normal(3, 5), normal(3, 5)}},
      {"maximum with a number", [](In x) { return maximum(x[0], 0.25); }, {normal(3, 5)}},
      {"minimum with a number", [](In x) { return minimum(x[0], 0.25); }, {normal(3, 5)}},
      {"clamp", [](In x) { return clamp(x[0], -0.55, 0.75); }, {distinct(3, 5)}},
      {"clamp from below", [](In x) { return clamp(x[0], 0.55); }, {distinct(3, 5)}},
      {"clamp from above", [](In x) { return clamp(x[0], {}, 0.55); }, {distinct(3, 5)}},
      {"sin", [](In x) { return sin(x[0]); }, {scaled(5, 3, 17)}},
      {"cos", [](In x) { return cos(x[0]); }, {scaled(5, 3, 17)}},
      {"log1p", [](In x) { return log1p(x[0]); }, {uniform(-0.7, 3, 3, 5)}},
      {"expm1", [](In x) { return expm1(x[0]); }, {normal(3, 5)}},
      {"rsqrt", [](In x) { return rsqrt(x[0]); }, {positive(3, 5)}},
      {"isru", [](In x) { return isru(x[0], x[1]); }, {normal(3, 5), positive(5)}},
      {"softplus", [](In x) { return softplus(x[0]); }, {scaled(3, 3, 5)}, fused},
      {"softplus far out", [](In x) { return softplus(x[0]); }, {scaled(30, 3, 5)}, fused},
      {"mish", [](In x) { return mish(x[0]); }, {normal(3, 5)}, fused},
      {"mish far out", [](In x) { return mish(x[0]); }, {scaled(10, 17)}, fused},
  };
}

std::vector<OpRow> mask_rows() {
  return {
      {"operator==", [](In x) { return where(x[0] == x[0], x[0], x[1]); }, {normal(3, 5), normal(3, 5)}},
      {"operator!=", [](In x) { return where(x[0] != x[1], x[0], x[1]); }, {normal(3, 5), normal(5)}},
      {"operator<", [](In x) { return where(x[0] < x[1], square(x[0]), x[1]); }, {normal(3, 5), normal(3, 5)}},
      {"operator< with a number", [](In x) { return where(x[0] < 0, x[0] * 2, x[0]); }, {off_zero(3, 5)}},
      {"operator<=", [](In x) { return where(x[0] <= x[1], square(x[0]), x[1]); },
       {normal(3, 5), normal(3, 1)}},
      {"operator>", [](In x) { return where(x[0] > x[1], square(x[0]), x[1]); }, {normal(17), normal(3, 17)}},
      {"operator>=", [](In x) { return where(0 >= x[0], x[0] * 2, x[0]); }, {off_zero(3, 5)}},
      {"operator&&", [](In x) { return where(x[0] > 0 && x[1] > 0, x[0], x[1]); },
       {off_zero(3, 5), off_zero(5)}},
      {"operator||", [](In x) { return where(x[0] > 0 || x[1] > 0, x[0], x[1]); },
       {off_zero(3, 5), off_zero(5)}},
      {"operator!", [](In x) { return where(!(x[0] > 0), x[0] * 2, x[0]); }, {off_zero(3, 5)}},
      {"operator&& of masks", [](In x) { return where(x[0] && !x[1], x[2], 0); },
       {mask(3, 5), mask(5), normal(3, 5)}},
      {"where", [](In x) { return where(x[0], x[1], x[2]); }, {mask(3, 5), normal(3, 5), normal(3, 5)}},
      {"where of one side", [](In x) { return where(x[0], 2, x[1]); }, {mask(3, 5), normal(3, 5)}},
      {"where with a number", [](In x) { return where(x[0] > 0.35, x[0], -1) + where(x[0] > 0.55, 2, x[0]); },
       {distinct(3, 5)}},
      {"where of nothing", [](In x) { return where(x[0] > 0, x[0], 1); }, {normal(0, 5)}},
      {"where of many", [](In x) { return where(x[0] > 0, x[0], x[1]); }, {off_zero(300, 129), normal(129)}},
      {"any", [](In x) { return where(any(x[0] > 1, {1}, true), x[0], 0); }, {off_zero(17, 3)}},
      {"any of a mask", [](In x) { return where(any(x[0], {1}, true), x[1], 0); }, {mask(17, 3), normal(17, 3)}},
      {"any of all", [](In x) { return where(any(x[0] > 0), x[0], 0); }, {off_zero(3, 5)}},
      {"all", [](In x) { return where(all(x[0] > -1, {0}), x[0], 0); }, {off_zero(3, 17)}},
      {"argmax", [](In x) { return index_select(x[0], 0, argmax(x[0], 1)); }, {distinct(7, 7)}},
      {"argmax of all", [](In x) { return x[0] * cast(argmax(x[0]), x[0].dtype()); }, {distinct(3, 5)}},
      {"sum of a mask", [](In x) { return x[0] * cast(sum(x[0] > 0, -1, true), x[0].dtype()); }, {off_zero(3, 5)}},
      {"mean of indices", [](In x) { return x[0] * cast(mean(x[1], 0), x[0].dtype()); },
       {normal(3, 5), indices(7, 9, 5)}},
      {"max of indices", [](In x) { return x[0] * cast(max(x[1], {0}), x[0].dtype()); },
       {normal(3, 5), indices_i32(7, 9, 5)}},
      {"argmin", [](In x) { return x[0] * cast(argmin(x[0], 1, true), x[0].dtype()); }, {distinct(3, 5, 7)}},
  };
}

std::vector<OpRow> reduction_rows() {
  return {
      {"min", [](In x) { return min(x[0]); }, {distinct(3, 5)}},
      {"min over rows", [](In x) { return min(x[0], {0}); }, {distinct(3, 5)}},
      {"min over the middle", [](In x) { return min(x[0], {1}, true); }, {distinct(2, 3, 5)}},
      {"var", [](In x) { return var(x[0]); }, {normal(3, 5)}, fused},
      {"var of the population", [](In x) { return var(x[0], std::nullopt, false, 0); },
       {normal(3, 5)}, fused},
      {"var over rows", [](In x) { return var(x[0], {0}, true); }, {normal(17, 3)}, fused},
      {"var over columns", [](In x) { return var(x[0], {-1}, false, 0); }, {normal(3, 17)}, fused},
      {"var over the middle", [](In x) { return var(x[0], {1}); }, {normal(2, 3, 5)}, fused},
      {"var over the outside", [](In x) { return var(x[0], {0, 2}); }, {normal(2, 3, 5)}, fused},
      {"var far from zero", [](In x) { return var(x[0] + 100, {1}); }, {normal(3, 17)},
       // 100 + x is rounded to 100 · 6·10⁻⁸ in f32, and x is of size one.
       {.fused = true, .f32_tolerance = 1e-4}},
      {"var of many", [](In x) { return var(x[0], {0}); }, {normal(700, 65)}, fused},
      {"std_dev", [](In x) { return std_dev(x[0]); }, {normal(3, 5)}, fused},
      {"std_dev of the population", [](In x) { return std_dev(x[0], std::nullopt, true, 0); },
       {normal(3, 5)}, fused},
      {"std_dev over columns", [](In x) { return std_dev(x[0], {1}, true); }, {normal(3, 17)}, fused},
      {"norm", [](In x) { return norm(x[0]); }, {normal(3, 5)}},
      {"norm over columns", [](In x) { return x[0] / norm(x[0], 2, {-1}, true); }, {normal(3, 5)}},
      {"norm over rows", [](In x) { return norm(x[0], 2, {0}); }, {normal(3, 5)}},
      {"norm of absolute values", [](In x) { return norm(x[0], 1, {1}); }, {off_zero(3, 5)}},
      {"norm of the largest", [](In x) { return norm(x[0] + 0.05, infinity, {1}); }, {distinct(3, 5)}},
      {"norm with p = 3", [](In x) { return norm(x[0], 3); }, {off_zero(3, 5)}},
      {"norm with p = 1.5", [](In x) { return norm(x[0], 1.5, {0}, true); }, {off_zero(3, 5)}},
      {"norm of many", [](In x) { return norm(x[0], 2, {1}); }, {normal(300, 129)}},
      {"logsumexp", [](In x) { return logsumexp(x[0]); }, {normal(3, 5)}},
      {"logsumexp over columns", [](In x) { return logsumexp(x[0], {1}, true); }, {scaled(5, 3, 17)}},
      {"logsumexp over rows", [](In x) { return logsumexp(x[0], {0}); }, {normal(3, 5)}},
      {"logsumexp of many", [](In x) { return logsumexp(x[0], {1}); }, {normal(300, 129)}},
  };
}

// clang-format on

}  // namespace

std::vector<OpRow> vocabulary_rows() {
  std::vector<OpRow> all;
  for (auto part : {number_rows, mask_rows, reduction_rows})
    for (OpRow& row : part()) all.push_back(std::move(row));
  return all;
}

}  // namespace isobar
