#include "tape_page.h"

#include <fmt/ranges.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "../../core/json_string.h"

namespace isobar {

namespace page {
// Written by page/embed.cmake: the page's files, and for each file of ops/ the ops " exp log " that it
// records with the comment at its top.
struct OpComment {
  const char *ops, *text;
};
extern const char html[], css[], js[];
extern const OpComment op_comments[];
}  // namespace page

namespace {

using Value = TapeTrace::Value;
using Input = TapeTrace::Input;

// As short as it reads back. JSON has no NaN and no infinity: they come as strings.
std::string json(double number, Dtype dtype) {
  if (std::isnan(number)) return "\"nan\"";
  if (std::isinf(number)) return number > 0 ? "\"inf\"" : "\"-inf\"";
  return dtype == Dtype::f32 ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
}

template <class Items, class F>
std::string json_list(const Items& items, const F& json_of) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(json_of(item));
  return fmt::format("[{}]", fmt::join(texts, ","));
}

std::string json(const Value& value) {
  const ValueRange& range = value.range;
  const auto number = [&](double x) { return json(x, range.dtype); };
  return fmt::format(
      R"({{"shape":[{}],"dtype":"{}","norm":{},"least":{},"greatest":{},"nans":{},"infinities":{},"numbers":{}}})",
      fmt::join(range.shape, ","), range.dtype, json(value.norm, Dtype::f32), number(range.least),
      number(range.greatest), range.nans, range.infinities, json_list(value.numbers, number));
}

std::string json(const TapeTrace::Source& source, const std::string& name) {
  const Tensor gradient = source.tensor.grad();
  return fmt::format(R"({{"name":{},"constant":{},"module":{},"value":{},"gradient":{}}})", json_string(name),
                     source.constant, json_string(source.module), json(source.value),
                     gradient.defined() && !source.constant ? json(TapeTrace::value_of(gradient)) : "null");
}

std::string json(const Input& input) {
  return fmt::format("[\"{}\",{}]",
                     input.kind == Input::Kind::op       ? "op"
                     : input.kind == Input::Kind::source ? "source"
                                                         : "absent",
                     input.number);
}

std::string json(const TapeTrace::Op& op) {
  return fmt::format(R"({{"name":{},"module":{},"inputs":{},"value":{}}})", json_string(op.name),
                     json_string(op.module),
                     json_list(op.inputs, [](const Input& input) { return json(input); }), json(op.value));
}

std::string json(const TapeTrace::Visit& visit) {
  const auto of_input = [](const std::optional<Value>& dx) { return dx ? json(*dx) : "null"; };
  return fmt::format(R"({{"op":{},"dy":{},"dx":{}}})", visit.op, json(visit.dy),
                     json_list(visit.dx, of_input));
}

std::string formulas(const TapeTrace& trace) {
  std::set<std::string> names;
  for (const TapeTrace::Op& op : trace.ops()) names.insert(op.name);
  std::vector<std::string> texts;
  for (const std::string& name : names)
    texts.push_back(fmt::format("{}:{}", json_string(name), json_string(formula_of(name))));
  return fmt::format("{{{}}}", fmt::join(texts, ","));
}

std::string name_of(const TapeTrace::Source& source, const std::vector<NamedTensor>& parameters) {
  for (const NamedTensor& parameter : parameters)
    if (parameter.tensor.id() == source.tensor.id()) return parameter.name;
  return source.constant ? "constant" : "parameter";
}

std::string data_of(const TapeTrace& trace, const std::vector<NamedTensor>& parameters) {
  const auto plain = [](const auto& item) { return json(item); };
  const auto source = [&](const TapeTrace::Source& of) { return json(of, name_of(of, parameters)); };
  const auto step = [](const TapeTrace::Step& of) {
    return fmt::format("[{},{}]", of.backward ? 1 : 0, of.number);
  };
  return fmt::format("{{\"sources\":{},\n\"ops\":{},\n\"visits\":{},\n\"steps\":{},\n\"formulas\":{}}}",
                     json_list(trace.sources(), source), json_list(trace.ops(), plain),
                     json_list(trace.visits(), plain), json_list(trace.steps(), step), formulas(trace));
}

// For readers without scripts: a line for each step.
std::string plain_text(const TapeTrace& trace) {
  std::string text;
  for (const TapeTrace::Step& step : trace.steps()) {
    const size_t number = step.backward ? trace.visits()[step.number].op : step.number;
    const TapeTrace::Op& op = trace.ops()[number];
    const Value& value = step.backward ? trace.visits()[step.number].dy : op.value;
    text += fmt::format("{:<8} {:>4} {:<16} {} {} norm {:.4g}  {}\n", step.backward ? "backward" : "forward",
                        number + 1, op.name, step.backward ? "dy" : "y", value.range.shape, value.norm,
                        op.module);
  }
  std::string escaped;
  for (const char c : text) escaped += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return escaped;
}

// The page with each @name@ replaced by its text.
std::string filled(const std::map<std::string, std::string>& texts) {
  std::string_view rest = page::html;
  std::string result;
  for (;;) {
    const size_t begin = rest.find('@'), end = rest.find('@', begin + 1);
    result += rest.substr(0, begin);
    if (begin == std::string_view::npos) return result;
    result += texts.at(std::string(rest.substr(begin + 1, end - begin - 1)));
    rest.remove_prefix(end + 1);
  }
}

// Whether a line "//   exp:  y = …" is of this op alone: it begins with "exp:", "exp  " or "y = exp(".
bool is_line_of(std::string_view line, std::string_view op) {
  if (line.starts_with("y = ")) return line.substr(4).starts_with(std::string(op) + "(");
  return line.starts_with(std::string(op) + ":") || line.starts_with(std::string(op) + "  ");
}

bool is_line_of_any(std::string_view line, std::string_view ops) {
  for (size_t begin = 1; begin < ops.size(); begin = ops.find(' ', begin) + 1)
    if (is_line_of(line, ops.substr(begin, ops.find(' ', begin) - begin))) return true;
  return false;
}

}  // namespace

