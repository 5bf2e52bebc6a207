#include "formula.h"

#include <array>
#include <cstdlib>

namespace isobar::live {
namespace {

constexpr std::array<std::string_view, 10> functions = {"mean", "sum",     "abs", "sqrt", "exp",
                                                        "log",  "sigmoid", "erf", "tanh", "relu"};
constexpr size_t longest = 80, deepest = 40;

bool has(const Formula& f, const std::string& name) {
  return f.what == name || std::ranges::any_of(f.of, [&](const Formula& part) { return has(part, name); });
}
bool has_x(const Formula& f) { return has(f, "x"); }
// Whether it gives a number for each of x, and not one for a row.
bool of_width(const Formula& f) {
  if (f.what == "mean" || f.what == "sum") return false;
  return f.of.empty() ? f.what != "number" : std::ranges::any_of(f.of, of_width);
}

struct Parser {
  const std::string& text;
  size_t at = 0, depth = 0;

  [[noreturn]] void wrong(const std::string& wanted) const {
    size_t end = at + 1;  // of a character of UTF-8
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
    const std::string got = at < text.size() ? fmt::format("'{}'", text.substr(at, end - at)) : "the end";
    throw_error(fmt::format("at {}: wanted {}, got {}", at + 1, wanted, got));
  }
  void with_x(const Formula& inner, size_t begin) {
    if (has_x(inner)) return;
    at = begin;
    wrong("x in what a function or a power takes");
  }
  char next() {
    while (at < text.size() && text[at] == ' ') ++at;
    return at < text.size() ? text[at] : '\0';
  }
  bool takes(char c) {
    if (next() != c) return false;
    ++at;
    return true;
  }
  static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  static bool digit(char c) { return c >= '0' && c <= '9'; }

