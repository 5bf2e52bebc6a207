#include "driver.h"

#include <isobar/autograd/ops.h>

#include "a5.h"

namespace {

// Gradient number `step`: row `step` of dws.
Tensor row(const Tensor& dws, int64_t step) {
  const int64_t width = dws.size(1);
  return raw::clone(raw::as_strided(dws, {width}, {1}, step * width));
}

struct Sgd {
  double lr, decay;
  void step(Tensor& w, const Tensor& dw) { sgd(w, dw, lr, decay); }
};

// An optimizer with the request's settings.
template <class Optimizer>
const char* const settings = "lr,momentum,decay,nesterov";
template <>
const char* const settings<AdamW> = "lr,beta1,beta2,eps,decay";
template <>
const char* const settings<Sgd> = "lr,decay";
template <class Optimizer>
Optimizer made(const Request& in) {
  return in.as<Optimizer>(settings<Optimizer>);
}

// Walks w, or w0 and w1, along its gradients dws (steps, C), step by step in turn, each by an optimizer of its
// own, and tells every w on the way; last the gradients, as they were left.
template <class Optimizer>
void walk_by(const Request& in, Answer& out) {
  struct Walk {
    std::string name;
    Tensor w, dws;
    Optimizer optimizer;
    std::vector<Tensor> path, left;
  };
  std::vector<Walk> walks;
  for (const std::string name : {"", "0", "1"})
    if (in.has("w" + name))
      walks.push_back({name, raw::clone(in["w" + name]), in["dws" + name], made<Optimizer>(in)});
  for (int64_t t = 0; t < walks[0].dws.size(0); ++t)
    for (Walk& walk : walks) {
      const Tensor dw = row(walk.dws, t);
      walk.optimizer.step(walk.w, dw);
      walk.path.push_back(raw::clone(walk.w));
      walk.left.push_back(dw);
    }
  for (const Walk& walk : walks)
    out("path" + walk.name, isobar::stack(walk.path))("dws" + walk.name, isobar::stack(walk.left));
  if constexpr (std::is_same_v<Optimizer, AdamW>) out("steps", walks[0].optimizer.steps);
}

// The losses of a least-squares fit, (1/N) Σ (x·w − y)²: x (N, C), y (N).
template <class Optimizer>
void fit_by(const Request& in, Answer& out) {
  auto optimizer = made<Optimizer>(in);
  const Tensor x = in["x"], y = in["y"];
  Tensor w = isobar::zeros({x.size(1)}, Dtype::f64);
  std::vector<double> losses;
  for (int64_t t = 0; t < in.integer("steps"); ++t) {
    const Tensor off = isobar::sum(x * w, {1}) - y;
    losses.push_back(isobar::mean(isobar::square(off)).item());
    optimizer.step(w, isobar::mean(x * isobar::reshape(2 * off, {x.size(0), 1}), {0}));
  }
  out("losses", losses);
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
      {"sgd", walk_by<Sgd>},
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
