#include "sgd.h"

#include "../core/kernels/optim.h"

namespace isobar {

SGD::SGD(const std::vector<Tensor>& parameters, const SGDOptions& options)
    : SGD(std::vector<ParameterGroup>{{.parameters = parameters}}, options) {}

SGD::SGD(const std::vector<ParameterGroup>& groups, const SGDOptions& options)
    : Optimizer({.op = "sgd",
                 .writer = "SGD's step",
                 .states = std::vector<std::string>(options.momentum != 0 ? 1 : 0, "momentum")},
                groups, options.lr, options.weight_decay),
      options_(options) {
  check(options.momentum >= 0 && options.momentum < 1, "sgd: momentum must be in [0, 1), got {}",
        options.momentum);
  check(!options.nesterov || options.momentum > 0, "sgd: nesterov wants a momentum above 0; set .momentum");
}

void SGD::update(const Update& u, int64_t begin, int64_t end) const {
  const kernels::SgdStep step{u.lr, options_.momentum, u.weight_decay, options_.nesterov, u.factor};
  u.part(begin, end, [&](const auto& run) { kernels::sgd(run.n, run.dw, run.w, run.state[0], step); });
}

}  // namespace isobar
