// check_layer: everything a layer promises, tried on one example input, and the likely cause where a gradient
// is wrong.
//
//   const LayerReport report = check_layer([] { return std::make_unique<Mish>(); }, Rng(1).normal({4, 5}));
//   fmt::print("{}", report.text());     // first line: the verdict; then one line per check
//
// A layer's own program gets a command line by one call:
//
//   int main(int argc, char** argv) {
//     return check_layer_main(
//         argc, argv, {{"Mish", [] { return std::make_unique<Mish>(); }, Rng(1).normal({4, 5})}});
//   }
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../autograd/gradient_diagnosis.h"
#include "module.h"

namespace isobar {

// Makes the layer with the same initial weights at every call, f32 or f64.
using LayerMaker = std::function<std::unique_ptr<Module>()>;
// How a layer of several inputs is called; y may be a part or a sum of what it returns.
using LayerCall = std::function<Tensor(Module& layer, const std::vector<Tensor>& inputs)>;

// One example input, or several.
struct LayerInputs : std::vector<Tensor> {
  LayerInputs(Tensor x) : std::vector<Tensor>{std::move(x)} {}
  LayerInputs(std::vector<Tensor> inputs) : std::vector<Tensor>(std::move(inputs)) {}
};

struct CheckLayerOptions {
  // Default: layer(x). A layer of two inputs:
  //   .call = [](Module& m, const std::vector<Tensor>& in) {
  //     return dynamic_cast<CrossAttention&>(m)(in[0], in[1]);
  //   }
  LayerCall call = nullptr;
  std::optional<Shape> output_shape = std::nullopt;  // what y must have; default: whatever comes
  double tolerance = 1e-6;                           // of gradients in f64, relative; see GradcheckReport
  double f32_tolerance = 2e-5;  // of an f32 run against f64, relative to the largest element
  // The batch is repeated to about this many elements for the threads' check, so that kernels cut it into
  // several chunks.
  int64_t large = 1 << 16;
};

struct LayerCheck {
  enum Outcome { passed, failed, skipped };
  std::string name;
  Outcome outcome;
  std::string text;
};

struct LayerReport {
  std::string layer;  // "RMSNorm on x [4, 5]"
  std::vector<LayerCheck> checks;
  // Of the wrong gradient that tells most; cause none where all are right.
  Diagnosis diagnosis;
  std::vector<GradientEntry> worst;  // its five worst entries
  // At init, for an input of standard normal numbers: std of y over std of x, and root mean square of dx over
  // that of dy. NaN where x holds indices.
  double std_ratio, gradient_ratio;

  bool passed() const;
  // The verdict with the likely cause as the first line, then a line per check.
  std::string text() const;
};

// x is an example with a batch as its first dimension, f32, f64 or indices; 20 to 500 numbers are best. Further
// inputs that share the first dimension count as parts of the batch, others (a mask) do not.
// Gradients are checked at parameters moved a little from their initial values: ones and zeros would hide
// mistakes. What the layer throws becomes a failed check.
LayerReport check_layer(const LayerMaker& make, const LayerInputs& x, const CheckLayerOptions& options = {});

// A layer that a program offers to check.
struct CheckedLayer {
  std::string name;
  LayerMaker make;
  LayerInputs x;
  CheckLayerOptions options = {};
};
// Checks the layers named on the command line, or all, and prints their reports; --list prints names, --tape
// tapes, --dot drawings of these. Returns 0 when all pass, 1 when one fails, 2 for a wrong command line.
int check_layer_main(int argc, char** argv, const std::vector<CheckedLayer>& layers);

}  // namespace isobar
