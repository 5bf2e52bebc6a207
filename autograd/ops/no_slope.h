// no_slope: a gradient that has no gradient of its own.
#pragma once

#include "../tape.h"

namespace isobar {

// dx. Where the backward pass is itself recorded, a gradient of dx throws Error with this sentence.
inline Tensor no_slope(const Tensor& dx, const char* sentence) {
  return record({"identity", Node::Kind::view}, dx.detach(), {dx},
                [sentence](const Tensor&) -> Tensor { throw_error(sentence); });
}

}  // namespace isobar
