// PrintedTable: a net, and the numbers that a text prints of it. From a TOML file or from the command line:
//
//   text = "source 003, table 2.1"
//   depth = 8
//   width = 512
//   input_std = "1.0405"
//   std = "0.8932 0.6421 0.4156 0.2387 0.1024 0.0432 0.0198 0.0163"
//   weight_gradient_norm = "0.000012 0.000045 0.000231 7:0.123456 0.432156"
//
// The net's fields are those of decay_study (nets/decay/config.h), by the same names and with the same
// defaults. Numbers are texts: 0.10 says that it was rounded to a hundredth, and 0.1 does not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../nets/decay/config.h"

namespace isobar::doubt {

enum class Quantity {
  input_std,
  std,
  linear_std,
  norm_std,
  mean,
  weight_gradient_norm,
  output_gradient_norm
};

struct QuantityName {
  Quantity quantity;
  const char *field, *words, *help;
};
// All of them. `field` is the name in a file and on the command line.
const std::vector<QuantityName>& quantity_names();

inline bool is_gradient(Quantity quantity) {
  return quantity == Quantity::weight_gradient_norm || quantity == Quantity::output_gradient_norm;
}
// What of a value is nearly normal from seed to seed: the value itself, of a mean; the logarithm of a product over
// layers; the square of a std behind a norm, whose mean square is nearly the same in every net.
enum class Scale { value, logarithm, square };

struct Number {
  Quantity quantity;
  int64_t layer;     // 1 the first; 0 for the input
  std::string text;  // as printed
  double value;
  double unit;                     // of its last digit: 0.0001 for "0.8932", 1e33 for "1.322e+36"
  Scale scale = Scale::logarithm;  // PrintedTable::finish() sets it

  std::string name() const;  // "std of layer 1"
};

// The printed number. Throws Error that begins with `error_prefix` for what is none, and for a negative one
// of a quantity that cannot be negative.
Number number_of(Quantity quantity, int64_t layer, const std::string& text, const std::string& error_prefix);

struct PrintedTable {
  std::string text, address;  // where the numbers are printed; both may be empty
  decay::Config net;
  std::vector<Number> numbers;  // in the order in which the net computes them

  // Adds what one field prints: numbers for the layers from the first on. "-" stands for a layer that is not
  // printed, and "7:0.1234" is layer 7's. Throws Error that begins with `error_prefix`.
  void add(Quantity quantity, const std::string& texts, const std::string& error_prefix);
  // Throws Error for a net without meaning, for numbers that this net does not have, and for none at all.
  // `error_prefix` names the file, or is empty. Puts the numbers into their order. To be called last.
  void finish(const std::string& error_prefix);
};

inline constexpr size_t most_numbers = 128;

// Reads a TOML file's text into `table`. Throws Error that begins with `path`. The caller calls finish().
void read_table(std::string_view text, const std::string& path, PrintedTable& table);

}  // namespace isobar::doubt
