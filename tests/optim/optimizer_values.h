// Parameters of given values, and what an optimizer lists as its state.
#pragma once

#include <map>

#include "../../optim/optim.h"
#include "../same_tensors.h"
#include "../small_tensors.h"

namespace isobar {

inline Tensor parameter(const Doubles& values, Dtype dtype = Dtype::f64) {
  return row(values, dtype).set_trainable();
}

// What fields() lists, by name; the handles are the optimizer's own.
inline std::map<std::string, Tensor> state_of(Optimizer& optimizer) {
  struct Collect : Fields {
    std::map<std::string, Tensor> found;
    void on_buffer(std::string_view name, Tensor& tensor) override { found.emplace(name, tensor); }
  } collect;
  optimizer.fields(collect);
  return collect.found;
}

}  // namespace isobar