  Formula sum() {
    Formula all = product();
    for (char c = next(); c == '+' || c == '-'; c = next()) {
      ++at;
      all = {std::string(1, c), 0, {all, product()}};
    }
    return all;
  }
  Formula product() {
    Formula all = sign();
    for (char c = next(); c == '*' || c == '/'; c = next()) {
      ++at;
      all = {std::string(1, c), 0, {all, sign()}};
    }
    return all;
  }
  Formula sign() {
    if (++depth > deepest) wrong("less within each other");
    Formula one = takes('-') ? Formula{"neg", 0, {sign()}} : power();
    --depth;
    return one;
  }
  Formula power() {
    const size_t first = at;
    Formula base = atom();
    if (!takes('^')) return base;
    with_x(base, first);
    next();
    const size_t begin = at;
    const double exponent = digit(next()) ? number() : 0;
    if (exponent == 0.5 || (exponent >= 2 && exponent <= 9 && exponent == std::floor(exponent)))
      return {"^", exponent, {base}};
    at = begin;
    wrong("an exponent from 2 to 9, or 0.5");
  }
  double number() {
    if (text[at] == '0' && at + 1 < text.size() && (text[at + 1] | 32) == 'x')
      return ++at, 0;  // no hexadecimal
    char* end = nullptr;
    const double value = std::strtod(text.c_str() + at, &end);
    at = static_cast<size_t>(end - text.c_str());
    return value;
  }
  Formula atom() {
    const char c = next();
    const size_t begin = at;
    if (digit(c) || c == '.') {
      const double value = number();
      if (at == begin || !std::isfinite(value)) wrong("a number");
      return {"number", value};
    }
    if (takes('(')) {
      Formula inner = sum();
      if (!takes(')')) wrong("')' or an operation");
      return inner;
    }
    while (at < text.size() && letter(text[at])) ++at;
    const std::string name = text.substr(begin, at - begin);
    if (name == "x" || name == "w" || name == "b") return {name};
    if (std::ranges::count(functions, name) == 0) {
      at = begin;
      wrong("a number, x, w, b, '(' or one of mean, sum, abs, sqrt, exp, log, sigmoid, erf, tanh, relu");
    }
    if (!takes('(')) wrong("'(' after " + name);
    Formula inner = sum();
    if (!takes(')')) wrong("')' or an operation");
    with_x(inner, begin);
    return {name, 0, {inner}};
  }
};

}  // namespace

Formula parse_formula(const std::string& text) {
  check(text.size() <= longest, "at {}: a formula has {} characters at most", longest + 1, longest);
  Parser parser{text};
  Formula formula = parser.sum();
  parser.next();  // whose '\0' may be a character too
  if (parser.at < text.size()) parser.wrong("an operation or the end");
  check(has_x(formula), "at 1: a norm is a function of x, and this formula has none");
  check(of_width(formula),
        "at 1: a norm gives a number for each of x, and this formula one for a row; multiply by x or w");
  return formula;
}

namespace {

std::string cpp_of(const Formula& f) {
  const auto part = [&](size_t i) { return cpp_of(f.of[i]); };
  if (f.what == "number") {
    const std::string text = fmt::format("{}", f.value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  if (f.of.empty()) return f.what;
  if (f.what == "neg") return "(-1.0 * " + part(0) + ")";
  if (f.what == "^")
    return f.value == 0.5 ? "sqrt(" + part(0) + ")" : fmt::format("pow({}, {})", part(0), f.value);
  if (f.of.size() == 2) return "(" + part(0) + " " + f.what + " " + part(1) + ")";
  const bool of_rows = f.what == "mean" || f.what == "sum";
  return f.what + "(" + part(0) + (of_rows ? ", {-1}, true)" : ")");
}

}  // namespace

std::string header_of(const Formula& formula, const std::string& text) {
  std::string made, names, fields;  // of the parameters that it uses
  for (const auto& [letter, name, maker] : {std::array{"w", "weight", "ones"}, {"b", "bias", "zeros"}}) {
    if (!has(formula, letter)) continue;
    made += fmt::format("  isobar::Tensor {};\n", name);
    names += fmt::format("    {} = isobar::{}(normalized_shape).set_trainable();\n", name, maker);
    fields += fmt::format("    f(\"{0}\", {0});\n", name);
  }
  const std::string w = has(formula, "w") ? "    const Tensor& w = weight;\n" : "",
                    b = has(formula, "b") ? "    const Tensor& b = bias;\n" : "";
  return fmt::format(R"(// MyNorm: y = {}
#pragma once

#include <isobar/isobar.h>

struct MyNorm : isobar::Module {{
{}
  explicit MyNorm([[maybe_unused]] const isobar::Shape& normalized_shape) {{
{}  }}

  isobar::Tensor forward(const isobar::Tensor& x) override {{
    using namespace isobar;
{}{}    return {};
  }}
  void fields([[maybe_unused]] isobar::Fields& f) override {{
{}  }}
}};
)",
                     text, made, names, w, b, cpp_of(formula), fields);
}

Sample sample_of(const Formula& formula) {
  using spec::Int;
  const spec::Rng rng{1};
  const spec::Shape shape{3, 5};
  const auto drawn = [&](const char* name, const spec::Shape& of) {
    return spec::trainable(rng.split(name).normal<double>(of, 0, 1));
  };
  const spec::Tensor<double> x = drawn("x", shape), w = drawn("w", {5}), b = drawn("b", {5}),
                             dy(rng.split("dy").normal<double>(shape, 0, 1)), y = computed(formula, x, w, b);
  spec::backward(sum(dy * y));
  constexpr double h = 1e-5;
  double error = 0, largest = 0;
  for (Int i = 0; i < x.numel(); ++i) {
    const auto at = [&](double away) {
      spec::Array<double> moved = x.value();
      moved.x[i] += away;
      return sum(dy * computed(formula, spec::Tensor<double>(moved), w, b)).value().x[0];
    };
    const double off = std::abs((at(h) - at(-h)) / (2 * h) - x.grad().x[i]);
    if (std::isnan(off) || off > error) error = off;  // a NaN stays
    largest = std::max(largest, std::abs(x.grad().x[i]));
  }
  return {x.value().x,  w.value().x, b.value().x,
          dy.value().x, y.value().x, x.grad().x,
          w.grad().x,   b.grad().x,  largest == 0 ? error : error / largest};
}

}  // namespace isobar::live
