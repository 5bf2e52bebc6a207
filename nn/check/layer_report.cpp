#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "../../autograd/inspect.h"
#include "../../autograd/tape_log.h"
#include "../../core/rng.h"
#include "../check_layer.h"

namespace isobar {
namespace {

bool about_gradients(const std::string& check) {
  return check.starts_with("gradient") || check == "used twice";
}

// One step of the layer, forward and backward under a random dy: its tape as text, or as a drawing.
std::string tape_of(const CheckedLayer& layer, bool drawing) {
  const std::unique_ptr<Module> module = layer.make();
  std::vector<Tensor> inputs;
  std::vector<std::string> shapes;
  for (const Tensor& example : layer.x) {
    inputs.push_back(is_float(example.dtype()) ? cast(example, Dtype::f32).detach().set_trainable()
                                               : example);
    shapes.push_back(example.shape().text());
  }
  const TapeLog log;
  Tape tape({.rng = Rng(3)});
  const Tensor y = layer.options.call != nullptr ? layer.options.call(*module, inputs) : (*module)(inputs[0]);
  if (drawing) return tape_dot(tape);
  if (tape.needs_gradient(y)) tape.backward(y, Rng(4).normal(y.shape(), 0, 1, y.dtype()));
  std::vector<std::pair<std::string, Tensor>> parameters;
  for (const NamedTensor& parameter : named_state(*module))
    if (is_float(parameter.tensor.dtype())) parameters.emplace_back(parameter.name, parameter.tensor);
  return fmt::format("{} on x {}\n{}{}", layer.name, fmt::join(shapes, ", "), log.text(),
                     log.missing_gradients(parameters));
}

}  // namespace

bool LayerReport::passed() const {
  return std::none_of(checks.begin(), checks.end(),
                      [](const LayerCheck& check) { return check.outcome == LayerCheck::failed; });
}

std::string LayerReport::text() const {
  const auto failed = std::find_if(checks.begin(), checks.end(), [](const LayerCheck& check) {
    return check.outcome == LayerCheck::failed;
  });
  std::string text;
  if (failed == checks.end())
    text = fmt::format("{}: right, {} checks\n", layer, checks.size());
  else if (diagnosis.cause != Cause::none && about_gradients(failed->name))
    text = fmt::format("{}: WRONG gradient of {}\n", layer, diagnosis.text);
  else
    text = fmt::format("{}: WRONG: {}: {}\n", layer, failed->name, failed->text);
  size_t width = 16;
  for (const LayerCheck& check : checks) width = std::max(width, check.name.size());
  for (const LayerCheck& check : checks) {
    const char* mark = check.outcome == LayerCheck::passed   ? "ok"
                       : check.outcome == LayerCheck::failed ? "WRONG"
                                                             : "skipped";
    text += fmt::format("  {:<8} {:<{}}  {}\n", mark, check.name, width, check.text);
  }
  if (!worst.empty())
    text += fmt::format("  {:<26} {:>14} {:>14}\n", "worst, for a random dy", "tape", "differences");
  for (const GradientEntry& entry : worst)
    text += fmt::format("    {:<24} {:>14.6g} {:>14.6g}\n", entry.index, entry.tape, entry.numeric);
  return text;
}

int check_layer_main(int argc, char** argv, const std::vector<CheckedLayer>& layers) {
  std::vector<std::string> wanted(argv + std::min(argc, 1), argv + argc);
  std::string option;
  if (!wanted.empty() && wanted[0].starts_with("--")) {
    option = wanted[0];
    wanted.erase(wanted.begin());
  }
  std::vector<std::string> names;
  for (const CheckedLayer& layer : layers) names.push_back(layer.name);
  const auto holds = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  if (!holds({"", "--list", "--tape", "--dot"}, option)) {
    fmt::print(stderr, "check_layer: wanted --list, --tape, --dot or names of layers, got {}\n", option);
    return 2;
  }
  for (const std::string& name : wanted)
    if (!holds(names, name)) {
      fmt::print(stderr, "check_layer: no layer is called '{}'; there are: {}\n", name,
                 fmt::join(names, ", "));
      return 2;
    }
  bool passed = true;
  for (const CheckedLayer& layer : layers) {
    if (!wanted.empty() && !holds(wanted, layer.name)) continue;
    if (option == "--list") {
      fmt::print("{}\n", layer.name);
    } else if (!option.empty()) {
      fmt::print("{}", tape_of(layer, option == "--dot"));
    } else {
      const LayerReport report = check_layer(layer.make, layer.x, layer.options);
      fmt::print("{}", report.text());
      passed = passed && report.passed();
    }
  }
  return passed ? 0 : 1;
}

}  // namespace isobar
