// torch_cases: computes random cases that torch_cases.py draws and compares with PyTorch. One case a line on
// standard input, one answer a line on standard output, both JSON:
//
//   {"op": "pad", "arguments": {"amounts": [1, 2], "value": 0}, "inputs": [ARRAY, …], "dy": ARRAY,
//    "directions": [ARRAY, …]}
//   {"y": ARRAY, "dx": [ARRAY, …], "ddx": [ARRAY, …]}   or   {"error": "pad: …"}
//
// An ARRAY is {"shape": [3], "dtype": "f32", "layout": "plain", "values": [0.5, 1, 2]}. dx are the gradients
// of Σ dy · y by every float input, ddx those of Σ dx · direction by the same inputs and by dy; ddx is absent
// where the case has no directions, dx too where y is a mask or holds positions.
#include <cmath>
#include <iostream>

#include "../../autograd/tape.h"
#include "op_calls.h"

namespace isobar {

Tensor array_of(const Json& json) {
  const Shape shape(json.at("shape").get<std::vector<int64_t>>());
  const Dtype dtype = dtype_from_name(json.at("dtype").get<std::string>());
  const std::string layout = json.at("layout").get<std::string>();
  if (!is_float(dtype)) return raw::cast(tensor(shape, json.at("values").get<std::vector<int64_t>>()), dtype);
  const Tensor x = raw::cast(tensor(shape, json.at("values").get<std::vector<double>>()), dtype);
  if (layout == "columns first") {
    std::vector<int> reversed(x.ndim());
    for (int d = 0; d < x.ndim(); ++d) reversed[d] = x.ndim() - 1 - d;
    return permute(raw::contiguous(permute(x, reversed)), reversed);
  }
  if (layout == "every second") {  // NaN is in the gaps
    Strides strides = shape.strides();
    for (int64_t& step : strides) step *= 2;
    return raw::as_strided(stack({full(shape, NAN, dtype), x}, -1), shape, strides, 1);
  }
  return x;
}

Json json_of(const Tensor& x) {
  return {{"shape", std::vector<int64_t>(x.shape().begin(), x.shape().end())},
          {"values", x.to_vector<double>()}};
}

Json json_of(const std::vector<Tensor>& xs) {
  Json result = Json::array();
  for (const Tensor& x : xs) result.push_back(json_of(x));
  return result;
}

std::vector<Tensor> arrays_of(const Json& list) {
  std::vector<Tensor> xs;
  for (const Json& json : list) xs.push_back(array_of(json));
  return xs;
}

Json answer(const Json& json) {
  const std::vector<Tensor> directions = arrays_of(json.at("directions"));
  std::vector<Tensor> inputs = arrays_of(json.at("inputs")), leaves;
  for (Tensor& x : inputs)
    if (is_float(x.dtype())) leaves.push_back(x.set_trainable());
  Tape tape({.higher_order = !directions.empty()});
  const Tensor y = call_op(json.at("op").get<std::string>(), json.at("arguments"), inputs);
  if (!is_float(y.dtype())) return {{"y", json_of(y)}};
  const Tensor dy = array_of(json.at("dy")).set_trainable();
  const std::vector<Tensor> dx = tape.gradient(y, leaves, dy);
  Json result{{"y", json_of(y)}, {"dx", json_of(dx)}};
  if (directions.empty()) return result;
  Tensor along = zeros(Shape(), y.dtype());
  for (size_t i = 0; i < dx.size(); ++i) along = along + sum(dx[i] * directions[i]);
  leaves.push_back(dy);
  std::vector<Tensor> ddx;
  if (raw::slot(along).tape == tape.serial())
    ddx = tape.gradient(along, leaves);
  else  // no element of x or y: nothing was recorded
    for (const Tensor& x : leaves) ddx.push_back(zeros(x.shape(), x.dtype()));
  result["ddx"] = json_of(ddx);
  return result;
}

}  // namespace isobar

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    isobar::Json result;
    try {
      result = isobar::answer(isobar::Json::parse(line));
    } catch (const std::exception& error) {
      result = {{"error", error.what()}};
    }
    std::cout << result.dump() << std::endl;
  }
}