std::string formula_of(std::string_view op) {
  for (const page::OpComment* file = page::op_comments; file->ops != nullptr; ++file) {
    if (std::string_view(file->ops).find(fmt::format(" {} ", op)) == std::string_view::npos) continue;
    std::string result;
    bool wanted = false;
    std::string_view rest = file->text;
    for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      if (!line.starts_with("//   ")) continue;
      line.remove_prefix(5);
      if (!line.starts_with(' ')) wanted = is_line_of(line, op) || !is_line_of_any(line, file->ops);
      if (wanted) result += fmt::format("{}\n", line);
    }
    return result;
  }
  return "";
}

std::string tape_page(const TapeTrace& trace, const std::vector<NamedTensor>& parameters) {
  check(
      !trace.ops().empty(),
      "tape_page: no op was recorded; make the TapeTrace before its Tape, and compute from trainable tensors");
  check(trace.ops().size() <= most_ops_of_page,
        "tape_page: wanted at most {} ops, got {}; trace one step alone, or a model of fewer layers",
        most_ops_of_page, trace.ops().size());
  return filled({{"style", page::css},
                 {"script", page::js},
                 {"text", plain_text(trace)},
                 {"data", data_of(trace, parameters)}});
}

void tape_page(const TapeTrace& trace, const std::string& path, const std::vector<NamedTensor>& parameters) {
  const std::string page = tape_page(trace, parameters);
  std::ofstream file(path, std::ios::binary);
  file << page;
  file.close();
  const bool written = file.good();
  const std::string why = std::strerror(errno);
  std::error_code none;
  if (!written && std::filesystem::is_regular_file(path, none))
    std::filesystem::remove(path, none);  // half a page
  check(written, "tape_page: cannot write '{}': {}", path, why);
}

}  // namespace isobar
