// Settings: the fields of a study's Config as data. One visit of fields() yields the command line's flags,
// the JSON of --print-config and --config, and the HDF5 attributes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "../../core/fields.h"
#include "json.h"

namespace isobar {

using Value = std::variant<bool, int64_t, double, std::string>;

struct Setting {
  std::string name, help;
  Choices choices;  // empty: any text
  Value value;

  bool operator==(const Setting&) const = default;
};

// All fields in order, with their present values.
std::vector<Setting> settings_of(HasFields& config);
// Sets one field. Throws Error that begins with `who` ("--depth", "a.json: depth") when there is none of that
// name, or the value is of another type or not among the choices. An integer is taken for a double.
void set_setting(HasFields& config, const std::string& name, const Value& value, const std::string& who);

// The value that `text` means for this setting: "true" or "false", a whole number in 64 bits, a finite
// number, or one of the choices. Throws Error that begins with `who` ("--depth").
Value parse_value(const Setting& setting, std::string_view text, const std::string& who);

// The whole number that `text` means. Throws Error that begins with `who` unless it is one from `least` to `most`.
int64_t parse_whole(std::string_view text, int64_t least, int64_t most, const std::string& who);

// Throws Error naming the flag unless 1 <= value <= most: the bound keeps a slip of the hand from filling the memory.
void check_size(const char* flag, int64_t value, int64_t most);

// {"depth": 8, …}
Json settings_json(HasFields& config);

// What a --config file says: names and values in order. Distrusts the text: at most 1 MiB, one object of
// plain values, no key twice. Throws Error that begins with `file` otherwise. Knows no names yet.
std::vector<std::pair<std::string, Value>> read_settings(const std::string& text, const std::string& file);

}  // namespace isobar
