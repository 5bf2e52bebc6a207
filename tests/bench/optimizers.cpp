// AdamW alone: P tensors of S elements, each with a gradient.
//
// Weight, gradient and both moments are read, all but the gradient written: 7 floats an element, in four
// arrays.
#include <fmt/format.h>

#include <memory>

#include "../../core/rng.h"
#include "../../optim/optim.h"
#include "case.h"

namespace isobar::bench {
namespace {

void add_adamw(Cases& cases, int64_t tensors, int64_t elements) {
  const double bytes = 4.0 * static_cast<double>(tensors * elements);
  cases.push_back({.name = fmt::format("opt_adamw_{}x{}", tensors, elements),
                   .work = moved_bytes(7 * bytes, 4 * bytes),
                   .setup = [tensors, elements] {
                     const Rng rng(0);
                     std::vector<Tensor> weights, gradients;
                     for (int64_t i = 0; i < tensors; ++i) {
                       weights.push_back(rng.split("weight").split(i).normal({elements}).set_trainable());
                       gradients.push_back(rng.split("gradient").split(i).normal({elements}));
                     }
                     const auto optimizer = std::make_shared<AdamW>(weights);
                     return Step([weights, gradients, optimizer] {
                       for (size_t i = 0; i < weights.size(); ++i) weights[i].set_grad(gradients[i]);
                       optimizer->step();
                     });
                   }});
}

}  // namespace

void add_optimizers(Cases& cases) {
  add_adamw(cases, 64, 262144);
  add_adamw(cases, 128, 512);
}

}  // namespace isobar::bench
