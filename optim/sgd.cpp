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

void SGD::update(const Update& u) {
  const kernels::SgdStep step{u.lr, options_.momentum, u.weight_decay, options_.nesterov};
  dispatch_float("sgd", u.parameter.dtype(), [&]<class T>() {
    T* momentum = u.state.empty() ? nullptr : u.state[0].write<T>();
    kernels::sgd(u.parameter.numel(), u.gradient.data<T>(), u.parameter.write<T>(), momentum, step);
  });
}

}  // namespace isobar
