// window_cases: what convolutions and pools of random settings give, for window_cases.py to compare with PyTorch.
//
//   window_cases FIRST COUNT     cases FIRST, FIRST + 1, …; a line of JSON for each:
//
//   {"seed": 17, "op": "conv2d", "settings": {"stride": [2, 1], …}, "dtype": "f32", "inputs": [ARRAY, …], "y": ARRAY,
//    "dy": ARRAY, "dx": [ARRAY, …]}
//
// An ARRAY is {"shape": [3], "values": [0.5, 1, 2]}. Half of the inputs are views with other strides.
#include <nlohmann/json.hpp>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"

namespace isobar {
namespace {

using Json = nlohmann::json;

Json json_of(const Tensor& x) {
  return {{"shape", std::vector<int64_t>(x.shape().begin(), x.shape().end())},
          {"values", raw::cast(x, Dtype::f64).to_vector<double>()}};
}

// One case: its numbers are drawn from the seed in the order of the members' use.
class WindowCase {
 public:
  explicit WindowCase(uint64_t seed) : seed_(seed), rng_(seed) {}

  void print() {
    const int dims = 1 + static_cast<int>(draw(2));
    const int64_t chosen = draw(6);
    op_ = chosen < 3 ? "conv" : chosen == 3 ? "max_pool" : chosen == 4 ? "avg_pool" : "adaptive_avg_pool";
    dtype_ = draw(2) == 0 ? Dtype::f32 : Dtype::f64;
    const int64_t groups = op_ == "conv" ? 1 + draw(3) : 1, channels = groups * (1 + draw(4));
    const std::vector<int64_t> kernel = several(dims, 1, 4), stride = several(dims, 1, 3);
    const std::vector<int64_t> dilation = several(dims, 1, op_ == "avg_pool" ? 1 : 3);
    std::vector<int64_t> padding, sizes{draw(8) == 0 ? 0 : 1 + draw(4), channels};
    for (size_t d = 0; d < kernel.size(); ++d) {
      padding.push_back(draw(1 + (op_ == "conv" ? 3 : kernel[d] / 2)));
      const int64_t span = dilation[d] * (kernel[d] - 1) + 1;
      sizes.push_back(std::max<int64_t>(1, span - (op_ == "conv" ? 2 * padding[d] : 0)) + draw(9));
    }
    const bool ceil_mode = draw(2) == 0, count_include_pad = draw(2) == 0;
    settings_ = {{"stride", stride}, {"padding", padding}};
    std::vector<Tensor> inputs{view(Shape(std::span<const int64_t>(sizes)))};
    if (op_ == "conv") {
      const int64_t filters = groups * (1 + draw(7));
      std::vector<int64_t> weight{filters, channels / groups};
      weight.insert(weight.end(), kernel.begin(), kernel.end());
      inputs.push_back(view(Shape(std::span<const int64_t>(weight))));
      if (draw(2) == 0) inputs.push_back(view({filters}));
      settings_["dilation"] = dilation, settings_["groups"] = groups;
    } else if (op_ != "adaptive_avg_pool") {
      settings_["kernel_size"] = kernel, settings_["ceil_mode"] = ceil_mode;
      if (op_ == "max_pool") settings_["dilation"] = dilation;
      if (op_ == "avg_pool") settings_["count_include_pad"] = count_include_pad;
    } else {
      settings_ = {{"output_size", several(dims, 1, 6)}};
    }
    for (Tensor& x : inputs) x = x.detach().set_trainable();
    Tape tape;
    const Tensor y = run(inputs, dims);
    const Tensor dy = rng_.split("dy").normal(y.shape(), 0, 1, dtype_);
    const std::vector<Tensor> dx = tape.gradient(y, inputs, dy);
    Json line{{"seed", seed_},         {"op", fmt::format("{}{}d", op_, dims)},
              {"settings", settings_}, {"dtype", dtype_ == Dtype::f32 ? "f32" : "f64"},
              {"y", json_of(y)},       {"dy", json_of(dy)}};
    for (size_t i = 0; i < inputs.size(); ++i)
      line["inputs"].push_back(json_of(inputs[i])), line["dx"].push_back(json_of(dx[i]));
    fmt::print("{}\n", line.dump());
  }

 private:
  int64_t draw(int64_t bound) {
    return static_cast<int64_t>(rng_.below(static_cast<uint64_t>(bound), drawn_++));
  }
  std::vector<int64_t> several(int dims, int64_t least, int64_t most) {
    std::vector<int64_t> numbers;
    for (int d = 0; d < dims; ++d) numbers.push_back(least + draw(most - least + 1));
    return numbers;
  }
  // Random numbers of this shape, half of the time a view of a transposed and larger tensor.
  Tensor view(const Shape& shape) {
    const Rng own = rng_.split(static_cast<uint64_t>(drawn_++));
    if (shape.ndim() < 2 || draw(2) == 0) return own.normal(shape, 0, 1, dtype_);
    const Shape larger = shape.with(-1, shape[-2]).with(-2, shape[-1] + 1);
    return transpose(slice(own.normal(larger, 0, 1, dtype_), -2, 0, shape[-1]));
  }
  PerDim setting(const char* name) const {
    const auto numbers = settings_.at(name).get<std::vector<int64_t>>();
    return numbers.size() == 1 ? PerDim(numbers[0]) : PerDim{numbers[0], numbers[1]};
  }
  Tensor run(const std::vector<Tensor>& x, int dims) const {
    if (op_ == "adaptive_avg_pool")
      return dims == 1 ? adaptive_avg_pool1d(x[0], setting("output_size"))
                       : adaptive_avg_pool2d(x[0], setting("output_size"));
    if (op_ == "conv") {
      const ConvOptions o{.stride = setting("stride"),
                          .padding = setting("padding"),
                          .dilation = setting("dilation"),
                          .groups = settings_.at("groups").get<int64_t>()};
      const Tensor bias = x.size() > 2 ? x[2] : Tensor();
      return dims == 1 ? conv1d(x[0], x[1], bias, o) : conv2d(x[0], x[1], bias, o);
    }
    const PerDim kernel = setting("kernel_size");
    const bool ceil_mode = settings_.at("ceil_mode").get<bool>();
    if (op_ == "max_pool") {
      const MaxPoolOptions o{.stride = setting("stride"),
                             .padding = setting("padding"),
                             .dilation = setting("dilation"),
                             .ceil_mode = ceil_mode};
      return dims == 1 ? max_pool1d(x[0], kernel, o) : max_pool2d(x[0], kernel, o);
    }
    const AvgPoolOptions o{.stride = setting("stride"),
                           .padding = setting("padding"),
                           .ceil_mode = ceil_mode,
                           .count_include_pad = settings_.at("count_include_pad").get<bool>()};
    return dims == 1 ? avg_pool1d(x[0], kernel, o) : avg_pool2d(x[0], kernel, o);
  }

  const uint64_t seed_;
  const Rng rng_;
  uint64_t drawn_ = 0;
  std::string op_;
  Dtype dtype_ = Dtype::f32;
  Json settings_;
};

}  // namespace
}  // namespace isobar

int main(int count, char** words) {
  if (count != 3) return 2;
  const uint64_t first = std::stoull(words[1]), end = first + std::stoull(words[2]);
  for (uint64_t seed = first; seed < end; ++seed) isobar::WindowCase(seed).print();
}
