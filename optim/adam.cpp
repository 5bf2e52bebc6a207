#include "adam.h"

#include <cmath>

#include "../core/kernels/optim.h"

namespace isobar {

Adam::Adam(const std::vector<Tensor>& parameters, const AdamOptions& options)
    : Adam(std::vector<ParameterGroup>{{.parameters = parameters}}, options) {}

Adam::Adam(const std::vector<ParameterGroup>& groups, const AdamOptions& options)
    : Optimizer("adam", groups, options.lr, options.weight_decay, {"first_moment", "second_moment"}),
      options_(options) {
  check(options.beta1 >= 0 && options.beta1 < 1, "adam: beta1 must be in [0, 1), got {}", options.beta1);
  check(options.beta2 >= 0 && options.beta2 < 1, "adam: beta2 must be in [0, 1), got {}", options.beta2);
  check(options.eps >= 0 && std::isfinite(options.eps), "adam: eps must be finite and not negative, got {}",
        options.eps);
}

void Adam::update(const Update& u) const {
  const kernels::AdamStep step{.lr = u.lr,
                               .beta1 = options_.beta1,
                               .beta2 = options_.beta2,
                               .eps = options_.eps,
                               .l2 = u.weight_decay,
                               .shrink = 1,
                               .factor = u.factor,
                               .count = u.count};
  dispatch_float("adam", u.dtype, [&]<class T>() {
    kernels::adam(u.n, u.dw<T>(), u.w<T>(), u.state<T>(0), u.state<T>(1), step);
  });
}

}  // namespace isobar
