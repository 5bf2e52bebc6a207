#include "prediction.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace isobar::trains {
namespace {

using std::numbers::pi;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double squared(double x) { return x * x; }

// E f(g), g a standard normal number: the trapezoid rule, exact but for rounding where f is smooth over a step.
template <class F>
double normal_mean(const F& f) {
  constexpr double step = 1.0 / 16;
  double sum = 0;
  for (double g = -8; g <= 8; g += step) sum += f(g) * std::exp(-g * g / 2);
  return sum * step * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

// What a function does to normal numbers of a root mean square: that of its values, and of its slope.
struct Passed {
  double rms, slope;
};

Passed after_norm(const Net& net, double rms) {
  const std::string name = net.norm_name();
  const double d = static_cast<double>(net.width), root = std::sqrt(d);
  const auto elementwise = [&](const auto& value, const auto& slope) {
    return Passed{std::sqrt(normal_mean([&](double g) { return squared(value(rms * g)); })),
                  std::sqrt(normal_mean([&](double g) { return squared(slope(rms * g)); }))};
  };
  if (name == "none") return {rms, 1};
  if (name == "dyt_sqrtd")
    return elementwise([&](double x) { return root * std::tanh(x / root); },
                       [&](double x) { return 1 / squared(std::cosh(x / root)); });
  if (name == "dyt")
    return elementwise([](double x) { return std::tanh(x / 2); },
                       [](double x) { return 0.5 / squared(std::cosh(x / 2)); });
  if (name == "dyisru")
    return elementwise([&](double x) { return root * x / std::sqrt(x * x + d); },
                       [&](double x) { return root * d / std::pow(x * x + d, 1.5); });
  return {1, 1 / rms};  // RMSNorm and LayerNorm
}

Passed after_gelu(double rms) {
  const auto gate = [](double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; };
  const auto slope = [&](double x) {
    return gate(x) + x * std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  };
  return {std::sqrt(normal_mean([&](double g) { return squared(rms * g * gate(rms * g)); })),
          std::sqrt(normal_mean([&](double g) { return squared(slope(rms * g)); }))};
}

// The cosine of relu(a) and relu(b), of two normal vectors of this cosine (Cho & Saul 2009).
double relu_cosine(double c) {
  const double angle = std::acos(std::fmin(std::fmax(c, -1.0), 1.0));
  return (std::sin(angle) + c * (pi - angle)) / pi;
}

// The change of the output of a matrix of n inputs by the first step at rate 1, over the rms of its input. AdamW
// moves each weight by the rate, in the direction of the gradient's sign: Σ_j |x_j| for inputs that the rows of a
// batch share, of which half is taken. Muon's step has singular values of 1.
double matrix_step(const Net& net, double inputs) { return net.optimizer == "muon" ? 1 : coherence * inputs; }
// Embedding, input and head: Muon leaves them to AdamW.
double other_step(const Net& net, double inputs) {
  return coherence * inputs * (net.optimizer == "muon" ? adam_w_share : 1);
}

// SGD: W moves by rate/(1 − momentum) · dz xᵀ. |p − y| is 0.95 at the start of ten classes.
constexpr double error = 0.95;
constexpr double sgd_rate = 1 / (1 - momentum);

double plain_logits(const Net& net) {
  double x = 1;
  for (int64_t l = 0; l < net.depth; ++l) x = after_norm(net, net.scale * x).rms / std::numbers::sqrt2;
  return x;
}

Start plain_start(const Net& net) {
  const double n = static_cast<double>(net.width), g = net.scale, logits = plain_logits(net);
  const bool sgd = net.optimizer == "sgd";
  const double of_matrix = sgd ? sgd_rate * error * logits * std::sqrt(n) / g : matrix_step(net, n);
  double x = 1, c = cosine_of_digits;
  double change = sgd ? sgd_rate * error * logits * std::sqrt(n) : other_step(net, n);
  for (int64_t l = 0; l < net.depth; ++l) {
    const Passed normed = after_norm(net, g * x);
    change = (change + of_matrix / g) * normed.slope * g * x / normed.rms;
    x = normed.rms / std::numbers::sqrt2;
    c = relu_cosine(c);
  }
  const double head = sgd ? sgd_rate * error * n * logits / std::sqrt(10.0) : other_step(net, n);
  return {.logits = logits,
          .change = change + head,
          .head = head,
          .matrix = of_matrix,
          .distance = std::sqrt((1 - c) / (1 - cosine_of_digits)),
          .gradient = error * logits / (g * std::sqrt(n))};
}

// The factor of a relative change of the stream when a branch of this squared gain joins it.
double carried(double gain, double before, double after) { return std::sqrt((1 + gain) * before / after); }

double residual_end(const Net& net) {
  if (net.norm == "fixup" || net.placement() == "post") return 1;
  const double g = net.scale, a = net.norm == "skipinit" ? 1 / std::sqrt(static_cast<double>(net.depth)) : 1;
  double x = 1;
  for (int64_t l = 0; l < net.depth; ++l)
    x = std::sqrt(x * x + squared(a * g * g * after_norm(net, x).rms) / 2);
  return x;
}

Start residual_start(const Net& net) {
  const double n = static_cast<double>(net.width), g = net.scale, blocks = static_cast<double>(net.depth);
  const bool sgd = net.optimizer == "sgd", post = net.placement() == "post", fixup = net.norm == "fixup";
  const double a = net.norm == "skipinit" ? 1 / std::sqrt(blocks) : 1;
  const double first = fixup ? g / std::sqrt(blocks) : g, last = fixup ? 0 : g;
  const double end = residual_end(net), logits = net.placement() == "pre" ? 1 : end;
  double x = 1, c = cosine_of_digits,
         change = sgd ? sgd_rate * error * logits * std::sqrt(n) : other_step(net, n);
  double smallest = infinity;
  for (int64_t l = 0; l < net.depth; ++l) {
    const Passed in = net.placement() == "pre" ? after_norm(net, x) : Passed{x, 1};
    const double hidden = first * in.rms / std::numbers::sqrt2, added = squared(a * last * hidden);
    const double sum = std::sqrt(x * x + added);
    // Of the stream: W1's step through W2, and W2's. Fixup's W1 counts from the second step on.
    double step;
    if (sgd)
      step = sgd_rate * error * logits * a * a * std::sqrt(n) / sum *
             (squared(last * in.rms) / 2 + squared(hidden));
    else
      step = a * matrix_step(net, n) * (last * in.rms / std::numbers::sqrt2 + hidden);
    change = change * carried(squared(a * first * last * in.slope) / 2, x * x, sum * sum) + step / sum;
    smallest =
        std::fmin(smallest, error * logits / sum * a * (fixup ? hidden : last * in.rms) / std::sqrt(n));
    c = (x * x * c + added * relu_cosine(c)) / (sum * sum);
    x = post ? 1 : sum;
  }
  const double head = sgd ? sgd_rate * error * n * logits / std::sqrt(10.0) : other_step(net, n);
  return {.logits = logits,
          .change = change + head,
          .head = head,
          .matrix = sgd ? sgd_rate * error * logits * std::sqrt(n) : matrix_step(net, n),
          .distance = std::sqrt((1 - c) / (1 - cosine_of_digits)),
          .gradient = smallest};
}

// The mean of Σ_t α_t² over a block's positions, α the attention's weights of logits of this std.
double attention_mix(double logits) {
  return std::fmin(1, flat_mix * std::exp(std::fmin(logits * logits, 50)));
}

Start transformer_start(const Net& net) {
  const double n = static_cast<double>(net.width), g = net.scale,
               branches = 2 * static_cast<double>(net.depth);
  const bool post = net.placement() == "post", pre = net.placement() == "pre", fixup = net.norm == "fixup";
  const double small = 1 / std::sqrt(branches), a = net.norm == "skipinit" ? small : 1;
  const double first = fixup ? g * small : g, last = fixup ? 0 : net.norm == "skipinit" ? g : g * small;
  const double step = matrix_step(net, n), step_2 = net.optimizer == "muon" ? 2 : 4 * step;
  double x = net.embedding_std, change = other_step(net, 1) / coherence / x;
  const auto join = [&](double gain, double added, double moved) {
    const double sum = std::sqrt(x * x + added);
    change = change * carried(gain, x * x, sum * sum) + moved / sum;
    x = post ? 1 : sum;
  };
  for (int64_t l = 0; l < net.depth; ++l) {
    const Passed in = pre ? after_norm(net, x) : Passed{x, 1};
    const double of_scores = squared(g * in.rms), mix = std::sqrt(attention_mix(of_scores));
    const double value = first * in.rms * mix;
    join(squared(a * first * mix * last * in.slope), squared(a * value * last),
         a * (step * in.rms * mix * last + step * value + value * last * of_scores * 2 * step / g));
    const Passed to = pre ? after_norm(net, x) : Passed{x, 1}, inside = after_gelu(first * to.rms);
    join(squared(a * first * 2 * last * inside.slope * to.slope), squared(a * 2 * last * inside.rms),
         a * (step * to.rms * inside.slope * 2 * last + step_2 * inside.rms));
  }
  const double at_top = pre ? 1 : x;
  return {.logits = g * at_top,
          .change = change + other_step(net, n) / g,
          .head = other_step(net, n) / g,
          .matrix = step,
          .distance = 1,
          .gradient = 1};
}

// The net after its matrices, and embedding, have grown by the steps of a total rate.
Net grown(const Net& net, const Start& start, double total) {
  Net later = net;
  later.scale += start.matrix * total;
  if (!net.is_mlp()) later.embedding_std += total * (net.optimizer == "muon" ? adam_w_share : 1);
  return later;
}

// The sum of the rates of all steps, of a first one of 1: a cosine down to a tenth.
double total_rate(int64_t steps) { return 0.55 * static_cast<double>(steps); }

}  // namespace

Start start_of(const Net& net) {
  if (net.task == "plain") return plain_start(net);
  return net.task == "residual" ? residual_start(net) : transformer_start(net);
}

double Borders::octaves() const { return std::log2(highest_rate / lowest_rate); }

Borders predicted_borders(const Net& net, int64_t steps) {
  const Constants constants = constants_of(net.task, net.optimizer);
  Start start = start_of(net);
  // Logits that are small grow first: the total rate that takes, and the net by then.
  double growth = 0;
  if (start.logits < small_logits && start_of(grown(net, start, 100 / start.matrix)).logits > small_logits) {
    double low = 0, high = 100 / start.matrix;
    for (int i = 0; i < 60; ++i) {
      growth = (low + high) / 2;
      (start_of(grown(net, start, growth)).logits < small_logits ? low : high) = growth;
    }
    start = start_of(grown(net, start, growth));
  }
  const double eps = net.optimizer == "sgd" ? 0 : 1e-8, seen = start_of(net).gradient;
  const double slowed = 1 + eps / seen;  // Adam's step is g / (|g| + eps)
  const double lowest =
      std::fmax(constants.total / (start.distance * start.head * std::fmin(1, start.logits)), growth) /
      total_rate(steps);
  const double highest = start.logits > large_logits ? 0 : constants.most_change / start.change;
  return {.lowest_rate = lowest * slowed, .highest_rate = highest * slowed};
}

namespace {

// By 32 steps an octave; trains(value) says whether a net does at some rate.
template <class Trains>
double outermost(double from, double to, bool least, const Trains& trains) {
  const int steps = static_cast<int>(std::ceil(32 * std::log2(to / from)));
  const auto value = [&](int i) { return from * std::exp2(std::log2(to / from) * i / steps); };
  for (int i = 0; i <= steps; ++i)
    if (const int at = least ? i : steps - i; trains(value(at))) {
      if (i == 0) return least ? 0 : infinity;
      return value(at);
    }
  return unknown;
}

}  // namespace

double predicted_greatest_scale(Net net, int64_t steps, double from, double to) {
  return outermost(from, to, false, [&](double scale) {
    net.scale = scale;
    return predicted_borders(net, steps).trains();
  });
}

double predicted_least_scale(Net net, int64_t steps, double from, double to) {
  return outermost(from, to, true, [&](double scale) {
    net.scale = scale;
    return predicted_borders(net, steps).trains();
  });
}

double predicted_greatest_depth(Net net, int64_t steps, int64_t from, int64_t to) {
  return outermost(static_cast<double>(from), static_cast<double>(to), false, [&](double depth) {
    net.depth = std::llround(depth);
    return predicted_borders(net, steps).trains();
  });
}

Constants constants_of(const std::string& task, const std::string& optimizer) {
  struct Row {
    const char *task, *optimizer;
    Constants constants;
  };
  constexpr Row rows[] = {
      {"plain", "adamw", {3.1, 2.1}},        {"plain", "muon", {8.2, 1.2}},
      {"plain", "sgd", {160, 93}},           {"residual", "adamw", {7.2, 2.1}},
      {"residual", "muon", {44, 1.2}},       {"residual", "sgd", {160, 93}},
      {"transformer", "adamw", {10.6, 2.1}}, {"transformer", "muon", {3.7, 1.2}},
  };
  for (const Row& row : rows)
    if (task == row.task && optimizer == row.optimizer) return row.constants;
  throw_error("no trial with " + optimizer + " and a net of kind " + task);
}

}  // namespace isobar::trains
