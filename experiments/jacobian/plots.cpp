#include "plots.h"

#include <cmath>

#include "../../nn/nn.h"
#include "matrix.h"

namespace isobar::jacobian {
namespace {

// y of element 0, for each x, in rows (1, d) of x and d − 1 ones of alternating sign, f64.
Vector outputs(Module&& module, int64_t d, const Vector& xs) {
  convert(module, Dtype::f64);
  Vector row(static_cast<size_t>(d)), ys;
  for (size_t i = 1; i < row.size(); ++i) row[i] = i % 2 == 0 ? 1 : -1;
  for (const double x : xs) {
    row[0] = x;
    ys.push_back(module(tensor({1, d}, row)).at({0, 0}));
  }
  return ys;
}

}  // namespace

void plot_curves(Run& run, int64_t d) {
  constexpr int points = 80;
  const auto n = static_cast<double>(d);
  Vector xs, tanh_theory, isru_theory, norm_theory;
  for (int i = 0; i <= points; ++i) {
    const double x = 6 * std::sqrt(n) * i / points;
    xs.push_back(x);
    norm_theory.push_back(std::sqrt(n) * x / std::sqrt(x * x + n - 1));
    tanh_theory.push_back(std::sqrt(n) * std::tanh(x / std::sqrt(n)));
    isru_theory.push_back(std::sqrt(n) * x / std::sqrt(x * x + n));
  }
  const Vector norm = outputs(RMSNorm(d), d, xs), dyt_sqrtd = outputs(DyTSqrtD(d), d, xs),
               dyisru = outputs(DyISRU(d), d, xs), dyt = outputs(DyT(d), d, xs);
  run.plot({.title = {fmt::format("one element of {}, the others ±1", d),
                      fmt::format("{} 个元素之一，其余为 ±1", d)},
            .x = "x",
            .y = "y",
            .curves = {{"RMSNorm", Role::measured, xs, norm},
                       {"DyT with √d", Role::measured, xs, dyt_sqrtd},
                       {"DyISRU, C = d", Role::measured, xs, dyisru},
                       {"DyT, α = 0.5", Role::measured, xs, dyt},
                       {"√d x/√(x² + d − 1)", Role::theory, xs, norm_theory},
                       {"√d tanh(x/√d)", Role::theory, xs, tanh_theory},
                       {"√d x/√(x² + d)", Role::theory, xs, isru_theory}},
            .key = "curves",
            .figures = {"ode.", "bound.", "dyt_as_dyt_sqrtd"}});

  const auto distance = [&](const char* label, const Vector& y) {
    Vector apart;
    for (size_t i = 0; i < y.size(); ++i) apart.push_back(std::abs(y[i] - norm[i]));
    return PlotCurve{label, Role::measured, xs, apart};
  };
  run.plot({.title = {fmt::format("distance from RMSNorm, one element of {}", d),
                      fmt::format("与 RMSNorm 的距离，{} 个元素之一", d)},
            .x = "x",
            .y = {"|y − RMSNorm's y|", "|y − RMSNorm 的 y|"},
            .log = true,
            .curves = {distance("DyT with √d", dyt_sqrtd), distance("DyISRU, C = d", dyisru),
                       distance("DyT, α = 0.5", dyt)},
            .key = "distance",
            .figures = {"fit.", "exact_per_element"}});
}

}  // namespace isobar::jacobian
