#include "driver.h"

#include <cmath>

#include "a5.h"

namespace {

// Gradient number `step`: row `step` of dws.
Tensor row(const Tensor& dws, int64_t step) {
  const int64_t width = dws.size(1);
  return raw::clone(raw::as_strided(dws, {width}, {1}, step * width));
}

// Walks w along the gradients dws (steps, C) and tells every w on the way; last the gradients, as they were
// left.
void walk(const Request& in, Answer& out, const std::function<void(Tensor&, const Tensor&)>& step) {
  Tensor w = raw::clone(in["w"]);
  std::vector<double> path, left;
  for (int64_t t = 0; t < in["dws"].size(0); ++t) {
    const Tensor dw = row(in["dws"], t);
    step(w, dw);
    for (const double v : w.to_vector<double>()) path.push_back(v);
    for (const double v : dw.to_vector<double>()) left.push_back(v);
  }
  out("path", isobar::tensor(in["dws"].shape(), path))("dws", isobar::tensor(in["dws"].shape(), left));
}

// Two weights of other widths along their gradients, each by an optimizer of its own, step by step in turn.
template <class Optimizer>
void walk_two(const Request& in, Answer& out, Optimizer first, Optimizer second) {
  Tensor w0 = raw::clone(in["w0"]), w1 = raw::clone(in["w1"]);
  std::vector<double> path0, path1;
  for (int64_t t = 0; t < in["dws0"].size(0); ++t) {
    first.step(w0, row(in["dws0"], t));
    second.step(w1, row(in["dws1"], t));
    for (const double v : w0.to_vector<double>()) path0.push_back(v);
    for (const double v : w1.to_vector<double>()) path1.push_back(v);
  }
  out("path0", isobar::tensor(in["dws0"].shape(), path0));
  out("path1", isobar::tensor(in["dws1"].shape(), path1));
}

// The losses of a least-squares fit, (1/N) Σ (x·w − y)²: x (N, C), y (N).
void fit(const Request& in, Answer& out, const std::function<void(Tensor&, const Tensor&)>& step) {
  const Tensor x = in["x"], y = in["y"];
  const int64_t rows = x.size(0), width = x.size(1);
  Tensor w = isobar::zeros({width}, Dtype::f64);
  std::vector<double> losses;
  for (int64_t t = 0; t < in.integer("steps"); ++t) {
    Tensor dw = isobar::zeros({width}, Dtype::f64);
    double loss = 0;
    for (int64_t n = 0; n < rows; ++n) {
      double off = -y.at({n});
      for (int64_t c = 0; c < width; ++c) off += x.at({n, c}) * w.at({c});
      loss += off * off / rows;
      for (int64_t c = 0; c < width; ++c) raw::write<double>(dw)[c] += 2 * off * x.at({n, c}) / rows;
    }
    losses.push_back(loss);
    step(w, dw);
  }
  out("losses", losses);
}

Momentum momentum_of(const Request& in) {
  return {.lr = in.number("lr"),
          .momentum = in.number("momentum"),
          .decay = in.number("decay"),
          .nesterov = in.number("nesterov") != 0};
}
AdamW adam_w_of(const Request& in) {
  return {.lr = in.number("lr"),
          .beta1 = in.number("beta1"),
          .beta2 = in.number("beta2"),
          .eps = in.number("eps"),
          .decay = in.number("decay")};
}

}  // namespace

int main() {
  return serve({
      {"sgd",
       [](const Request& in, Answer& out) {
         walk(in, out, [&](Tensor& w, const Tensor& dw) { sgd(w, dw, in.number("lr"), in.number("decay")); });
       }},
      {"sgd_shapes",
       [](const Request& in, Answer& out) {
         Tensor w = raw::clone(in["w"]);
         try {
           sgd(w, in["dw"], 0.1);
         } catch (const isobar::Error&) {
           if (w.to_vector<double>() == in["w"].to_vector<double>()) throw;
           out("changed", w);  // before it was refused
         }
       }},
      {"momentum",
       [](const Request& in, Answer& out) {
         Momentum optimizer = momentum_of(in);
         walk(in, out, [&](Tensor& w, const Tensor& dw) { optimizer.step(w, dw); });
       }},
      {"adam_w",
       [](const Request& in, Answer& out) {
         AdamW optimizer = adam_w_of(in);
         walk(in, out, [&](Tensor& w, const Tensor& dw) { optimizer.step(w, dw); });
         out("steps", optimizer.steps);
       }},
      {"two_momenta",
       [](const Request& in, Answer& out) { walk_two(in, out, momentum_of(in), momentum_of(in)); }},
      {"two_adam_w", [](const Request& in, Answer& out) { walk_two(in, out, adam_w_of(in), adam_w_of(in)); }},
      {"fit_momentum",
       [](const Request& in, Answer& out) {
         Momentum optimizer = momentum_of(in);
         fit(in, out, [&](Tensor& w, const Tensor& dw) { optimizer.step(w, dw); });
       }},
      {"fit_adam_w",
       [](const Request& in, Answer& out) {
         AdamW optimizer = adam_w_of(in);
         fit(in, out, [&](Tensor& w, const Tensor& dw) { optimizer.step(w, dw); });
       }},
      {"clip",
       [](const Request& in, Answer& out) {
         std::vector<Tensor> gradients;
         for (int k = 0; in.has("g" + std::to_string(k)); ++k)
           gradients.push_back(raw::clone(in["g" + std::to_string(k)]));
         out("norm", clip(gradients, in.number("most")));
         for (size_t k = 0; k < gradients.size(); ++k) out("g" + std::to_string(k), gradients[k]);
       }},
      {"rms_prop",
       [](const Request& in, Answer& out) {
         RmsProp optimizer{.lr = in.number("lr"), .rho = in.number("rho"), .eps = in.number("eps")};
         std::vector<Tensor> weights;
         for (int k = 0; in.has("w" + std::to_string(k)); ++k)
           weights.push_back(raw::clone(in["w" + std::to_string(k)]));
         for (int64_t t = 0; t < in.integer("steps"); ++t) {
           std::vector<Tensor> gradients;
           for (size_t k = 0; k < weights.size(); ++k)
             gradients.push_back(row(in["dws" + std::to_string(k)], t));
           optimizer.step(weights, gradients);
         }
         for (size_t k = 0; k < weights.size(); ++k) out("w" + std::to_string(k), weights[k]);
       }},
  });
}
