#include "driver.h"

#include "a3.h"

namespace {

Tensor bias_of(const Request& in) { return in.has("bias") ? in["bias"] : Tensor(); }
int64_t ignore_of(const Request& in) { return in.has("ignore") ? in.integer("ignore") : -100; }

}  // namespace

int main() {
  using Init = Tensor (*)(int64_t, int64_t, const Rng&);
  const auto init = [](Init f) {
    return [f](const Request& in, Answer& out) {
      out("w", f(in.integer("out"), in.integer("in"), Rng(in.integer("seed"))));
    };
  };
  return serve({
      {"linear",
       [](const Request& in, Answer& out) { out("y", linear(in["x"], in["weight"], bias_of(in))); }},
      {"linear_backward",
       [](const Request& in, Answer& out) {
         const LinearGradients g = linear_backward(in["dy"], in["x"], in["weight"]);
         out("dx", g.dx);
         out("dweight", g.dweight);
         out("dbias", g.dbias);
       }},
      {"relu",
       [](const Request& in, Answer& out) {
         out("y", relu(in["x"]));
         out("x", in["x"]);
       }},
      {"relu_backward",
       [](const Request& in, Answer& out) {
         out("dx", relu_backward(in["dy"], in["x"]));
         out("dy", in["dy"]);
       }},
      {"xavier_uniform", init(xavier_uniform)},
      {"he_normal", init(he_normal)},
      {"torch_default", init(torch_default)},
      {"log_softmax", [](const Request& in, Answer& out) { out("y", log_softmax(in["x"])); }},
      {"log_softmax_backward",
       [](const Request& in, Answer& out) { out("dx", log_softmax_backward(in["dy"], in["y"])); }},
      {"cross_entropy",
       [](const Request& in, Answer& out) {
         out("loss", cross_entropy(in["logits"], in["targets"], ignore_of(in)));
       }},
      {"cross_entropy_backward",
       [](const Request& in, Answer& out) {
         out("dlogits", cross_entropy_backward(in["logits"], in["targets"], ignore_of(in)));
       }},
  });
}
