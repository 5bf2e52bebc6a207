// Settings: the fields of a study's Config as data. One visit of fields() yields the command line's flags,
// the JSON of --print-config and --config, and the HDF5 attributes.
#pragma once

#include <utility>

#include "../../core/fields.h"
#include "json.h"

namespace isobar {

using Value = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                           std::vector<std::string>>;

// What is said after the name of a norm that a program does not have.
inline constexpr const char* own_norm =
    "; a norm of your own: link this study's target, or isobar::tool, with the file that registers it "
    "(nn/layers.md)";

struct Setting {
  std::string name, help;
  Limits limits;
  Value value;

  bool operator==(const Setting&) const = default;
};

// All fields in order, with their present values.
std::vector<Setting> settings_of(HasFields& config);
// "0.5", "true", "2,8,32".
std::string text_of(const Value& value);
// What --help says of a setting: its meaning, choices or bounds, and present value; and the kind of word that
// it takes: "N", "X", "TEXT", "N,...", or "" for a bool.
std::string help_of(const Setting& setting);
std::string type_of(const Value& value);

// Sets one field: to a value of a config file (a list is a text with commas, an integer may be a double, and a double
// that is whole an integer); or to what the user typed. Throws Error that begins with `who` ("--depth", "a.json: depth") for an unknown
// name, another type, a value beyond the limits or not finite, or elements that are equal.
void set_setting(HasFields& config, const std::string& name, const Value& value, const std::string& who);
void set_setting_text(HasFields& config, const std::string& name, const std::string& text,
                      const std::string& who);
// The same for a value that is no field of a Config.
void set_value(const SettingPointer& to, const Limits& limits, const std::string& text,
               const std::string& who);
// Names and values of flags: of "--depth 8 --bias=false" depth and bias. set_flags sets these fields. Throws Error
// for "--bias false", which a command line does not take.
std::vector<std::pair<std::string, std::string>> flags_in(const std::string& text);
void set_flags(HasFields& config, const std::string& text);
// Throws Error naming the flag of the first field whose present value is beyond its limits.
void check_settings(HasFields& config);

// The whole number that `text` means. Throws Error that begins with `who`.
int64_t parse_whole(const std::string& text, const Limits& limits, const std::string& who);

// {"depth": 8, …}; a list is a text with commas.
Json settings_json(HasFields& config);

// What a --config file says: names and values in order. Distrusts the text: at most 1 MiB, one object of
// plain values, no key twice. Throws Error that begins with `file` otherwise. Knows no names yet.
std::vector<std::pair<std::string, Value>> read_settings(const std::string& text, const std::string& file);

}  // namespace isobar
