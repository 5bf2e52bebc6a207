// Classic mistakes in hand-written backwards: small layers, each right on the way up and wrong in one
// way on the way down. check_layer_test.cpp asks check_layer for the cause.
#pragma once

#include <string>
#include <vector>

#include "../nn/check_layer.h"

namespace isobar {

struct GradientBug {
  std::string name;  // what was done wrong
  Cause cause;       // what check_layer ought to say
  LayerMaker make;
  Tensor x;
};

std::vector<GradientBug> gradient_bugs();
// The part of them that norms and curves are liable to.
std::vector<GradientBug> bugs_of_formulas();

}  // namespace isobar
