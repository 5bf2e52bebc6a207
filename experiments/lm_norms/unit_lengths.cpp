#include "unit_lengths.h"

#include <algorithm>
#include <cmath>

#include "../../autograd/ops.h"
#include "../../nn/model.h"
#include "../../nn/observe.h"

namespace isobar {
namespace {

// x is (N, C) or (B, T, C): the largest | |row| − 1 |.
double largest_length_error(const Tensor& x) {
  const auto width = static_cast<size_t>(x.size(x.ndim() - 1));
  const std::vector<double> values = x.to_vector<double>();
  double largest = 0;
  for (size_t begin = 0; begin < values.size(); begin += width) {
    double squares = 0;
    for (size_t i = begin; i < begin + width; ++i) squares += values[i] * values[i];
    largest = std::max(largest, std::abs(std::sqrt(squares) - 1));
  }
  return largest;
}

struct BlockOutputs : Observer {
  double largest_error = 0;

  void on_output(const Module& module, const Tensor& y) override {
    if (dynamic_cast<const NGPTBlock*>(&module) != nullptr)
      largest_error = std::max(largest_error, largest_length_error(y.detach()));
  }
  void on_output_gradient(const Module&, const Tensor&) override {}
};

}  // namespace

LengthErrors length_errors(NGPT& model, const Tensor& tokens) {
  BlockOutputs outputs;
  {
    const Evaluation here(model);
    const Watch watching(model, outputs);
    model(tokens);
  }
  double weights = 0;
  for (const NamedTensor& entry : named_parameters(model)) {
    if (entry.tensor.ndim() != 2) continue;
    const bool columns = entry.name.ends_with("o_proj.weight") || entry.name.ends_with("down_proj.weight");
    const Tensor values = entry.tensor.detach();
    weights = std::max(weights, largest_length_error(columns ? contiguous(transpose(values)) : values));
  }
  return {.outputs = outputs.largest_error, .weights = weights};
}

}  // namespace isobar
