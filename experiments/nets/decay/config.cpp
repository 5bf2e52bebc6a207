#include "config.h"

#include <cmath>

#include "../../../nn/norm.h"

namespace isobar::decay {

void Config::fields(Fields& f) {
  f("depth", depth, "layers (plain) or blocks of two", between(1, 100'000));
  f("width", width, "features of every layer", between(1, 16'384));
  f("batch", batch, "rows of the input", between(1, 65'536));
  f("seeds", seeds, "number of seeds, from --seed on", between(1, 10'000));
  f("init", init, "initial weights; all but default come with zero bias",
    {"default", "default_nobias", "normal01", "xavier_uniform", "xavier_normal", "he_uniform", "he_normal",
     "lecun_normal", "orthogonal", "orthogonal_sqrt2"});
  f("norm", norm, "normalization N", norm_names());
  f("activation", activation, "none: linear", activation_names());
  f("order", order, "in a plain layer", {"norm_relu", "relu_norm"});
  f("topology", topology,
    "plain chain, or blocks with f(x) = W2 act(W1 x): residual x + f(x), pre x + f(N(x)), post N(x + f(x)), "
    "skipinit and rezero x + a f(x), fixup",
    {"plain", "residual", "pre", "post", "skipinit", "rezero", "fixup"});
  f("loss", loss, "scalar loss: sum, mean, or randomly weighted sum of the output",
    {"sum", "mean", "random"});
  f("dtype", dtype, "data type of the computation", {"f32", "f64"});
  f("alpha", alpha,
    "alpha of dyt, derf, skipinit or a registered norm, 1/rho of dyt_sqrtd, C of dyisru; below 0: default");
}

void Config::check_together() const {
  check(batch * width >= 2,
        "--batch 1 --width 1: the std of a single number is undefined; take more of either");

  const bool normless = topology == "skipinit" || topology == "rezero" || topology == "fixup";
  check(norm == "none" || !normless,
        "--norm {} has no place in --topology {}, which is meant to do without; drop it or take pre or post",
        norm, topology);
  check(norm == "none" || topology != "residual",
        "--norm {} has no place in --topology residual, x + f(x); take pre or post", norm);
  check(init == "default" || topology != "fixup",
        "--init {} has no meaning with --topology fixup, which brings its own initial weights; drop it",
        init);
  check(activation == "relu" || topology != "fixup",
        "--activation {} has no place in --topology fixup, whose blocks have a ReLU of their own; drop it or "
        "take another topology",
        activation);
  check(order == "norm_relu" || topology == "plain",
        "--order {} has no meaning with --topology {}; drop it or take --topology plain", order, topology);
  check(order == "norm_relu" || norm != "none",
        "--order {} has no meaning without a norm; drop it or add --norm", order);
  check(alpha < 0 || takes_alpha(norm) || topology == "skipinit",
        "--alpha has no meaning here; drop it, or take --norm dyt, dyt_sqrtd, dyisru, derf or a registered "
        "one, or --topology skipinit");
  check(alpha != 0 || norm != "dyisru", "--alpha: C of dyisru must be above 0");
}

const Choices& activation_names() {
  static const Choices names{"relu", "gelu", "silu", "tanh", "none"};
  return names;
}

double Config::branch_scale() const { return alpha < 0 ? 1 / std::sqrt(static_cast<double>(depth)) : alpha; }

std::string Config::net_name() const {
  return fmt::format("{} {} {}{} {} D={}", topology, topology == "fixup" ? "he_normal" : init, norm,
                     activation == "relu"   ? ""
                     : activation == "none" ? " linear"
                                            : " " + activation,
                     loss, depth);
}

std::string Config::key() const {
  std::string key = net_name();
  std::erase(key, '=');
  std::replace(key.begin(), key.end(), ' ', '.');
  return key;
}

}  // namespace isobar::decay
