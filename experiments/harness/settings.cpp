#include "settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "../../data/utf8_stream.h"
#include "nearest.h"

namespace isobar {
namespace {

// Lists the fields.
class Reader : public Fields {
 public:
  std::vector<Setting> settings;

 protected:
  void on_bool(std::string_view name, bool& value, std::string_view help) override {
    add(name, help, {}, value);
  }
  void on_int(std::string_view name, int64_t& value, std::string_view help) override {
    add(name, help, {}, value);
  }
  void on_double(std::string_view name, double& value, std::string_view help) override {
    add(name, help, {}, value);
  }
  void on_string(std::string_view name, std::string& value, std::string_view help,
                 const Choices& choices) override {
    add(name, help, choices, value);
  }
  void on_part(std::string_view name, HasFields&) override {
    throw_error(fmt::format("config: field '{}' has fields of its own; a Config is flat", name));
  }

 private:
  void add(std::string_view name, std::string_view help, const Choices& choices, const Value& value) {
    settings.push_back({std::string(name), std::string(help), choices, value});
  }
};

const char* wanted_text(const Value& value) {
  constexpr const char* texts[] = {"true or false", "a whole number", "a finite number", "a text"};
  return texts[value.index()];
}

std::string text_of(const Value& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

[[noreturn]] void refuse(const std::string& who, std::string_view wanted, std::string_view got) {
  throw_error(fmt::format("{}: wanted {}, got '{}'", who, wanted, one_line(got)));
}

void check_choice(const Choices& choices, const std::string& text, const std::string& who) {
  if (choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) return;
  throw_error(fmt::format("{}: wanted one of {}, got '{}'{}", who, fmt::join(choices, ", "), one_line(text),
                          did_you_mean(text, choices)));
}

// Writes one field.
class Writer : public Fields {
 public:
  Writer(const std::string& name, const Value& value, const std::string& who)
      : name_(name), value_(value), who_(who) {}
  bool found = false;

 protected:
  void on_bool(std::string_view name, bool& field, std::string_view) override { set(name, field); }
  void on_int(std::string_view name, int64_t& field, std::string_view) override { set(name, field); }
  void on_double(std::string_view name, double& field, std::string_view) override {
    const auto* whole = std::get_if<int64_t>(&value_);
    if (name == name_ && whole != nullptr) {
      field = static_cast<double>(*whole);
      found = true;
    } else {
      set(name, field);
    }
  }
  void on_string(std::string_view name, std::string& field, std::string_view,
                 const Choices& choices) override {
    if (name == name_ && std::holds_alternative<std::string>(value_))
      check_choice(choices, std::get<std::string>(value_), who_);
    set(name, field);
  }

 private:
  template <class T>
  void set(std::string_view name, T& field) {
    if (name != name_) return;
    const T* value = std::get_if<T>(&value_);
    if (value == nullptr) refuse(who_, wanted_text(Value(field)), text_of(value_));
    field = *value;
    found = true;
  }

  const std::string& name_;
  const Value& value_;
  const std::string& who_;
};

template <class T>
bool parse_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Follows a configuration's JSON, event by event. What does not belong there throws at once, before anything
// is built from it.
class FileReader : public nlohmann::json_sax<Json> {
 public:
  explicit FileReader(const std::string& file) : file_(file) {}
  std::vector<std::pair<std::string, Value>> settings;

  bool null() override {
    throw_error(fmt::format("{}: '{}' has the value null; leave it out", file_, one_line(key_)));
  }
  bool boolean(bool value) override { return take(value); }
  bool number_integer(number_integer_t value) override { return take(int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    check(value <= static_cast<uint64_t>(INT64_MAX), "{}: '{}' is a whole number beyond 64 bits: {}", file_,
          one_line(key_), value);
    return take(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return take(value); }
  bool string(string_t& value) override { return take(value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override {
    check(depth_++ == 0, "{}: '{}' is an object; wanted a plain value", file_, one_line(key_));
    return true;
  }
  bool end_object() override { return true; }
  bool key(string_t& key) override {
    for (const auto& [name, value] : settings)
      check(name != key, "{}: '{}' occurs twice; keep one", file_, one_line(key));
    key_ = key;
    check(settings.size() < 1000, "{}: more than 1000 settings", file_);
    return true;
  }
  bool start_array(size_t) override {
    throw_error(fmt::format("{}: wanted one object of plain values, got an array", file_));
  }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    throw_error(
        fmt::format("{}: not valid JSON near byte {}: {}", file_, position, one_line(error.what(), 200)));
  }

 private:
  bool take(Value value) {
    check(depth_ == 1, "{}: wanted an object such as --print-config prints, got a single value", file_);
    settings.emplace_back(key_, std::move(value));
    return true;
  }

  const std::string& file_;
  std::string key_;
  int depth_ = 0;
};

std::vector<std::string> names_of(const std::vector<Setting>& settings) {
  std::vector<std::string> names;
  for (const Setting& setting : settings) names.push_back(setting.name);
  return names;
}

}  // namespace

std::vector<Setting> settings_of(HasFields& config) {
  Reader reader;
  config.fields(reader);
  return reader.settings;
}

void set_setting(HasFields& config, const std::string& name, const Value& value, const std::string& who) {
  Writer writer(name, value, who);
  config.fields(writer);
  check(writer.found, "{}: no such setting{}", who, did_you_mean(name, names_of(settings_of(config))));
}

Value parse_value(const Setting& setting, std::string_view text, const std::string& who) {
  const char* wanted = wanted_text(setting.value);
  if (std::holds_alternative<bool>(setting.value)) {
    if (text != "true" && text != "false") refuse(who, wanted, text);
    return text == "true";
  }
  if (std::holds_alternative<int64_t>(setting.value)) {
    int64_t number = 0;
    if (!parse_number(text, number)) refuse(who, wanted, text);
    return number;
  }
  if (std::holds_alternative<double>(setting.value)) {
    double number = 0;
    if (!parse_number(text, number) || !std::isfinite(number)) refuse(who, wanted, text);
    return number;
  }
  check_choice(setting.choices, std::string(text), who);
  return std::string(text);
}

int64_t parse_whole(std::string_view text, int64_t least, int64_t most, const std::string& who) {
  int64_t number = 0;
  check(parse_number(text, number) && number >= least && number <= most,
        "{}: wanted a whole number from {} to {}, got '{}'", who, least, most, one_line(text));
  return number;
}

void check_size(const char* flag, int64_t value, int64_t most) {
  check(value >= 1 && value <= most, "--{}: wanted a whole number from 1 to {}, got '{}'", flag, most, value);
}

Json settings_json(HasFields& config) {
  Json json = Json::object();
  for (const Setting& setting : settings_of(config))
    std::visit([&](const auto& value) { json[setting.name] = value; }, setting.value);
  return json;
}

std::vector<std::pair<std::string, Value>> read_settings(const std::string& text, const std::string& file) {
  check(text.size() <= size_t{1} << 20, "{}: wanted a configuration of at most 1 MiB, got {} bytes", file,
        text.size());
  FileReader reader(file);
  Json::sax_parse(text, &reader);
  return reader.settings;
}

}  // namespace isobar
