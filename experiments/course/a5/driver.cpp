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

// An optimizer with the request's settings.
template <class Optimizer>
Optimizer made(const Request& in) {
  const bool momentum = std::is_same_v<Optimizer, Momentum>;
  return in.as<Optimizer>(momentum ? "lr,momentum,decay,nesterov" : "lr,beta1,beta2,eps,decay");
}

template <class Optimizer>
void walk_by(const Request& in, Answer& out) {
  auto optimizer = made<Optimizer>(in);
  walk(in, out, [&](Tensor& w, const Tensor& dw) { optimizer.step(w, dw); });
  if constexpr (std::is_same_v<Optimizer, AdamW>) out("steps", optimizer.steps);
}

template <class Optimizer>
void fit_by(const Request& in, Answer& out) {
  auto optimizer = made<Optimizer>(in);
  fit(in, out, [&](Tensor& w, const Tensor& dw) { optimizer.step(w, dw); });
}

// Two weights of other widths along their gradients, each by an optimizer of its own, step by step in turn.
template <class Optimizer>
void two_by(const Request& in, Answer& out) {
  Optimizer optimizers[] = {made<Optimizer>(in), made<Optimizer>(in)};
  Tensor weights[] = {raw::clone(in["w0"]), raw::clone(in["w1"])};
  std::vector<double> paths[2];
  for (int64_t t = 0; t < in["dws0"].size(0); ++t)
    for (int k = 0; k < 2; ++k) {
      optimizers[k].step(weights[k], row(in[k ? "dws1" : "dws0"], t));
      for (const double v : weights[k].to_vector<double>()) paths[k].push_back(v);
    }
  out("path0", isobar::tensor(in["dws0"].shape(), paths[0]));
  out("path1", isobar::tensor(in["dws1"].shape(), paths[1]));
}

// The request's tensors of this name and a number.
std::vector<Tensor> numbered(const Request& in, const std::string& name) {
  std::vector<Tensor> all;
  while (in.has(name + std::to_string(all.size())))
    all.push_back(raw::clone(in[name + std::to_string(all.size())]));
  return all;
}
void numbered(Answer& out, const std::string& name, const std::vector<Tensor>& all) {
  for (size_t k = 0; k < all.size(); ++k) out(name + std::to_string(k), all[k]);
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
      {"momentum", walk_by<Momentum>},
      {"adam_w", walk_by<AdamW>},
      {"two_momenta", two_by<Momentum>},
      {"two_adam_w", two_by<AdamW>},
      {"fit_momentum", fit_by<Momentum>},
      {"fit_adam_w", fit_by<AdamW>},
      {"clip",
       [](const Request& in, Answer& out) {
         std::vector<Tensor> gradients = numbered(in, "g");
         out("norm", clip(gradients, in.number("most")));
         numbered(out, "g", gradients);
       }},
      {"rms_prop",
       [](const Request& in, Answer& out) {
         auto optimizer = in.as<RmsProp>("lr,rho,eps");
         std::vector<Tensor> weights = numbered(in, "w");
         for (int64_t t = 0; t < in.integer("steps"); ++t) {
           std::vector<Tensor> gradients = numbered(in, "dws");
           for (Tensor& gradient : gradients) gradient = row(gradient, t);
           optimizer.step(weights, gradients);
         }
         numbered(out, "w", weights);
       }},
  });
}
