#include "rmsprop.h"

#include "../core/kernels/optim.h"

namespace isobar {
namespace {

std::vector<std::string> states_of(const RMSpropOptions& options) {
  std::vector<std::string> names{"square_avg"};
  if (options.centered) names.push_back("grad_avg");
  if (options.momentum != 0) names.push_back("momentum_buffer");
  return names;
}

}  // namespace

RMSprop::RMSprop(const std::vector<Tensor>& parameters, const RMSpropOptions& options)
    : RMSprop(std::vector<ParameterGroup>{{.parameters = parameters}}, options) {}

RMSprop::RMSprop(const std::vector<ParameterGroup>& groups, const RMSpropOptions& options)
    : Optimizer({.op = "rmsprop", .writer = "RMSprop's step", .states = states_of(options)}, groups,
                options.lr, options.weight_decay),
      options_(options) {
  check(options.alpha >= 0 && options.alpha < 1, "rmsprop: alpha must be in [0, 1), got {}", options.alpha);
  check(options.momentum >= 0 && options.momentum < 1, "rmsprop: momentum must be in [0, 1), got {}",
        options.momentum);
  check(options.eps >= 0 && std::isfinite(options.eps),
        "rmsprop: eps must be finite and not negative, got {}", options.eps);
}

void RMSprop::update(const Update& u, int64_t begin, int64_t end) const {
  const kernels::RmsPropStep step{u.lr,           options_.alpha,    options_.eps,
                                  u.weight_decay, options_.momentum, u.factor};
  u.part(begin, end, [&](const auto& run) {
    kernels::rmsprop(run.n, run.dw, run.w, run.state[0], options_.centered ? run.state[1] : nullptr,
                     options_.momentum == 0 ? nullptr : run.state[options_.centered ? 2 : 1], step);
  });
}

}  // namespace isobar
