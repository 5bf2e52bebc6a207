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

void Adam::update(const Update& u) {
  const kernels::AdamStep step{.lr = u.lr,
                               .beta1 = options_.beta1,
                               .beta2 = options_.beta2,
                               .eps = options_.eps,
                               .l2 = u.weight_decay,
                               .shrink = 1,
                               .count = u.count};
  dispatch_float("adam", u.parameter.dtype(), [&]<class T>() {
    kernels::adam(u.parameter.numel(), u.gradient.data<T>(), u.parameter.write<T>(), u.state[0].write<T>(),
                  u.state[1].write<T>(), step);
  });
}

}  // namespace isobar
