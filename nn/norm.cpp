#include "norm.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "activation.h"
#include "batch_norm.h"
#include "dyt.h"
#include "group_norm.h"
#include "layer_norm.h"
#include "rms_norm.h"

namespace isobar {
namespace {

struct Norm {
  std::string name;
  bool takes_alpha;
  NormMaker make;
};

// The fraction that pRMSNorm measures: the paper's, but at least one element.
double measured(const Shape& shape, const NormOptions& o) {
  return o.p.value_or(std::max(0.0625, 1 / static_cast<double>(std::max<int64_t>(shape.numel(), 1))));
}

// A layer whose constructor takes a shape and what `options_of` makes.
template <class Layer>
Norm row(const char* name, bool takes_alpha, auto options_of) {
  return {name, takes_alpha, [=](const Shape& shape, const NormOptions& options) {
            return std::make_unique<Layer>(shape, options_of(shape, options));
          }};
}

// In the order of norm_names(). Written by register_norm() before main(), only read afterwards.
std::vector<Norm>& norms() {
  using S = const Shape&;
  using O = const NormOptions&;
  static std::vector<Norm> all = {
      {"none", false, [](S, O) { return std::make_unique<Identity>(); }},
      row<LayerNorm>("layernorm", false,
                     [](S, O o) { return LayerNormOptions{.eps = o.eps, .bias = o.bias}; }),
      row<RMSNorm>("rmsnorm", false, [](S, O o) { return RMSNormOptions{.eps = o.eps}; }),
      row<PRMSNorm>("prmsnorm", false,
                    [](S s, O o) { return PRMSNormOptions{.p = measured(s, o), .eps = o.eps}; }),
      row<RowBatchNorm>("batchnorm", false,
                        [](S, O o) { return RowBatchNormOptions{.eps = o.eps, .bias = o.bias}; }),
      row<RowGroupNorm>(
          "groupnorm", false,
          [](S, O o) { return RowGroupNormOptions{.eps = o.eps, .groups = o.groups, .bias = o.bias}; }),
      {"centernorm", false, [](S s, O) { return std::make_unique<CenterNorm>(s); }},
      row<StdNorm>("stdnorm", false, [](S, O o) { return StdNormOptions{.eps = o.eps}; }),
      row<DyT>("dyt", true,
               [](S, O o) { return DyTOptions{.alpha = o.alpha.value_or(0.5), .bias = o.bias}; }),
      row<DyTSqrtD>("dyt_sqrtd", true,
                    [](S, O o) { return DyTSqrtDOptions{.inv_rho = o.alpha.value_or(1), .bias = o.bias}; }),
      row<DyISRU>("dyisru", true, [](S, O o) { return DyISRUOptions{.c = o.alpha, .bias = o.bias}; }),
      row<Derf>("derf", true,
                [](S, O o) { return DerfOptions{.alpha = o.alpha.value_or(0.5), .bias = o.bias}; })};
  return all;
}

const Norm* find(std::string_view name) {
  const auto at = std::ranges::find(norms(), name, &Norm::name);
  return at != norms().end() ? &*at : nullptr;
}

Choices& all_names() {
  static Choices names = [] {
    Choices of_rows;
    for (const Norm& norm : norms()) of_rows.push_back(norm.name);
    return of_rows;
  }();
  return names;
}

}  // namespace

const Choices& norm_names() { return all_names(); }

bool register_norm(const std::string& name, NormMaker make) {
  check(!name.empty() && find(name) == nullptr, "register_norm: the name '{}' is taken; there are {}", name,
        fmt::join(norm_names(), ", "));
  all_names().push_back(name);
  norms().push_back({name, true, std::move(make)});
  return true;
}

bool takes_alpha(std::string_view name) {
  const Norm* const norm = find(name);
  return norm != nullptr && norm->takes_alpha;
}

std::unique_ptr<Module> make_norm(std::string_view name, const Shape& shape, const NormOptions& options) {
  const Norm* const norm = find(name);
  check(norm != nullptr, "norm: wanted one of {}, got {}", fmt::join(norm_names(), ", "), name);
  return norm->make(shape, options);
}

}  // namespace isobar
