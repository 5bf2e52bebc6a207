#include "driver.h"

#include <isobar/autograd/tape.h>
#include <isobar/core/raw.h>

#include "a4.h"

namespace {

// A composed function's value and its gradients by the library's tape.
void composed(const Request& in, Answer& out, bool centred) {
  Tensor x = raw::clone(in["x"]).set_trainable(), weight = raw::clone(in["weight"]).set_trainable(),
         bias = centred ? raw::clone(in["bias"]).set_trainable() : Tensor();
  isobar::Tape tape;
  const Tensor y = centred ? layer_norm_composed(x, weight, bias, in.number("eps"))
                           : rms_norm_composed(x, weight, in.number("eps"));
  out("y", y);
  tape.backward(y, in["dy"]);
  out("dx", x.grad());
  out("dweight", weight.grad());
  if (centred) out("dbias", bias.grad());
}

void gradients(Answer& out, const Gradients& g) {
  out("mean_dz", g.mean_dz);
  out("mean_dz_z", g.mean_dz_z);
  out("dx", g.dx);
  out("dweight", g.dweight);
  out("dbias", g.dbias);
}

}  // namespace

int main() {
  return serve({
      {"layer_norm_composed", [](const Request& in, Answer& out) { composed(in, out, true); }},
      {"rms_norm_composed", [](const Request& in, Answer& out) { composed(in, out, false); }},
      {"layer_norm",
       [](const Request& in, Answer& out) {
         const LayerNorm norm = layer_norm(in["x"], in["weight"], in["bias"], in.number("eps"));
         out("y", norm.y);
         out("mean", norm.mean);
         out("rstd", norm.rstd);
       }},
      // mean and rstd come from the request: your forward pass is not in the way.
      {"layer_norm_backward",
       [](const Request& in, Answer& out) {
         gradients(out, layer_norm_backward(in["dy"], in["x"], in["weight"], {{}, in["mean"], in["rstd"]}));
       }},
      {"rms_norm",
       [](const Request& in, Answer& out) {
         const RmsNorm norm = rms_norm(in["x"], in["weight"], in.number("eps"));
         out("y", norm.y);
         out("rrms", norm.rrms);
       }},
      {"rms_norm_backward",
       [](const Request& in, Answer& out) {
         gradients(out, rms_norm_backward(in["dy"], in["x"], in["weight"], {{}, in["rrms"]}));
       }},
      {"dyt", [](const Request& in,
                 Answer& out) { out("y", dyt(in["x"], in.number("alpha"), in["weight"], in["bias"])); }},
      {"dyt_backward",
       [](const Request& in, Answer& out) {
         const DytGradients g = dyt_backward(in["dy"], in["x"], in.number("alpha"), in["weight"]);
         out("dx", g.dx);
         out("dalpha", g.dalpha);
         out("dweight", g.dweight);
         out("dbias", g.dbias);
       }},
      {"compare", [](const Request& in, Answer& out) { out("ratios", compare(in["x"], in["dy"])); }},
  });
}
