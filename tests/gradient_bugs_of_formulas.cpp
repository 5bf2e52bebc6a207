#include "../core/raw.h"
#include "gradient_bug_layers.h"

namespace isobar {
namespace {

Tensor mean_of_rows(const Tensor& x) { return mean(x, {-1}, true); }

// LayerNorm without affine, over `axis`, with the parts of its gradient that are asked for.
Forward norm_with(int axis, double of_mean, double of_variance, bool centred = true) {
  return of_x(
      [=](auto x) {
        const Tensor c = centred ? x - mean(x, {axis}, true) : x;
        return c / sqrt(mean(square(c), {axis}, true) + 1e-5);
      },
      [=](auto dy, auto x, auto h) {
        const Tensor c = centred ? x - mean(x, {axis}, true) : x;
        const Tensor r = reciprocal(sqrt(mean(square(c), {axis}, true) + 1e-5));
        return r * (dy - mean(dy, {axis}, true) * of_mean - h * mean(dy * h, {axis}, true) * of_variance);
      });
}

std::vector<GradientBug> norms() {
  return {
      bug("LayerNorm without the mean's part", Cause::missing_term, {4, 6}, norm_with(-1, 0, 1)),
      bug("LayerNorm without the variance's part", Cause::missing_term, {4, 6}, norm_with(-1, 1, 0)),
      bug("LayerNorm with detached statistics", Cause::missing_term, {4, 6}, norm_with(-1, 0, 0)),
      bug("LayerNorm with N − 1 in the variance's part", Cause::missing_term, {4, 6},
          norm_with(-1, 1, 6.0 / 5)),
      bug("RMSNorm without the mean square's part", Cause::missing_term, {4, 6}, norm_with(-1, 0, 0, false)),
      bug("BatchNorm without the mean's part", Cause::missing_term, {6, 3}, norm_with(0, 0, 1)),
      bug("RMSNorm with eps outside of the root in the backward", Cause::unknown, {4, 6},
          of_x([](auto x) { return x / sqrt(mean(square(x), {-1}, true) + 1e-2); },
               [](auto dy, auto x, auto) {
                 const Tensor r = reciprocal(sqrt(mean(square(x), {-1}, true)) + 1e-2);
                 const Tensor h = x * r;
                 return r * (dy - h * mean_of_rows(dy * h));
               })),
      bug("LayerNorm whose dx knows no weight", Cause::missing_factor, {4, 6},
          [](In in) {
            return fused([&] { return layer_norm(in[0], 6, in[1], {}, 1e-5); }, {in[0], in[1]},
                         [x = in[0].detach()](const Tensor& dy) {
                           const Tensor c = x - mean_of_rows(x);
                           const Tensor r = reciprocal(sqrt(mean_of_rows(square(c)) + 1e-5)), h = c * r;
                           return std::vector<Tensor>{r * (dy - mean_of_rows(dy) - h * mean_of_rows(dy * h)),
                                                      sum(dy * h, {0})};
                         });
          },
          {{6}}),
  };
}

Tensor where_above(const Tensor& x, double threshold) {
  std::vector<double> mask = x.to_vector<double>();
  for (double& v : mask) v = v > threshold;
  return raw::cast(tensor(x.shape(), mask), x.dtype());
}

std::vector<GradientBug> curves() {
  return {
      bug("softmax without the sum", Cause::missing_term, {3, 5},
          of_x([](auto x) { return softmax(x); }, [](auto dy, auto, auto y) { return dy * y; })),
      bug("log-softmax without the sum", Cause::missing_term, {3, 5},
          of_x([](auto x) { return log_softmax(x); }, [](auto dy, auto, auto) { return dy; })),
      bug("SiLU as if the gate were constant", Cause::missing_term, {3, 5},
          of_x([](auto x) { return silu(x); }, [](auto dy, auto x, auto) { return dy * sigmoid(x); })),
      bug("tanh without its slope", Cause::missing_factor, {3, 5},
          of_x([](auto x) { return tanh(x); }, [](auto dy, auto, auto) { return dy; })),
      bug("tanh with 1 − y", Cause::missing_factor, {3, 5},
          of_x([](auto x) { return tanh(x); }, [](auto dy, auto, auto y) { return dy * (1 - y); })),
      bug("tanh with 1 − x²", Cause::wrong_factor, {3, 5},
          of_x([](auto x) { return tanh(x); }, [](auto dy, auto x, auto) { return dy * (1 - square(x)); })),
      bug("sigmoid without 1 − y", Cause::missing_factor, {3, 5},
          of_x([](auto x) { return sigmoid(x); }, [](auto dy, auto, auto y) { return dy * y; })),
      bug("tanh(α x) without α", Cause::missing_factor, {3, 5},
          [](In in) {
            return fused([&] { return tanh(in[0] * in[1]); }, {in[0], in[1]},
                         [x = in[0].detach(), y = tanh(in[0].detach() * in[1].detach())](const Tensor& dy) {
                           const Tensor slope = dy * (1 - square(y));
                           return std::vector<Tensor>{slope, reshape(sum(slope * x), {1})};
                         });
          },
          {{1}}),
      bug("leaky ReLU that leaks nothing back", Cause::one_sided, {3, 5},
          of_x([](auto x) { return relu(x) - relu(-x) * 0.1; },
               [](auto dy, auto x, auto) { return dy * where_above(x, 0); })),
      bug("ReLU with its mask inverted", Cause::one_sided, {3, 5},
          of_x([](auto x) { return relu(x); },
               [](auto dy, auto x, auto) { return dy * (1 - where_above(x, 0)); })),
      bug("ReLU with a mask at 0.5", Cause::one_sided, {4, 6},
          of_x([](auto x) { return relu(x); },
               [](auto dy, auto x, auto) { return dy * where_above(x, 0.5); })),
      bug("dropout without its mask in the backward", Cause::missing_factor, {4, 5},
          of_x([](auto x) { return dropout(x, 0.4, Rng(1)); }, [](auto dy, auto, auto) { return dy / 0.6; })),
      bug("ReLU without its mask", Cause::missing_factor, {3, 5},
          of_x([](auto x) { return relu(x); }, [](auto dy, auto, auto) { return dy; })),
      bug("ReLU without its mask, with an extent of 1", Cause::missing_factor, {4, 1, 5},
          of_x([](auto x) { return relu(x); }, [](auto dy, auto, auto) { return dy; })),
      bug("clamp without its mask", Cause::missing_factor, {4, 5},
          of_x([](auto x) { return clamp(x, -0.5, 0.5); }, [](auto dy, auto, auto) { return dy; })),
      bug("ReLU² without its mask", Cause::missing_factor, {4, 5},
          of_x([](auto x) { return square(relu(x)) + relu(x); },
               [](auto dy, auto, auto y) { return dy * sqrt(1 + 4 * y); })),
      bug("tanh with 1 − x², with an extent of 1", Cause::wrong_factor, {4, 1, 5},
          of_x([](auto x) { return tanh(x); }, [](auto dy, auto x, auto) { return dy * (1 - square(x)); })),
      bug("sigmoid with 1 + y, with an extent of 1", Cause::wrong_factor, {4, 5, 1},
          of_x([](auto x) { return sigmoid(x); }, [](auto dy, auto, auto y) { return dy * y * (1 + y); })),
      bug("softmax without the sum, in f32", Cause::missing_term, {3, 5},
          of_x([](auto x) { return raw::cast(softmax(raw::cast(x, Dtype::f32)), x.dtype()); },
               [](auto dy, auto, auto y) { return dy * y; })),
      bug("half the slope of tanh, in f32", Cause::constant_factor, {3, 5},
          of_x([](auto x) { return raw::cast(tanh(raw::cast(x, Dtype::f32)), x.dtype()); },
               [](auto dy, auto, auto y) { return dy * (1 - square(y)) / 2; })),
      // Adds nothing where two windows meet.
      bug("a pool of overlapping windows, the first of two counts", Cause::not_linear, {3, 5},
          of_x([](auto x) { return maximum(slice(x, 1, 0, 4), slice(x, 1, 1, 5)); },
               [](auto dy, auto x, auto) {
                 const Tensor left = slice(x, 1, 0, 4), right = slice(x, 1, 1, 5),
                              none = slice(x, 1, 0, 1) * 0;
                 const Tensor a = concat({where(left >= right, dy, 0), none}, 1),
                              b = concat({none, where(left >= right, 0, dy)}, 1);
                 return where(a != 0, a, b);
               })),
      bug("a factor captured by reference, which has ended", Cause::wrong_factor, {3, 5},
          of_x([](auto x) { return x * 3; }, [](auto dy, auto, auto) { return dy * 6.9e-310; })),
      bug("softplus whose backward overflows", Cause::not_finite, {3, 5},
          of_x([](auto x) { return relu(x) + log(exp(-(relu(x) + relu(-x))) + 1); },
               [](auto dy, auto x, auto) { return dy * exp(x) / (exp(x) + 1); }),
          {}, 700),
  };
}

}  // namespace

std::vector<GradientBug> bugs_of_formulas() {
  std::vector<GradientBug> all = norms();
  for (const GradientBug& one : curves()) all.push_back(one);
  return all;
}

}  // namespace isobar
