// A random program as C++ that compiles against the library.
#include <fmt/ranges.h>

#include "program.h"

namespace isobar::random_programs {

constexpr const char* head = R"(#include <fmt/format.h>
#include <isobar/isobar.h>

#include <cmath>

using namespace isobar;

// Constants keep the values of the first run, so that differences see them as the tape does.
std::map<int, Tensor> constants;
Tensor constant(int value, const std::function<Tensor()>& f) {
  if (!constants.contains(value)) constants[value] = f().detach();
  return constants[value];
}

// A cast to f32 and back, left out where differences would see its steps.
bool rounding = true;
Tensor rounded(const Tensor& x) { return rounding ? cast(cast(x, Dtype::f32), Dtype::f64) : x; }

Tensor loss(const Tensor& y, int value) {
  return sum(y * Rng(seed).split("weights").split(value).normal(y.shape(), 0, 1, Dtype::f64));
}

)";

constexpr const char* wrong_double_text = R"(Tensor wrong_double(const Tensor& x) {
  const Tensor y = (x.detach() * 2).detach();
  return record("wrong_double", y, {x}, [](const Tensor& dy) { return dy * 3; });
}

)";

constexpr const char* tail = R"(
double value_of(const std::vector<Tensor>& leaves) {
  double total = 0;
  for (const Tensor& y : losses_of(leaves)) total += y.item();
  return total;
}

// The slope along an element, by four points.
double slope(const std::vector<Tensor>& leaves, size_t leaf, int64_t element) {
  const auto at = [&](double step) {
    std::vector<Tensor> moved;
    for (const Tensor& x : leaves) moved.push_back(x.detach());
    std::vector<double> values = moved[leaf].to_vector<double>();
    values[element] += step;
    moved[leaf] = tensor(moved[leaf].shape(), values);
    return value_of(moved);
  };
  const double h = 1e-3;
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

int main() {
  const std::vector<Tensor> leaves = make_leaves();
  {
    Tape tape({.higher_order = higher_order});
    for (const Tensor& y : losses_of(leaves)) tape.backward(y);
  }
  rounding = false;
  int wrong = 0;
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    if (!leaves[leaf].grad().defined()) continue;
    const std::vector<double> gradient = leaves[leaf].grad().to_vector<double>();
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double difference = slope(leaves, leaf, i);
      const bool right = std::abs(gradient[i] - difference) <= 1e-4 * std::max(1.0, std::abs(difference));
      wrong += !right;
      fmt::print("leaf {} element {}: gradient {:.10f}, difference {:.10f}{}\n", leaf, i, gradient[i],
                 difference, right ? "" : "  WRONG");
    }
  }
  return wrong == 0 ? 0 : 1;
}
)";

// $0, #0, #n and #* filled in.
std::string call_text(const Instruction& instruction) {
  std::string text;
  for (const char* c = instruction.op->text; *c != '\0'; ++c) {
    if (*c == '$')
      text += fmt::format("v{}", instruction.arguments[*++c - '0']);
    else if (*c != '#')
      text += *c;
    else if (*++c == '*')
      text += fmt::format("{}", fmt::join(instruction.numbers, ", "));
    else
      text += fmt::format(
          "{}", *c == 'n' ? static_cast<int64_t>(instruction.numbers.size()) : instruction.numbers[*c - '0']);
  }
  return text;
}

std::string lines_of(const std::vector<Instruction>& code, const std::string& indent);

std::string line_of(const Instruction& one, const std::string& indent) {
  const std::string argument = fmt::format("v{}", one.arguments.empty() ? -1 : one.arguments[0]);
  std::string open, last = "return {1}", close;
  switch (one.kind) {
    case Kind::op:
      return fmt::format("{}const Tensor v{} = {};\n", indent, one.value, call_text(one));
    case Kind::recomputed:
      open = fmt::format("recompute([=](const Tensor& v{}) {{\n", one.inner);
      close = fmt::format("}}, {});\n", argument);
      break;
    case Kind::paused:
      open = fmt::format("constant({}, [&] {{\n{}  const NoTape pause;\n{}  const Tensor v{} = {};\n",
                         one.value, indent, indent, one.inner, argument);
      close = "});\n";
      break;
    case Kind::nested:
      open = fmt::format(
          "constant({}, [&] {{\n{}  const Tensor v{} = {}.detach().set_trainable();\n{}  Tape inner;\n",
          one.value, indent, one.inner, argument, indent);
      close = "});\n";
      break;
  }
  const int result = one.body.back().value;
  last = one.kind == Kind::nested ? fmt::format("return inner.gradient(sum(v{}) + sum(v{}), {{v{}}})[0];\n",
                                                result, one.inner, one.inner)
                                  : fmt::format("return v{};\n", result);
  return fmt::format("{}const Tensor v{} = {}{}{}  {}{}{}", indent, one.value, open,
                     lines_of(one.body, indent + "  "), indent, last, indent, close);
}

std::string lines_of(const std::vector<Instruction>& code, const std::string& indent) {
  std::string text;
  for (const Instruction& instruction : code) text += line_of(instruction, indent);
  return text;
}

std::string leaves_text(const Program& program) {
  std::string text =
      "std::vector<Tensor> make_leaves() {\n  const Rng rng = Rng(seed).split(\"leaf\");\n  return {";
  for (size_t i = 0; i < program.leaves.size(); ++i)
    text += fmt::format("{}rng.split({}).normal(Shape{{{}}}, 0, 0.7, Dtype::f64).set_trainable({})",
                        i == 0 ? "" : ",\n          ", i, fmt::join(program.leaves[i].shape, ", "),
                        program.leaves[i].trainable);
  return text + "};\n}\n\n";
}

std::string cpp_text(const Program& program) {
  const std::string code = lines_of(program.code, "  ");
  std::string text = fmt::format(
      "// Random program {}: each gradient beside the difference.\n// clang-format off\n", program.seed);
  std::string names;
  for (size_t i = 0; i < program.leaves.size(); ++i)
    names += fmt::format("  [[maybe_unused]] const Tensor v{} = leaves[{}];\n", i, i);
  std::vector<std::string> losses;
  for (int value : program.losses) losses.push_back(fmt::format("loss(v{}, {})", value, value));
  const std::string constants =
      fmt::format("constexpr uint64_t seed = {};\nconstexpr bool higher_order = {};\n", program.seed,
                  program.higher_order);
  std::string start = head;
  start.insert(start.find("// Constants keep"), constants + "\n");
  text += start;
  if (code.find("wrong_double(") != std::string::npos) text += wrong_double_text;
  text += leaves_text(program);
  text += "std::vector<Tensor> losses_of(const std::vector<Tensor>& leaves) {\n" + names + code;
  return text + fmt::format("  return {{{}}};\n}}\n", fmt::join(losses, ", ")) + tail;
}

}  // namespace isobar::random_programs
