#include "adam_w.h"

#include <cmath>

#include "../core/kernels/optim.h"

namespace isobar {

AdamW::AdamW(const std::vector<Tensor>& parameters, const AdamWOptions& options)
    : AdamW(std::vector<ParameterGroup>{{.parameters = parameters}}, options) {}

AdamW::AdamW(const std::vector<ParameterGroup>& groups, const AdamWOptions& options)
    : Optimizer("adam_w", groups, options.lr, options.weight_decay, {"first_moment", "second_moment"}),
      options_(options) {
  check(options.beta1 >= 0 && options.beta1 < 1, "adam_w: beta1 must be in [0, 1), got {}", options.beta1);
  check(options.beta2 >= 0 && options.beta2 < 1, "adam_w: beta2 must be in [0, 1), got {}", options.beta2);
  check(options.eps >= 0 && std::isfinite(options.eps), "adam_w: eps must be finite and not negative, got {}",
        options.eps);
}

void AdamW::update(const Update& u) const {
  const kernels::AdamStep step{.lr = u.lr,
                               .beta1 = options_.beta1,
                               .beta2 = options_.beta2,
                               .eps = options_.eps,
                               .l2 = 0,
                               .shrink = 1 - u.lr * u.weight_decay,
                               .factor = u.factor,
                               .count = u.count};
  dispatch_float("adam_w", u.dtype, [&]<class T>() {
    kernels::adam(u.n, u.dw<T>(), u.w<T>(), u.state<T>(0), u.state<T>(1), step);
  });
}

}  // namespace isobar
