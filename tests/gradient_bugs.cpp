#include "gradient_bugs.h"

#include <cmath>

#include "../core/raw.h"
#include "gradient_bug_layers.h"

namespace isobar {
namespace {

std::vector<GradientBug> factors_and_signs() {
  return {
      bug("square without its 2", Cause::constant_factor, {3, 5},
          of_x([](auto x) { return square(x); }, [](auto dy, auto x, auto) { return dy * x; })),
      bug("half of a square with a 2", Cause::constant_factor, {3, 5},
          of_x([](auto x) { return square(x) / 2; }, [](auto dy, auto x, auto) { return dy * x * 2; })),
      bug("dropout without 1 / (1 − p) in the backward", Cause::constant_factor, {4, 5},
          of_x([](auto x) { return dropout(x, 0.4, Rng(1)); },
               [](auto dy, auto x, auto) {
                 return dy * dropout(ones(x.shape(), x.dtype()), 0.4, Rng(1)) * 0.6;
               })),
      bug("logits over √d without it in the backward", Cause::constant_factor, {3, 5},
          of_x([](auto x) { return x / std::sqrt(5.0); }, [](auto dy, auto, auto) { return dy; })),
      bug("mean without 1/N in the backward", Cause::missing_mean, {3, 5},
          of_x([](auto x) { return mean(x, {1}); },
               [](auto dy, auto x, auto) {
                 return broadcast_to(reshape(dy, {dy.size(0), 1}), x.shape());
               })),
      bug("sum with 1/N in the backward", Cause::missing_mean, {3, 5},
          of_x([](auto x) { return sum(x, {1}); },
               [](auto dy, auto x, auto) {
                 return broadcast_to(reshape(dy, {dy.size(0), 1}), x.shape()) / x.size(1);
               })),
      bug("mean square without 1/N in the backward", Cause::missing_mean, {3, 5},
          of_x([](auto x) { return mean(square(x), {0}); },
               [](auto dy, auto x, auto) { return dy * x * 2; })),
      bug("cross entropy without 1/N in the backward", Cause::missing_mean, {4, 5},
          of_x(
              [](auto x) {
                return reshape(cross_entropy(x, tensor({x.size(0)}, std::vector<int64_t>(x.size(0), 2))),
                               {1});
              },
              [](auto dy, auto x, auto) {
                std::vector<double> hot(x.numel(), 0.0);
                for (int64_t n = 0; n < x.size(0); ++n) hot[n * x.size(1) + 2] = 1;
                return (softmax(x) - raw::cast(tensor(x.shape(), hot), x.dtype())) * dy;
              })),
      bug("dbias as a mean over the batch", Cause::missing_mean, {4, 5},
          [](In in) {
            return fused([&] { return in[0] + in[1]; }, {in[0], in[1]},
                         [](const Tensor& dy) {
                           return std::vector<Tensor>{dy, mean(dy, {0})};
                         });
          },
          {{5}}),
      bug("a − x with the gradient of a + x", Cause::sign, {3, 5},
          of_x([](auto x) { return 1 - x; }, [](auto dy, auto, auto) { return dy; })),
      bug("exp(−x) with the gradient of exp", Cause::sign, {3, 5},
          of_x([](auto x) { return exp(-x); }, [](auto dy, auto, auto y) { return dy * y; })),
  };
}

// y = x Wᵀ, with dx and dw as given.
template <class Dx, class Dw>
Forward product(Dx dx, Dw dw) {
  return [=](In in) {
    return fused([&] { return linear(in[0], in[1]); }, {in[0], in[1]},
                 [=, x = in[0].detach(), w = in[1].detach()](const Tensor& dy) {
                   return std::vector<Tensor>{dx(dy, x, w), dw(dy, x, w)};
                 });
  };
}

std::vector<GradientBug> matrices() {
  const auto right_dx = [](auto dy, auto, auto w) { return matmul(dy, w); };
  const auto right_dw = [](auto dy, auto x, auto) { return matmul(transpose(dy), x); };
  const auto turned_dw = [](auto dy, auto x, auto) { return matmul(transpose(x), dy); };
  return {
      bug("dW of a square Linear transposed", Cause::transposed, {4, 5}, product(right_dx, turned_dw),
          {{5, 5}}),
      bug("dW of a Linear transposed", Cause::transposed, {4, 5}, product(right_dx, turned_dw), {{3, 5}}),
      bug("dW of a Linear transposed, reshaped until it fitted", Cause::transposed, {4, 5},
          product(right_dx, [=](auto dy, auto x, auto w) { return reshape(turned_dw(dy, x, w), w.shape()); }),
          {{3, 5}}),
      bug("dx = dy Wᵀ for y = x Wᵀ", Cause::transposed, {4, 5},
          product([](auto dy, auto, auto w) { return matmul(dy, transpose(w)); }, right_dw), {{5, 5}}),
      bug("y = x W with dW = x dy", Cause::transposed, {5, 5},
          [](In in) {
            return fused([&] { return matmul(in[0], in[1]); }, {in[0], in[1]},
                         [x = in[0].detach(), w = in[1].detach()](const Tensor& dy) {
                           return std::vector<Tensor>{matmul(dy, transpose(w)), matmul(x, dy)};
                         });
          },
          {{5, 5}}),
      bug("dbias summed over the channels of a square batch", Cause::wrong_axis, {5, 5},
          [](In in) {
            return fused([&] { return in[0] + in[1]; }, {in[0], in[1]},
                         [](const Tensor& dy) {
                           return std::vector<Tensor>{dy, sum(dy, {1})};
                         });
          },
          {{5}}),
      bug("dbias of the first row only", Cause::not_summed, {4, 5},
          [](In in) {
            return fused([&] { return in[0] + in[1]; }, {in[0], in[1]},
                         [](const Tensor& dy) {
                           return std::vector<Tensor>{dy, reshape(slice(dy, 0, 0, 1), {dy.size(1)})};
                         });
          },
          {{5}}),
      bug("y = Σ x with a gradient of y's shape", Cause::wrong_shape, {3, 5},
          of_x([](auto x) { return sum(x, {1}); }, [](auto dy, auto, auto) { return dy; })),
      bug("a roll whose backward rolls on", Cause::transposed, {3, 5},
          of_x(
              [](auto x) {
                return concat({slice(x, 1, 4, 5), slice(x, 1, 0, 4)}, 1);
              },
              [](auto dy, auto, auto) {
                return concat({slice(dy, 1, 4, 5), slice(dy, 1, 0, 4)}, 1);
              })),
      bug("a shift in time whose backward does not shift", Cause::misplaced, {3, 5},
          of_x(
              [](auto x) {
                return concat({slice(x, 1, 0, 1) * 0, slice(x, 1, 0, 4)}, 1);
              },
              [](auto dy, auto, auto) {
                return concat({slice(dy, 1, 0, 4), slice(dy, 1, 4, 5) * 0}, 1);
              })),
  };
}

// Keeps its input in the layer: a second call overwrites it before the first one's backward.
struct Forgetful : Module {
  Tensor weight = ones(5).set_trainable(), kept;
  Tensor forward(const Tensor& x) override {
    kept = x.detach();
    return fused([&] { return x * weight; }, {x, weight},
                 [this](const Tensor& dy) {
                   return std::vector<Tensor>{dy * weight.detach(), sum(dy * kept, {0})};
                 });
  }
  void fields(Fields& f) override { f("weight", weight); }
};

// Writes grad() itself instead of returning the gradient.
struct SelfMade : Module {
  Tensor weight = ones(5).set_trainable();
  Tensor forward(const Tensor& x) override {
    return fused([&] { return x * weight; }, {x, weight},
                 [w = weight, x = x.detach()](const Tensor& dy) {
                   w.set_grad(sum(dy * x, {0}));
                   return std::vector<Tensor>{dy * w.detach(), Tensor()};
                 });
  }
  void fields(Fields& f) override { f("weight", weight); }
};

template <class M>
GradientBug layer(const std::string& name, Cause cause) {
  return {name, cause, [] { return std::make_unique<M>(); }, bug_rng.split(name).normal({4, 5})};
}

std::vector<GradientBug> uses() {
  const auto scaled = [](auto dw) -> Forward {
    return [=](In in) {
      return fused([&] { return in[0] * in[1]; }, {in[0], in[1]},
                   [=, x = in[0].detach(), w = in[1].detach()](const Tensor& dy) {
                     return std::vector<Tensor>{dy * w, dw(dy, x)};
                   });
    };
  };
  GradientBug embedding =
      bug("an embedding that writes instead of adding", Cause::overwritten, {2, 5},
          [](In in) {
            return fused([&] { return isobar::embedding(in[0], in[1]); }, {in[0], in[1]},
                         [indices = in[0].to_vector<int64_t>(), w = in[1].detach()](const Tensor& dy) {
                           std::vector<double> dw(w.numel(), 0.0);
                           const std::vector<double> given = dy.to_vector<double>();
                           for (size_t n = 0; n < indices.size(); ++n)
                             for (int64_t c = 0; c < w.size(1); ++c)
                               dw[indices[n] * w.size(1) + c] = given[n * w.size(1) + c];
                           return std::vector<Tensor>{Tensor(), raw::cast(tensor(w.shape(), dw), w.dtype())};
                         });
          },
          {{4, 3}});
  embedding.x = bug_rng.integers({2, 5}, 4);
  return {
      embedding,
      bug("dweight of the last row only", Cause::overwritten, {4, 5}, scaled([](auto dy, auto x) {
            const Tensor all = dy * x;
            return reshape(slice(all, 0, all.size(0) - 1, all.size(0)), {5});
          }),
          {{5}}),
      bug("x + f(x) with the gradient of f only", Cause::dy_added, {3, 5},
          of_x([](auto x) { return x + softmax(x); },
               [](auto dy, auto x, auto) {
                 const Tensor p = softmax(x);
                 return p * (dy - sum(p * dy, {-1}, true));
               })),
      layer<Forgetful>("an input kept in the layer", Cause::overwritten),
      layer<SelfMade>("grad() set by the backward itself", Cause::overwritten),
      bug("a backward that returns nothing for x", Cause::detached, {3, 5},
          of_x([](auto x) { return x * 2; }, [](auto, auto, auto) { return Tensor(); })),
      bug("a weight detached in forward", Cause::detached, {3, 5},
          [](In in) { return in[0] * in[1].detach(); }, {{5}}),
      bug("dweight never written", Cause::detached, {4, 5},
          scaled([](auto, auto x) { return slice(x, 0, 0, 1) * 0; }), {{1, 5}}),
      bug("dweight without x", Cause::missing_factor, {4, 5},
          scaled([](auto dy, auto) { return sum(dy, {0}); }), {{5}}),
      bug("a gradient without dy", Cause::ignores_dy, {3, 5},
          of_x([](auto x) { return square(x); }, [](auto, auto x, auto) { return x * 2; })),
      bug("dy squared", Cause::not_linear, {3, 5},
          of_x([](auto x) { return tanh(x); },
               [](auto dy, auto, auto y) { return dy * dy * (1 - square(y)); })),
  };
}

}  // namespace

std::vector<GradientBug> gradient_bugs() {
  std::vector<GradientBug> all;
  for (const auto& part : {factors_and_signs(), matrices(), uses(), bugs_of_formulas()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace isobar
