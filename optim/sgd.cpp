#include "sgd.h"

#include <cmath>

#include "../core/kernels/optim.h"

namespace isobar {

SGD::SGD(const std::vector<Tensor>& parameters, const SGDOptions& options)
    : SGD(std::vector<ParameterGroup>{{.parameters = parameters}}, options) {}

SGD::SGD(const std::vector<ParameterGroup>& groups, const SGDOptions& options)
    : Optimizer("sgd", groups, options.lr, options.weight_decay,
                options.momentum != 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{}),
      options_(options) {
  check(options.momentum >= 0 && std::isfinite(options.momentum),
        "sgd: momentum must be finite and not negative, got {}", options.momentum);
  check(!options.nesterov || options.momentum > 0, "sgd: nesterov wants a momentum above 0; set .momentum");
}

void SGD::update(const Update& u) const {
  const kernels::SgdStep step{u.lr, options_.momentum, u.weight_decay, options_.nesterov, u.factor};
  dispatch_float("sgd", u.dtype, [&]<class T>() {
    T* momentum = options_.momentum != 0 ? u.state<T>(0) : nullptr;
    kernels::sgd(u.n, u.dw<T>(), u.w<T>(), momentum, step);
  });
}

}  // namespace isobar
