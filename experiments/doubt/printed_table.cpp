#include "printed_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <tuple>

#include <toml++/toml.h>

#include "../../data/utf8_stream.h"
#include "../claims/toml_table.h"
#include "../run/settings.h"

namespace isobar::doubt {
namespace {

const QuantityName& name_of(Quantity quantity) {
  return *std::ranges::find(quantity_names(), quantity, &QuantityName::quantity);
}

// The exponent after "e", and where it begins; 0 and the end of the text without one. The text is a number.
std::pair<int, size_t> exponent_of(const std::string& text) {
  const size_t e = text.find_first_of("eE");
  if (e == std::string::npos) return {0, text.size()};
  return {std::stoi(text.substr(e + 1)), e};
}

// Where the net computes a number: upwards layer by layer, then gradients from the last layer down.
std::tuple<bool, int64_t, Quantity> order_of(const Number& number) {
  const bool gradient = is_gradient(number.quantity);
  return {gradient, gradient ? -number.layer : number.layer, number.quantity};
}

Scale scale_of(Quantity quantity, const decay::Config& net) {
  if (quantity == Quantity::mean) return Scale::value;
  return quantity == Quantity::std && net.topology == "plain" && net.norm != "none" ? Scale::square
                                                                                    : Scale::logarithm;
}

toml::table parse(std::string_view text, const std::string& path) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw_error(fmt::format("{}, line {}: {}", path, error.source().begin.line, error.description()));
  }
}

}  // namespace

const std::vector<QuantityName>& quantity_names() {
  static const std::vector<QuantityName> names = {
      {Quantity::input_std, "input_std", "std of the input", "std of the input, one number"},
      {Quantity::linear_std, "linear_std", "std after the matrix", "std after each layer's first matrix"},
      {Quantity::norm_std, "norm_std", "std after the norm", "std after each layer's norm"},
      {Quantity::std, "std", "std", "std after each layer, or block"},
      {Quantity::mean, "mean", "mean", "mean after each layer, or block"},
      {Quantity::weight_gradient_norm, "weight_gradient_norm", "weight gradient norm",
       "gradient norm of each layer's first matrix"},
      {Quantity::output_gradient_norm, "output_gradient_norm", "output gradient norm",
       "gradient norm of each layer's output"},
  };
  return names;
}

std::string Number::name() const {
  return quantity == Quantity::input_std ? name_of(quantity).words
                                         : fmt::format("{} of layer {}", name_of(quantity).words, layer);
}

Number number_of(Quantity quantity, int64_t layer, const std::string& text, const std::string& error_prefix) {
  Number number{.quantity = quantity, .layer = layer, .text = text, .value = 0, .unit = 0};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  check(
      error == std::errc() && end == text.data() + text.size() && std::isfinite(number.value),
      "{}: wanted a number as it is printed, such as 0.8932 or 1.2e-05, got '{}'; write - for a layer that has none",
      error_prefix, one_line(text));
  check(number.value >= 0 || quantity == Quantity::mean,
        "{}: a {} cannot be negative, got {}; write what is printed", error_prefix, name_of(quantity).words,
        text);
  const auto [exponent, mantissa] = exponent_of(text);
  const size_t point = std::min(text.find('.'), mantissa);
  const int decimals = point == mantissa ? 0 : static_cast<int>(mantissa - point - 1);
  number.unit = std::pow(10.0, exponent - decimals);
  check(number.unit > 0 && std::isfinite(number.unit), "{}: {} has more digits than a double; round it",
        error_prefix, text);
  return number;
}

void PrintedTable::add(Quantity quantity, const std::string& texts, const std::string& error_prefix) {
  std::istringstream words(texts);
  int64_t layer = 0;
  for (std::string word; words >> word;) {
    layer += quantity != Quantity::input_std;
    if (const size_t colon = word.find(':'); colon != std::string::npos && quantity != Quantity::input_std) {
      const int64_t named =
          parse_whole(word.substr(0, colon), between(1, 100'000), error_prefix + ": the layer before :");
      check(named >= layer, "{}: layer {} stands after layer {}; give layers in their order", error_prefix,
            named, layer - 1);
      layer = named;
      word = word.substr(colon + 1);
    }
    if (word != "-") numbers.push_back(number_of(quantity, layer, word, error_prefix));
  }
  const auto given = std::ranges::count(numbers, quantity, &Number::quantity);
  check(given > 0, "{}: wanted numbers as they are printed, got none", error_prefix);
  check(quantity != Quantity::input_std || given == 1, "{}: wanted one number, got {}", error_prefix, given);
}

void PrintedTable::finish(const std::string& error_prefix) {
  try {
    check_settings(net);
    net.check_together();
  } catch (const Error& error) {
    throw_error(error_prefix + error.what());
  }
  check(!numbers.empty(),
        "{}no number is given; add one, such as std = \"0.89 0.64\" (--std on the command line)",
        error_prefix);
  check(numbers.size() <= most_numbers, "{}wanted at most {} numbers, got {}; leave layers out with -",
        error_prefix, most_numbers, numbers.size());
  for (Number& number : numbers) {
    number.scale = scale_of(number.quantity, net);
    check(number.layer <= net.depth,
          "{}{}: the net has depth {}; give as many numbers as layers, or another depth", error_prefix,
          number.name(), net.depth);
    check(number.quantity != Quantity::norm_std || net.norm != "none",
          "{}norm_std: the net has no norm; give it one (norm = \"rmsnorm\"), or call the numbers std",
          error_prefix);
  }
  std::ranges::stable_sort(numbers, {}, order_of);
}

void read_table(std::string_view text, const std::string& path, PrintedTable& table) {
  const toml::table root = parse(text, path);
  claims::TomlTable fields(root, path, "the table");
  std::vector<std::string> known = {"text", "address"};
  for (const QuantityName& name : quantity_names()) known.emplace_back(name.field);
  const std::vector<Setting> settings = settings_of(table.net);
  for (const Setting& setting : settings)
    if (setting.name != "seeds") known.push_back(setting.name);
  fields.allow(known);

  table.text = fields.text_or("text", "");
  table.address = fields.text_or("address", "");
  const auto place = [&](const std::string& field) {
    return fmt::format("{}, line {}: {}", path, fields.line_of(field.c_str()), field);
  };
  for (const Setting& setting : settings) {
    const char* const name = setting.name.c_str();
    if (setting.name == "seeds" || !fields.has(name)) continue;
    const Value value = std::holds_alternative<std::string>(setting.value) ? Value(fields.text(name))
                                                                           : Value(fields.number(name));
    set_setting(table.net, setting.name, value, place(setting.name));
  }
  for (const QuantityName& name : quantity_names()) {
    if (!fields.has(name.field)) continue;
    check(root.get(name.field)->is_string(),
          "{}: wanted the numbers as they are printed, in quotes: {} = \"0.8932 0.6421\"", place(name.field),
          name.field);
    table.add(name.quantity, fields.text(name.field), place(name.field));
  }
}

}  // namespace isobar::doubt
