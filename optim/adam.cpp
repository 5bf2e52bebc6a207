#include "adam.h"

#include "../core/kernels/optim.h"

namespace isobar {

Adam::Adam(const std::vector<Tensor>& parameters, const AdamOptions& options)
    : Adam(std::vector<ParameterGroup>{{.parameters = parameters}}, options) {}

Adam::Adam(const std::vector<ParameterGroup>& groups, const AdamOptions& options)
    : Adam("adam", "Adam's step", Decay::penalty, groups, options) {}

AdamW::AdamW(const std::vector<Tensor>& parameters, const AdamWOptions& options)
    : AdamW(std::vector<ParameterGroup>{{.parameters = parameters}}, options) {}

AdamW::AdamW(const std::vector<ParameterGroup>& groups, const AdamWOptions& options)
    : Adam("adam_w", "AdamW's step", Decay::decoupled, groups,
           {options.lr, options.beta1, options.beta2, options.eps, options.weight_decay}) {}

Adam::Adam(const char* op, const char* writer, Decay decay, const std::vector<ParameterGroup>& groups,
           const AdamOptions& options)
    : Optimizer({.op = op, .writer = writer, .states = {"first_moment", "second_moment"}}, groups, options.lr,
                options.weight_decay),
      options_(options),
      decay_(decay) {
  check(options.beta1 >= 0 && options.beta1 < 1, "{}: beta1 must be in [0, 1), got {}", op, options.beta1);
  check(options.beta2 >= 0 && options.beta2 < 1, "{}: beta2 must be in [0, 1), got {}", op, options.beta2);
  check(options.eps >= 0 && std::isfinite(options.eps), "{}: eps must be finite and not negative, got {}", op,
        options.eps);
}

void Adam::update(const Update& u, int64_t begin, int64_t end) const {
  const bool penalty = decay_ == Decay::penalty;
  const kernels::AdamStep step{.lr = u.lr,
                               .beta1 = options_.beta1,
                               .beta2 = options_.beta2,
                               .eps = options_.eps,
                               .l2 = penalty ? u.weight_decay : 0,
                               .shrink = penalty ? 1 : 1 - u.lr * u.weight_decay,
                               .factor = u.factor,
                               .count = u.count};
  u.part(begin, end,
         [&](const auto& run) { kernels::adam(run.n, run.dw, run.w, run.state[0], run.state[1], step); });
}

}  // namespace isobar
