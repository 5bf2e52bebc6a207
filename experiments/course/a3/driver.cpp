#include "driver.h"

#include "a3.h"

int main() {
  return serve({
      {"linear", of(linear, {"x", "weight", "bias="}, {"y"})},
      {"linear_backward", of(linear_backward, {"dy", "x", "weight"}, {"dx", "dweight", "dbias"})},
      {"relu", of(relu, {"x"}, {"y"})},
      {"relu_backward", of(relu_backward, {"dy", "x"}, {"dx"})},
      {"xavier_uniform", of(xavier_uniform, {"out", "in", "seed"}, {"w"})},
      {"he_normal", of(he_normal, {"out", "in", "seed"}, {"w"})},
      {"torch_default", of(torch_default, {"out", "in", "seed"}, {"w"})},
      {"log_softmax", of(log_softmax, {"x"}, {"y"})},
      {"log_softmax_backward", of(log_softmax_backward, {"dy", "y"}, {"dx"})},
      {"cross_entropy", of(cross_entropy, {"logits", "targets", "ignore=-100"}, {"loss"})},
      {"cross_entropy_backward",
       of(cross_entropy_backward, {"logits", "targets", "ignore=-100"}, {"dlogits"})},
  });
}
