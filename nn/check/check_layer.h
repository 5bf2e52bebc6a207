// check_layer: checks a layer on one example input and names the likely cause of a wrong gradient.
//
//   const LayerReport report = check_layer([] { return std::make_unique<Mish>(); }, Rng(1).normal({4, 5}));
//   fmt::print("{}", report.text());     // first line: the verdict; then one line per check
//
// A program that checks its own layers, with a command line:
//
//   int main(int argc, char** argv) {
//     return check_layer_main(
//         argc, argv, {{"Mish", [] { return std::make_unique<Mish>(); }, Rng(1).normal({4, 5})}});
//   }
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "../../autograd/check/gradient_diagnosis.h"
#include "../module.h"

namespace isobar {

// A function that makes the layer, f32 or f64, with the same initial weights in every call.
using LayerMaker = std::function<std::unique_ptr<Module>()>;
// A function that calls a layer of several inputs. It may return one of the outputs, or a sum of several.
using LayerCall = std::function<Tensor(Module& layer, const std::vector<Tensor>& inputs)>;

// One example input, or several.
struct LayerInputs : std::vector<Tensor> {
  LayerInputs(Tensor x) : std::vector<Tensor>{std::move(x)} {}
  LayerInputs(std::vector<Tensor> inputs) : std::vector<Tensor>(std::move(inputs)) {}
};

// Options of check_layer().
struct CheckLayerOptions {
  // Default: layer(x). For a layer of two inputs:
  //   .call = [](Module& m, const std::vector<Tensor>& in) {
  //     return dynamic_cast<CrossAttention&>(m)(in[0], in[1]);
  //   }
  LayerCall call = nullptr;
  // For a backward pass that is intended to differ from the derivative of y: a function of the shape of y. A
  // gradient that is not the derivative of y must be the derivative of this function. For a straight-through
  // estimator of the identity:
  //   .expected = [](Module&, const std::vector<Tensor>& in) { return in[0]; }
  // For a reversed gradient it returns in[0] * -1.0, for one that is stopped in[0] * 0.0.
  LayerCall expected = nullptr;
  std::optional<Shape> output_shape = std::nullopt;  // the shape that y must have; default: any
  // Whether dimension 0 of the first input is a batch of any size. false: the number of rows of the example
  // is not changed, as for W x without a batch, a Gram matrix (N, N), a graph convolution with an adjacency
  // matrix (N, N), or a layer for one size.
  bool batch = true;
  // Whether forward in training reads state that it changes, and fields() lists it: PowerNorm, spectral norm,
  // the codebook of a moving average. Each call in training then begins with the state as made.
  bool stateful = false;
  // Whether dimension 1 of the first input and of y is time, and y at t depends on nothing after t.
  bool causal = false;
  // {2, 1}: input 2, (B, T), is true or 1 where input 1, (B, T, …), counts, and nothing depends on the rest
  // of input 1. Of the first input, y is compared where it counts: {1, 0}.
  std::optional<std::array<size_t, 2>> mask = std::nullopt;
  double tolerance = 1e-6;  // of gradients in f64, relative; see GradcheckReport
  // Of an f32 run against f64, relative to the largest element; what one more rounding of x changes is
  // allowed too.
  double f32_tolerance = 2e-5;
  // For the check of 1, 2 and 8 threads the batch is repeated to about this many elements, so that kernels
  // split it into several chunks; to fewer where the layer's memory grows with the square of the batch.
  int64_t large = 1 << 16;
  // Called with the name of each check before it runs; check_layer_main() sets its own.
  std::function<void(const std::string& check)> progress = nullptr;
};

// The result of one check.
struct LayerCheck {
  enum Outcome { passed, failed, skipped };
  std::string name;
  Outcome outcome;
  std::string text;
};

struct LayerReport {
  std::string layer;  // "RMSNorm on x [4, 5]"
  std::vector<LayerCheck> checks;
  // Of the first wrong gradient with a known cause, else of the first wrong one; Cause::none if all are
  // right.
  Diagnosis diagnosis;
  std::vector<GradientEntry> worst;  // the five worst entries of that gradient
  // At initialization, for standard normal x: std of y over std of x, and root mean square of dx over that of
  // dy. NaN where x holds indices, or y is a single number.
  double std_ratio, gradient_ratio;

  bool passed() const;
  // The first line is the verdict with the likely cause; then one line per check.
  std::string text() const;
};

// x is an example whose first dimension is the batch, at least 2 (see options.batch); f32, f64 or indices; 20
// to 500 elements are best. Of several inputs, those with the same first dimension are split and repeated
// with the batch, others (a mask) are not. Gradients are checked at parameters moved a little from their
// initial values, because ones and zeros hide mistakes. A forward that rounds to f32 is compared at larger
// steps, to 1e-3. An exception of the maker or the layer becomes a failed check. Throws Error for an
// example that cannot be used, or several inputs without options.call.
LayerReport check_layer(const LayerMaker& make, const LayerInputs& x, const CheckLayerOptions& options = {});

// One layer of check_layer_main().
struct CheckedLayer {
  std::string name;
  LayerMaker make;
  LayerInputs x;
  CheckLayerOptions options = {};
};
// Checks the layers named on the command line, or all layers, and prints their reports. Before the names,
// --list prints the names instead, --tape the tapes, --dot drawings of the tapes. Returns 0 if all checks
// pass, 1 if one fails, 2 for a wrong command line.
int check_layer_main(int argc, char** argv, const std::vector<CheckedLayer>& layers);

}  // namespace isobar
