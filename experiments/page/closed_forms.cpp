#include "closed_forms.h"

#include "../nets/decay/reference.h"

namespace isobar::facts {
namespace {

using decay::Config, decay::LayerTheory, decay::Reference, decay::ReferenceCell;

constexpr double rounding = 5e-4;  // the reference has medians of four digits

double ratio_to_last(const std::vector<LayerTheory>& theory, size_t layer) {
  return theory[layer].weight_gradient_norm.median / theory.back().weight_gradient_norm.median;
}

Reference reference(const std::string& key) {
  for (Reference& one : decay::depth_reference())
    if (one.config.key() == key) return one;
  throw Error(fmt::format("the reference has no net {}", key));
}

std::vector<LayerTheory> infinitely_wide(Config config) {
  config.width = int64_t{1} << 40;
  return theory_of(config);
}

const char* const post_norm = "post.he_normal.rmsnorm.random.D1000";

}  // namespace

ClosedForms beside_pytorch() {
  ClosedForms all;
  for (const Reference& one : decay::depth_reference()) {
    if (one.config.norm == "none" || !knows_finite_width(one.config)) continue;
    ++all.nets;
    const std::vector<LayerTheory> theory = theory_of(one.config);
    const auto compare = [&](const std::vector<ReferenceCell>& cells,
                             decay::Prediction LayerTheory::*quantity) {
      for (const ReferenceCell& cell : cells) {
        if (!(cell.median > 0)) continue;
        const auto [z, agrees] =
            agreement_of(theory[static_cast<size_t>(cell.layer - 1)].*quantity, cell.median,
                         cell.log10_sd * std::log(10), one.config.seeds, rounding);
        ++all.medians;
        all.within += agrees;
        all.largest = std::fmax(all.largest, std::abs(z));
      }
    };
    compare(one.output_std, &LayerTheory::output_std);
    compare(one.weight_gradient_norm, &LayerTheory::weight_gradient_norm);
  }
  return all;
}

double lost_to_width() {
  const Reference one = reference(post_norm);
  const std::vector<ReferenceCell>& torch = one.weight_gradient_norm;
  return ratio_to_last(infinitely_wide(one.config), 0) * torch.back().median / torch.front().median;
}

Plot gradients_by_layer() {
  Plot plot{.title = "gradient of each layer's weight, over that of the last layer",
            .x = "layer, counted from the input; 1000 layers or blocks of width 128",
            .y = "ratio",
            .log = true};
  PlotCurve torch{.label = "PyTorch's medians", .role = Role::printed};
  for (const auto& [key, name] :
       {std::pair{"plain.he_normal.rmsnorm.sum.D1000", "plain chain"}, std::pair{post_norm, "post-norm"},
        std::pair{"pre.default.rmsnorm.random.D1000", "pre-norm"}}) {
    const Reference one = reference(key);
    const std::vector<LayerTheory> theory = theory_of(one.config), wide = infinitely_wide(one.config);
    const int colour = static_cast<int>(plot.curves.size() / 2);
    PlotCurve narrow{.label = name, .colour = colour},
        infinite{.label = fmt::format("{}, infinitely wide", name), .role = Role::theory, .colour = colour};
    for (size_t layer = 0; layer < theory.size(); layer += 9) {
      for (PlotCurve* curve : {&narrow, &infinite}) curve->x.push_back(static_cast<double>(layer + 1));
      narrow.y.push_back(ratio_to_last(theory, layer));
      infinite.y.push_back(ratio_to_last(wide, layer));
    }
    for (const ReferenceCell& cell : one.weight_gradient_norm) {
      torch.x.push_back(static_cast<double>(cell.layer));
      torch.y.push_back(cell.median / one.weight_gradient_norm.back().median);
    }
    plot.curves.push_back(narrow);
    plot.curves.push_back(infinite);
  }
  plot.curves.push_back(torch);
  return plot;
}

}  // namespace isobar::facts
