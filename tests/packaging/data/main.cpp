// A user's program that keeps a model and its optimizer in files.
#include <cstdio>

#include <isobar/data/data.h>
#include <isobar/isobar.h>

using namespace isobar;

int main() {
  Linear model(3, 2, Rng(1)), other(3, 2, Rng(2));
  AdamW optimizer(parameters(model)), later(parameters(other));
  save_safetensors("model.safetensors", named_state(model));
  save_safetensors("optimizer.safetensors", named_state(optimizer));
  load_state(other, load_safetensors("model.safetensors"));
  load_state(later, load_safetensors("optimizer.safetensors"));
  const Tensor x = Rng(3).normal({4, 3});
  const bool same = other(x).to_vector<float>() == model(x).to_vector<float>();
  std::printf("the model read back gives %s values\n", same ? "the same" : "other");
  return same ? 0 : 1;
}
