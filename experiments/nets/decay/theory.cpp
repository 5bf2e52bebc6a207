// Letters: n width, B batch, v = n Var(W), q mean square of a layer's input, c the cosine between two rows of
// it, p and rho the same of the pre-activations z = W x + b, φ the activation. Gradients are followed as the
// squared length of one row, `self`, and the product of two rows, `cross`.
#include "theory.h"

#include <cmath>
#include <numbers>

#include "rows.h"

namespace isobar::decay {
namespace {

using std::numbers::inv_pi;
using std::numbers::pi;

constexpr double eps = 1e-5;                          // of LayerNorm and RMSNorm
const double relu_std = std::sqrt(0.5 - inv_pi / 2);  // of relu(z) for p = 1: 0.58382

double angle(double rho) { return std::acos(std::clamp(rho, -1.0, 1.0)); }
// κ: the cosine between relu(z_a) and relu(z_b).
double relu_cosine(double rho) { return (std::sin(angle(rho)) + rho * (pi - angle(rho))) / pi; }
// The probability that z_b > 0 where z_a > 0.
double both_active(double rho) { return (pi - angle(rho)) / pi; }

// E f(g), g a standard normal number. Where f is smooth over a step, the trapezoid rule is exact but for
// rounding.
template <class F>
double normal_mean(const F& f) {
  constexpr double step = 1.0 / 64;
  double sum = 0;
  for (double g = -10; g <= 10; g += step) sum += f(g) * std::exp(-g * g / 2);
  return sum * step * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

struct ValueAndSlope {
  double value, slope;
};
ValueAndSlope smooth(const std::string& activation, double z) {
  if (activation == "tanh") return {std::tanh(z), 1 - std::tanh(z) * std::tanh(z)};
  const bool gelu = activation == "gelu";
  const double gate = gelu ? std::erfc(-z / std::numbers::sqrt2) / 2 : 1 / (1 + std::exp(-z));
  const double slope =
      gelu ? std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2 : gate * (1 - gate);
  return {z * gate, gate + z * slope};
}

// Of φ(z), z normal with mean square p; and of φ(z_a) and φ(z_b), which have the correlation rho.
struct Activated {
  double square, std;         // E φ², √(E φ² − (E φ)²)
  double slope;               // E φ'²
  double cosine, slope_pair;  // of φ_a and φ_b; E φ'_a φ'_b. 0 for smooth φ, where the loss random needs none
};
Activated activated(const Config& config, double p, double rho) {
  if (config.activation == "relu")
    return {p / 2, std::sqrt(p) * relu_std, 0.5, relu_cosine(rho), both_active(rho) / 2};
  if (config.activation == "none") return {p, std::sqrt(p), 1, rho, 1};
  // Beyond, the rule's steps are too wide.
  const double scale = p < 1000 ? std::sqrt(p) : std::numeric_limits<double>::quiet_NaN();
  const auto mean = [&](const auto& f) {
    return normal_mean([&](double g) { return f(smooth(config.activation, scale * g)); });
  };
  const double first = mean([](const ValueAndSlope& at) { return at.value; });
  const double square = mean([](const ValueAndSlope& at) { return at.value * at.value; });
  return {square, std::sqrt(square - first * first),
          mean([](const ValueAndSlope& at) { return at.slope * at.slope; }), 0, 0};
}

// The weight w of a layer in k: how much of one row's random step is left in the mean over the batch.
double step_of_mean(int64_t batch, double rho) {
  const double theta = angle(rho), cosine = std::cos(theta), rows = static_cast<double>(batch);
  const double kappa2 =
      2 * inv_pi * (3 * std::sin(theta) * cosine + (pi - theta) * (1 + 2 * cosine * cosine));
  return 1 / rows + (1 - 1 / rows) * (kappa2 - 1) / 5;
}

bool is_orthogonal(const Config& config) { return config.init.starts_with("orthogonal"); }

// Whether rows.h holds: of norms and ReLUs.
bool has_row_law(const Config& config) {
  return (config.norm == "rmsnorm" || config.norm == "layernorm") && config.activation == "relu";
}
// The noise of a layer, times the width.
double layer_noise(const Config& config) { return config.topology == "plain" && has_row_law(config) ? 2 : 0; }
double block_noise(double a) { return a * (2 + 3 * a) / ((1 + a) * (1 + a)); }
// How much nearer a layer's noise brings two rows of cosine c.
double drawn_together(double c, double noise) { return 1 - (1 - c) * std::exp(-noise); }

// How the noise of two rows correlates on the way up through a layer: half of it is that of r², half that of
// m/q, E (1 − g_a²)(1 − g_b²) sign(g_a g_b) / 2.
double way_up_correlation(double rho) {
  const double r = std::clamp(rho, -1.0, 1.0);
  return (r * r + inv_pi * (2 * r * r * std::asin(r) + r * std::sqrt(1 - r * r))) / 2;
}

double ratio(double cross, double self) { return self > 0 ? cross / self : 0; }

// The distribution over nets of width n of what is `value` at infinite width and passes k layers.
Prediction at_finite_width(const Config& config, double value, double k) {
  if (config.norm != "none" || config.activation != "relu") return {.median = value};
  const double beta = is_orthogonal(config) ? 3 : 5;
  const double log_sd = std::sqrt(beta * k / static_cast<double>(config.width)) / 2;
  return {value * std::exp(-log_sd * log_sd), log_sd};
}

struct Initial {
  double v;     // n Var(W)
  double bias;  // Var(b)
};

Initial initial_of(const Config& config) {
  const auto n = static_cast<double>(config.width);
  const std::string& name = config.init;
  if (name == "default") return {1.0 / 3, 1 / (3 * n)};  // U(−1/√n, 1/√n) has variance 1/(3n)
  if (name == "default_nobias") return {1.0 / 3, 0};
  if (name == "normal01") return {n, 0};
  if (name.starts_with("he_") || name == "orthogonal_sqrt2") return {2, 0};
  return {1, 0};  // Xavier and LeCun on square matrices, and orthogonal ones
}

// Of one row of W x + b, and of two: mean square and correlation; and the share of p that is not the bias's.
struct PreActivation {
  double p, rho, from_below;
};
PreActivation linear_step(const Initial& initial, double q, double c) {
  const double p = initial.v * q + initial.bias;
  // Without bias correlation and share do not depend on q, which may have underflowed.
  if (initial.bias == 0) return {p, c, 1};
  return {p, (initial.v * q * c + initial.bias) / p, initial.v * q / p};
}

// ‖dL/dW‖ = ‖Σ_b dz_b x_bᵀ‖, the x of mean square q and cosine c.
double gradient_norm(const Config& config, double self, double cross, double q, double c) {
  const auto n = static_cast<double>(config.width), batch = static_cast<double>(config.batch);
  return std::sqrt(n * q * (batch * self + batch * (batch - 1) * cross * c));
}

// The same at finite width, after the noise of `rows`. The net's own input has rows of mean cosine 0, but of
// mean square cosine 1/n: where they are alike, so are their masks, d/dρ ln both_active(0) = 2/π.
Prediction normed_gradient(const Config& config, const Rows& rows, double self, double cross, double q,
                           double c, bool first) {
  if (first) c = 2 * inv_pi / static_cast<double>(config.width);
  const double alike = ratio(cross, self);
  return {gradient_norm(config, self, cross, q, c) * std::exp(-rows.shrinks(c, alike) / 2),
          std::sqrt(rows.variance(c, alike)) / 2};
}

// One row of a gradient: its squared length, and the product of two rows.
struct Gradient {
  double self, cross;
};
// dL/dx at the top.
Gradient top_of(const Config& config) {
  const auto n = static_cast<double>(config.width), batch = static_cast<double>(config.batch);
  if (config.loss == "random") return {n, 0};
  const double dy = config.loss == "mean" ? 1 / (n * batch) : 1;
  return {n * dy * dy, n * dy * dy};
}

// A layer of a plain chain on the way up.
struct PlainStage {
  double q, c;  // of the input
  PreActivation z;
  double k;  // layers that the input has passed
  Activated output;
};

// Fills in output_std.
std::vector<PlainStage> plain_up(const Config& config, std::vector<LayerTheory>& theory) {
  const Initial initial = initial_of(config);
  const bool normed = config.norm != "none";
  std::vector<PlainStage> stages;
  double q = 1, c = 0, k = 0;
  for (LayerTheory& layer : theory) {
    const PreActivation z = linear_step(initial, q, c);
    const double s = normed && config.order == "norm_relu" ? z.p / (z.p + eps) : z.p;  // mean square before φ
    stages.push_back({q, c, z, k, activated(config, s, z.rho)});
    const Activated& output = stages.back().output;
    c = drawn_together(output.cosine, layer_noise(config) / static_cast<double>(config.width));
    k = step_of_mean(config.batch, z.rho) + z.from_below * z.from_below * k;
    if (config.order == "norm_relu") {
      layer.output_std = at_finite_width(config, output.std, k);
      q = output.square;
    } else if (config.norm == "layernorm") {
      const double variance = z.p * relu_std * relu_std;
      q = variance / (variance + eps);
      c = (c / 2 - inv_pi / 2) / (relu_std * relu_std);
      layer.output_std.median = std::sqrt(q);
    } else {
      q = z.p / 2 / (z.p / 2 + eps);
      layer.output_std.median = std::sqrt(q * (1 - inv_pi));
    }
  }
  return stages;
}

// Of φ'(y) dx, y = N(z), what the norm's Jacobian leaves: a projection, and a division by the rms of z. At
// the top of the loss sum dx = 1, and relu'(y) · 1 has shares along 1 and along y: the projection takes a part
// of order 1. Of the loss random it takes 1/n per direction; further down it takes what rows.h says.
Gradient before_norm(const Config& config, const Gradient& dx, const Gradient& dy, const PreActivation& z,
                     bool top) {
  const bool centred = config.norm == "layernorm", ones = top && config.loss != "random";
  const double share = 1 / static_cast<double>(config.width);
  const double kept = ones                                 ? 1
                      : top || config.activation != "relu" ? 1 - (centred ? 2 : 1) * share
                      : centred                            ? std::exp(-inv_pi * share)
                                                           : 1;
  Gradient dz{dy.self * kept, dy.cross * kept};
  if (ones) {
    dz.self -= dx.self * (inv_pi / 2 + (centred ? 0.25 : 0));
    dz.cross -= dx.cross * (z.rho * inv_pi / 2 + (centred ? 0.25 : 0));
  }
  return {dz.self / (z.p + eps), dz.cross / (z.p + eps)};
}

// The same of relu'(z) N'(y)ᵀ dx, y = RMSNorm(relu(z)): relu'(z) (1 − y/√π) for dx = 1.
Gradient before_relu(const Config& config, const Gradient& dx, const Gradient& dy, const PreActivation& z,
                     bool top) {
  const bool ones = top && config.loss != "random";
  const double kept = top && !ones ? 1 - 1 / static_cast<double>(config.width) : 1, square = z.p / 2 + eps;
  if (!ones) return {dy.self * kept / square, dy.cross * kept / square};
  return {(dy.self - dx.self * inv_pi) / square,
          (dy.cross - dx.cross * inv_pi * (1 + z.rho - relu_cosine(z.rho))) / square};
}

// Fills in weight_gradient_norm. dx is the gradient without its share along x, which `along` has where known.
void plain_down(const Config& config, const std::vector<PlainStage>& stages,
                std::vector<LayerTheory>& theory) {
  const size_t depth = theory.size();
  const Initial initial = initial_of(config);
  const bool normed = config.norm != "none";
  const bool euler = !normed && initial.bias == 0 && config.loss != "random" && config.activation == "relu";
  const double top = top_of(config).self;
  const auto share_along_x = [&](size_t l) {
    return top * inv_pi * std::pow(initial.v / 2, static_cast<double>(depth - 1 - l));
  };
  Gradient dx = top_of(config);
  Rows rows(config.batch, ratio(dx.cross, dx.self));
  for (size_t l = depth; l-- > 0;) {
    const PlainStage& stage = stages[l];
    const bool last = l + 1 == depth;
    if (!last)
      rows.noise(layer_noise(config) / static_cast<double>(config.width), ratio(dx.cross, dx.self),
                 way_up_correlation(stage.z.rho));
    rows.mask(stage.output.slope_pair / stage.output.slope);
    const double along = euler && !last ? share_along_x(l) : 0;
    Gradient dz{dx.self * stage.output.slope + along,
                dx.cross * stage.output.slope_pair + along * stage.output.cosine};
    if (normed) dz = (config.order == "norm_relu" ? before_norm : before_relu)(config, dx, dz, stage.z, last);

    const double layers = stage.k + static_cast<double>(depth - l);
    theory[l].weight_gradient_norm =
        has_row_law(config)
            ? normed_gradient(config, rows, dz.self, dz.cross, stage.q, stage.c, l == 0)
            : at_finite_width(config, gradient_norm(config, dz.self, dz.cross, stage.q, stage.c), layers);
    dx = {initial.v * dz.self, initial.v * dz.cross};
    if (euler && is_orthogonal(config) && l > 0) {  // |Wᵀ dz|² is v |dz|² with the share along x in it
      dx.self -= share_along_x(l - 1);
      dx.cross -= share_along_x(l - 1) * stage.c;
    }
  }
}

// φ(N(W x + b)) or N(φ(W x + b)).
std::vector<LayerTheory> plain_theory(const Config& config) {
  std::vector<LayerTheory> theory(static_cast<size_t>(config.depth));
  const std::vector<PlainStage> stages = plain_up(config, theory);
  // LayerNorm after the ReLU drives rows apart: their gradients explode, which is not derived here.
  if (config.order == "norm_relu" || config.norm == "rmsnorm") plain_down(config, stages, theory);
  return theory;
}

// What makes of √q the median std of a stream whose rows have the cosine c: the sample's n − 1; the mean of
// all elements, which is normal, so that its square has the median 0.455 of its mean; and the scatter of ln q.
double stream_std(const Config& config, double c, double scatter) {
  const auto n = static_cast<double>(config.width), batch = static_cast<double>(config.batch);
  const double sample = std::sqrt(n * batch / (n * batch - 1));
  if (config.topology == "post" && config.norm == "layernorm") return sample;
  const double mean_square = 0.455 * (c + (1 - c) / batch) / n;
  return sample * std::exp(-mean_square / 2 - scatter * c * c / 4);
}

// x + a f(x), x + f(N(x)) or N(x + f(x)), f(x) = W2 φ(W1 x + b1) + b2. Outputs have mean 0 and std √q.
std::vector<LayerTheory> block_theory(const Config& config) {
  const size_t depth = static_cast<size_t>(config.depth);
  const Initial initial = initial_of(config);
  const bool pre = config.topology == "pre" && config.norm != "none";
  const bool post = config.topology == "post" && config.norm != "none";
  // rezero's a and fixup's W2 are 0: the branch neither adds to x nor lets a gradient reach W1.
  const bool silent = config.topology == "rezero" || config.topology == "fixup";
  const double a = silent ? 0 : config.topology == "skipinit" ? config.branch_scale() : 1;
  const bool normed = has_row_law(config), centred = config.norm == "layernorm";
  const auto n = static_cast<double>(config.width);
  std::vector<LayerTheory> theory(depth);

  // Up.
  struct Stage {
    double branch_q, c;  // of the input of f
    Activated inside;    // after φ
    double branch_norm;  // the factor of squared gradients through pre's norm, else 1
    double output_norm;  // the same for post's
    double noise, way_up;
  };
  std::vector<Stage> stages;
  double q = 1, c = 0, scatter = 2 / n;  // the variance of ln q
  for (LayerTheory& layer : theory) {
    const double branch_norm = pre ? 1 / (q + eps) : 1;
    const auto [p, rho, from_below] = linear_step(initial, q * branch_norm, c);
    const Activated inside = activated(config, p, rho);
    const double added = a * a * (initial.v * inside.square + initial.bias);
    const double added_cross = a * a * (initial.v * inside.square * inside.cosine + initial.bias);
    const double sum_q = q + added;
    const double output_norm = post ? 1 / (sum_q + eps) : 1;
    // pre's norm divides by q, E 1/q = (1 + scatter)/E q, and its projection takes 1/n.
    const double through = pre && normed ? branch_norm * (1 + scatter - 1 / n) : branch_norm;
    const double share = initial.v * initial.v * inside.slope * branch_norm;
    const double noise = normed ? block_noise(share) / n : 0;
    stages.push_back({q * branch_norm, c, inside, through, output_norm, noise, pre ? 1 : rho * rho});
    scatter = (scatter + share * (4 + 7 * share) / n) / ((1 + share) * (1 + share));
    c = drawn_together((q * c + added_cross) / sum_q, noise);
    q = sum_q * output_norm;
    layer.output_std.median = std::sqrt(q);
    if (normed) layer.output_std.median *= stream_std(config, c, pre ? scatter : 0);
  }

  // Down. A LayerNorm's outputs sum to 0, so after a last one the losses sum and mean have no gradient.
  auto [self, cross] = top_of(config);
  if (post && centred && config.loss != "random") self = cross = 0;
  Rows rows(config.batch, ratio(cross, self));
  for (size_t l = depth; l-- > 0;) {
    const Stage& stage = stages[l];
    double norm = stage.output_norm;
    if (post && normed && l + 1 == depth) norm *= 1 - (centred ? 2 : 1) / n;  // the projection at the top
    // The input's rows differ in length, and have a mean: E 1/r² is above 1/E r².
    if (post && normed && l == 0) norm *= 1 + (centred ? 3 : 2) / n * stage.output_norm * stage.output_norm;
    self *= norm;
    cross *= norm;
    const double overlap = stage.inside.slope_pair / stage.inside.slope;
    const double dz_self = a * a * initial.v * self * stage.inside.slope;
    const double dz_cross = a * a * initial.v * cross * stage.inside.slope_pair;
    if (normed) {
      Rows inside = rows;
      inside.noise(2 / n, ratio(cross, self), 1);
      inside.mask(overlap);
      theory[l].weight_gradient_norm =
          normed_gradient(config, inside, dz_self, dz_cross, stage.branch_q, stage.c, l == 0);
      if (pre) theory[l].weight_gradient_norm.log_sd = std::numeric_limits<double>::quiet_NaN();
    } else {
      theory[l].weight_gradient_norm.median =
          gradient_norm(config, dz_self, dz_cross, stage.branch_q, stage.c);
    }
    rows.noise(stage.noise, ratio(cross, self), stage.way_up);
    const double added = initial.v * a * a * initial.v * stage.inside.slope * stage.branch_norm;
    rows.mask((1 + added * overlap) / (1 + added));
    self += initial.v * dz_self * stage.branch_norm;
    cross += initial.v * dz_cross * stage.branch_norm;
  }
  return theory;
}

// The same for all layers.
double along_one(const Config& config) {
  const double random_direction = 1 / static_cast<double>(config.width);
  const bool norm_last = config.is_block() ? config.topology == "post" : config.order == "relu_norm";
  if (norm_last && config.norm == "layernorm") return 0;
  if (config.is_block()) return std::sqrt(random_direction);
  if (config.activation != "relu") return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt(inv_pi + (1 - inv_pi) * random_direction);
}

}  // namespace

std::vector<LayerTheory> theory_of(const Config& config) {
  // The closed forms know two norms.
  const bool known = config.norm == "none" || config.norm == "layernorm" || config.norm == "rmsnorm";
  const bool relu = config.activation == "relu";
  if (!known || (!relu && config.order == "relu_norm"))
    return std::vector<LayerTheory>(static_cast<size_t>(config.depth));
  std::vector<LayerTheory> theory = config.is_block() ? block_theory(config) : plain_theory(config);
  // What the rows of a smooth φ have in common, and what a norm takes of the gradient 1, is not known here.
  const bool gradients =
      relu || config.loss == "random" || (config.activation == "none" && config.norm == "none");
  for (LayerTheory& layer : theory) {
    layer.along_one = along_one(config);
    if (!gradients) layer.weight_gradient_norm = {};
  }
  return theory;
}

bool knows_finite_width(const Config& config) {
  return has_row_law(config) ||
         (config.topology == "plain" && config.norm == "none" && config.activation == "relu");
}

}  // namespace isobar::decay
