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
  out("dx", x.grad())("dweight", weight.grad());
  if (centred) out("dbias", bias.grad());
}

}  // namespace

int main() {
  const char* const gradients[] = {"dx", "dweight", "dbias", "mean_dz", "mean_dz_z"};
  return serve({
      {"layer_norm_composed", [](const Request& in, Answer& out) { composed(in, out, true); }},
      {"rms_norm_composed", [](const Request& in, Answer& out) { composed(in, out, false); }},
      {"layer_norm", of(layer_norm, {"x", "weight", "bias", "eps"}, {"y", "mean", "rstd"})},
      // mean and rstd come from the request: your forward pass is not in the way.
      {"layer_norm_backward", of(layer_norm_backward, {"dy", "x", "weight", ",mean,rstd"}, gradients)},
      {"rms_norm", of(rms_norm, {"x", "weight", "eps"}, {"y", "rrms"})},
      {"rms_norm_backward", of(rms_norm_backward, {"dy", "x", "weight", ",rrms"}, gradients)},
      {"dyt", of(dyt, {"x", "alpha", "weight", "bias"}, {"y"})},
      {"dyt_backward",
       of(dyt_backward, {"dy", "x", "alpha", "weight"}, {"dx", "dalpha", "dweight", "dbias"})},
      {"compare", of(compare, {"x", "dy"}, {"ratios"})},
  });
}
