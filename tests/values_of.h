// What a model or an optimizer holds: its named state, tensor by tensor.
#pragma once

#include "../nn/model.h"

namespace isobar {

inline std::vector<std::vector<double>> values_of(HasFields& part) {
  std::vector<std::vector<double>> values;
  for (const NamedTensor& entry : named_state(part)) values.push_back(entry.tensor.to_vector<double>());
  return values;
}

}  // namespace isobar
