#include "driver.h"

#include "a12.h"

int main() {
  const char* const gradients[] = {"dx", "dweight", "dbias"};
  return serve({
      {"conv2d", of(conv2d, {"x", "weight", "bias", "stride", "padding"}, {"y"})},
      {"conv2d_backward", of(conv2d_backward, {"dy", "x", "weight", "stride", "padding"}, gradients)},
      {"batch_norm", of(batch_norm, {"x", "weight", "bias", "eps"}, {"y", "mean", "rstd"})},
      // mean and rstd come from the request: your forward pass is not in the way.
      {"batch_norm_backward", of(batch_norm_backward, {"dy", "x", "weight", ",mean,rstd"}, gradients)},
      {"instance_norm", of(instance_norm, {"x", "weight", "bias", "eps"}, {"y"})},
  });
}
