#include "saturation.h"

#include "../../../core/kernels/reduce.h"
#include "../../../nn/activation.h"
#include "../../../nn/dyt.h"

namespace isobar {
namespace {

// An output y = bound · u · weight + bias with |u| < 1: where it is saturated.
struct Bounded {
  double bound, saturated_u;
  Tensor weight, bias;  // undefined: 1 and 0
};

const double of_tanh = std::sqrt(0.9), of_isru = std::sqrt(1 - std::pow(0.1, 2.0 / 3)),
             of_erf = std::erf(std::sqrt(std::log(10.0)));

std::optional<Bounded> bounded(const Module& module) {
  const auto root_of_width = [](const Tensor& weight) {
    return std::sqrt(static_cast<double>(weight.numel()));
  };
  if (const auto* m = dynamic_cast<const DyT*>(&module)) return Bounded{1, of_tanh, m->weight, m->bias};
  if (const auto* m = dynamic_cast<const DyTSqrtD*>(&module))
    return Bounded{root_of_width(m->weight), of_tanh, m->weight, m->bias};
  if (const auto* m = dynamic_cast<const DyISRU*>(&module))
    return Bounded{root_of_width(m->weight), of_isru, m->weight, m->bias};
  if (const auto* m = dynamic_cast<const Derf*>(&module)) return Bounded{1, of_erf, m->weight, m->bias};
  if (const auto* m = dynamic_cast<const Softcap*>(&module)) return Bounded{m->cap, of_tanh, {}, {}};
  if (const auto* m = dynamic_cast<const ISRUClip*>(&module)) return Bounded{m->cap, of_isru, {}, {}};
  return std::nullopt;
}

// Of n elements of y, whose last dimensions are those of the weight.
template <class T>
double saturated_share(int64_t n, const T* y, const Bounded& of) {
  const double limit = of.bound * of.saturated_u;
  const int64_t width = of.weight.defined() ? of.weight.numel() : 1;
  const T* const weight = of.weight.defined() ? of.weight.data<T>() : nullptr;
  const T* const bias = of.bias.defined() ? of.bias.data<T>() : nullptr;
  const double saturated = kernels::parallel_sum(n, [&](int64_t i) {
    const int64_t c = i % width;
    const double w = weight != nullptr ? weight[c] : 1, b = bias != nullptr ? bias[c] : 0;
    return w != 0 && std::abs(static_cast<double>(y[i]) - b) > limit * std::abs(w) ? 1.0 : 0.0;
  });
  const double with_weight = weight == nullptr ? 1 : kernels::lane_sum(width, [&](int64_t c) {
                                                       return weight[c] != 0 ? 1.0 : 0.0;
                                                     }) / static_cast<double>(width);
  return saturated / (static_cast<double>(n) * with_weight);
}

}  // namespace

SaturatedShares shares_of(const Module& module, const Tensor& y) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (!is_float(y.dtype()) || y.numel() == 0) return {unknown, unknown};
  const Tensor whole = contiguous(y.detach());
  const std::optional<Bounded> of = bounded(module);
  return dispatch_float("shares_of", y.dtype(), [&]<class T>() {
    const int64_t n = whole.numel();
    const T* const values = whole.data<T>();
    const double zeros = kernels::parallel_sum(n, [&](int64_t i) { return values[i] == 0 ? 1.0 : 0.0; });
    return SaturatedShares{zeros / static_cast<double>(n), of ? saturated_share(n, values, *of) : unknown};
  });
}

void SaturationProbe::on_output(const Module& module, const Tensor& y) {
  shares_[module.path()] = shares_of(module, y);
}

const SaturatedShares* SaturationProbe::find(const std::string& path) const {
  const auto shares = shares_.find(path);
  return shares != shares_.end() ? &shares->second : nullptr;
}

}  // namespace isobar
