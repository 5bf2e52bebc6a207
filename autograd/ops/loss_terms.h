// Shared by the losses between an input and a target. Not for users.
#pragma once

#include "../ops.h"

namespace isobar {

// Throws Error in the name of `op` unless both have one shape and one dtype.
inline void check_loss_shapes(const char* op, const Tensor& input, const Tensor& target) {
  if (input.shape() == target.shape() && input.dtype() == target.dtype()) return;
  check(input.shape() == target.shape(), "{}: input and target must have one shape, got {} and {}{}", op,
        input.shape(), target.shape(),
        input.numel() == target.numel()
            ? fmt::format("; reshape() the target to {}", input.shape())
            : "; losses do not broadcast, expand() the smaller one if that is meant");
  check(input.dtype() == target.dtype(), "{}: input is {} but target is {}; convert one with cast()", op,
        input.dtype(), target.dtype());
}

inline Tensor reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::sum ? sum(losses) : mean(losses);
}

}  // namespace isobar
