#include "settings.h"

#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "../../data/json_text.h"
#include "../../data/utf8_stream.h"
#include "lists.h"

namespace isobar {
namespace {

// Calls f(name, field, help, limits) for every field, with the field as what it is.
template <class F>
void each_setting(HasFields& config, F f) {
  struct Visitor : Fields {
    explicit Visitor(F& called) : f(called) {}
    F& f;

   protected:
    void on_setting(std::string_view name, const SettingPointer& value, std::string_view help,
                    const Limits& limits) override {
      std::visit([&](auto* field) { f(name, *field, help, limits); }, value);
    }
    void on_part(std::string_view name, HasFields&) override {
      throw_error(fmt::format("config: field '{}' has fields of its own; a Config is flat", name));
    }
  } visitor(f);
  config.fields(visitor);
}

template <class T>
struct ElementOf {
  using type = T;
};
template <class T>
struct ElementOf<std::vector<T>> {
  using type = T;
};
template <class T>
using Element = typename ElementOf<T>::type;
template <class T>
constexpr bool is_list = !std::same_as<T, Element<T>>;

template <class T>
std::optional<T> parsed(std::string_view text) {
  if constexpr (is_list<T>) {
    T list;
    for (const std::string& word : words_of(std::string(text))) {
      std::optional<Element<T>> element = parsed<Element<T>>(word);
      if (!element) return std::nullopt;
      list.push_back(std::move(*element));
    }
    return list;
  } else if constexpr (std::same_as<T, std::string>) {
    return std::string(text);
  } else if constexpr (std::same_as<T, bool>) {
    return text == "true" || text == "false" ? std::optional(text == "true") : std::nullopt;
  } else {
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
  }
}

// A value of a config file as a T.
template <class T>
std::optional<T> converted(const Value& value) {
  if (const T* same = std::get_if<T>(&value)) return *same;
  if constexpr (std::same_as<T, double>)
    if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  if constexpr (std::same_as<T, int64_t>)  // JSON does not tell 3.0 from 3
    if (const auto* number = std::get_if<double>(&value); number != nullptr && std::trunc(*number) == *number)
      if (std::abs(*number) < 0x1p63) return static_cast<int64_t>(*number);
  if constexpr (is_list<T>)
    if (const auto* text = std::get_if<std::string>(&value)) return parsed<T>(*text);
  return std::nullopt;
}

template <class T>
bool allowed(const T& value, const Limits& limits) {
  if constexpr (is_list<T>) {
    return (limits.may_be_none || !value.empty()) &&
           std::ranges::all_of(value, [&](const Element<T>& element) {
             return allowed(element, limits) && std::ranges::count(value, element) == 1;
           });
  } else if constexpr (std::same_as<T, std::string>) {
    return limits.choices.empty() || std::ranges::count(limits.choices, value) > 0;
  } else if constexpr (std::same_as<T, bool>) {
    return true;
  } else {
    const auto number = static_cast<double>(value);
    return std::isfinite(number) && number >= limits.least && number <= limits.most &&
           !(limits.least_is_out && number == limits.least) && !(limits.most_is_out && number == limits.most);
  }
}

// "1 to 4096", "> 0", ">= 0 and < 1"; "" where there is no bound.
std::string bounds_text(const Limits& limits) {
  const bool least = std::isfinite(limits.least), most = std::isfinite(limits.most);
  if (least && most && !limits.least_is_out && !limits.most_is_out)
    return fmt::format("{} to {}", limits.least, limits.most);
  std::string text;
  if (least) text = fmt::format("{} {}", limits.least_is_out ? ">" : ">=", limits.least);
  if (most)
    text += fmt::format("{}{} {}", least ? " and " : "", limits.most_is_out ? "<" : "<=", limits.most);
  return text;
}

// The choices where they are few enough to read.
std::string choices_text(const Limits& limits) {
  return limits.choices.size() > 20 ? "" : fmt::format("{}", fmt::join(limits.choices, ", "));
}

// "a whole number from 1 to 4096", "numbers > 0 with commas between, each once, such as 1,2".
template <class T>
std::string wanted(const T& now, const Limits& limits) {
  using E = Element<T>;
  const std::string bounds = bounds_text(limits), choices = choices_text(limits),
                    plural = is_list<T> ? "s" : "";
  std::string text;
  if constexpr (std::same_as<T, bool>) {
    text = "true or false";
  } else if constexpr (!std::same_as<E, std::string>) {
    text = std::same_as<E, int64_t> ? "whole number" : bounds.empty() ? "finite number" : "number";
    text = (is_list<T> ? "" : "a ") + text + plural;
    if (!bounds.empty()) text += (bounds[0] == '>' || bounds[0] == '<' ? " " : " from ") + bounds;
  } else if (!choices.empty()) {
    text = (is_list<T> ? "some of " : "one of ") + choices;
  } else {
    text = is_list<T> ? "words" : "a text";
  }
  if constexpr (is_list<T>) {
    text += " with commas between, each once";
    if (choices.empty() && !now.empty())
      text += ", such as " + text_of(T(now.begin(), now.begin() + std::min<ptrdiff_t>(2, std::ssize(now))));
  }
  return text;
}

// What the user may have meant by the first word that is no choice.
std::string hint(const std::string& text, const Limits& limits) {
  const auto has_norm = [](const std::string& choice) {  // "rmsnorm", "pre.rmsnorm"
    return std::string_view(choice).substr(choice.rfind('.') + 1) == "rmsnorm";
  };
  for (const std::string& word : words_of(text))
    if (!limits.choices.empty() && !allowed(word, limits))
      return (std::ranges::any_of(limits.choices, has_norm) ? own_norm : "") +
             did_you_mean(word, limits.choices);
  return "";
}

// Whether a word is a whole number that no int64_t holds.
bool beyond_64_bits(const std::string& text) {
  return std::ranges::any_of(words_of(text), [](const std::string& word) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc::result_out_of_range && end == word.data() + word.size();
  });
}

// What a refusal quotes: a text, and how it was written.
struct Given {
  std::string text, written;
};
Given typed(const std::string& text) { return {text, fmt::format("'{}'", one_line(text))}; }
// As JSON, where "3", 3 and 3.0 are three things.
Given in_json(const Value& value) {
  const Json json = std::visit(
      [](const auto& v) {
        if constexpr (is_list<std::decay_t<decltype(v)>>)
          return Json(text_of(v));
        else
          return Json(v);
      },
      value);
  return {text_of(value), one_line(json.dump())};
}

template <class T>
void put(T& field, const std::optional<T>& value, const Limits& limits, const Given& got,
         const std::string& who) {
  if (!value || !allowed(*value, limits)) {
    const bool large = std::same_as<Element<T>, int64_t> && !value && !std::isfinite(limits.most) &&
                       beyond_64_bits(got.text);
    throw_error(fmt::format("{}: wanted {}{}, got {}{}", who, wanted(field, limits),
                            large ? fmt::format(" of at most {} in size", INT64_MAX) : "", got.written,
                            hint(got.text, limits)));
  }
  field = *value;
}

// Puts get(field) into the field of this name; `got` is what a refusal quotes.
template <class Get>
void set_field(HasFields& config, const std::string& name, const Given& got, const std::string& who,
               Get get) {
  std::vector<std::string> names;
  bool found = false;
  each_setting(config, [&](std::string_view one, auto& field, std::string_view, const Limits& limits) {
    names.emplace_back(one);
    if (one != name) return;
    put(field, get(field), limits, got, who);
    found = true;
  });
  check(found, "{}: no such setting{}", who, did_you_mean(name, names));
}

}  // namespace

std::vector<Setting> settings_of(HasFields& config) {
  std::vector<Setting> settings;
  each_setting(config, [&](std::string_view name, auto& field, std::string_view help, const Limits& limits) {
    settings.push_back({std::string(name), std::string(help), limits, field});
  });
  return settings;
}

std::string text_of(const Value& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (is_list<std::decay_t<decltype(v)>>)
          return fmt::format("{}", fmt::join(v, ","));
        else
          return fmt::format("{}", v);
      },
      value);
}

std::string help_of(const Setting& setting) {
  const std::string bounds = bounds_text(setting.limits), now = text_of(setting.value);
  std::string text = setting.help;
  if (const std::string choices = choices_text(setting.limits); !choices.empty())
    text += fmt::format(" {{{}}}", choices);
  if (!bounds.empty()) text += fmt::format(" ({})", bounds);
  return fmt::format("{} [{}]", text, now.empty() ? "none" : now == "\n" ? "a newline" : now);
}

std::string type_of(const Value& value) {
  constexpr const char* texts[] = {"", "N", "X", "TEXT", "N,...", "X,...", "TEXT,..."};
  return texts[value.index()];
}

void set_setting(HasFields& config, const std::string& name, const Value& value, const std::string& who) {
  set_field(config, name, in_json(value), who,
            [&](const auto& field) { return converted<std::decay_t<decltype(field)>>(value); });
}

void set_setting_text(HasFields& config, const std::string& name, const std::string& text,
                      const std::string& who) {
  set_field(config, name, typed(text), who,
            [&](const auto& field) { return parsed<std::decay_t<decltype(field)>>(text); });
}

void set_value(const SettingPointer& to, const Limits& limits, const std::string& text,
               const std::string& who) {
  std::visit([&]<class T>(T* field) { put(*field, parsed<T>(text), limits, typed(text), who); }, to);
}

std::vector<std::pair<std::string, std::string>> flags_in(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> flags;
  const std::vector<std::string> words = shell_words(text).value();
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t end = std::min(words[i].find('='), words[i].size());
    const std::string name = words[i].substr(2, end - 2);
    const bool joined = end < words[i].size();
    const std::string value = joined ? words[i].substr(end + 1) : words.at(++i);
    // The command line would take --bias alone, and refuse the word after it.
    check(joined || (value != "true" && value != "false"), "--{0} {1}: wanted --{0}={1}", name, value);
    flags.emplace_back(name, value);
  }
  return flags;
}

void set_flags(HasFields& config, const std::string& text) {
  for (const auto& [name, value] : flags_in(text)) set_setting_text(config, name, value, "--" + name);
}

void check_settings(HasFields& config) {
  each_setting(config, [](std::string_view name, auto& field, std::string_view, const Limits& limits) {
    put(field, std::optional(field), limits, typed(text_of(field)), fmt::format("--{}", name));
  });
}

int64_t parse_whole(const std::string& text, const Limits& limits, const std::string& who) {
  int64_t number = 0;
  set_value(&number, limits, text, who);
  return number;
}

Json settings_json(HasFields& config) {
  Json json = Json::object();
  each_setting(config, [&](std::string_view name, const auto& field, std::string_view, const Limits&) {
    if constexpr (is_list<std::decay_t<decltype(field)>>)
      json[std::string(name)] = text_of(field);
    else
      json[std::string(name)] = field;
  });
  return json;
}

// What does not belong there throws at once, before anything is built from it.
std::vector<std::pair<std::string, Value>> read_settings(const std::string& text, const std::string& file) {
  check(text.size() <= size_t{1} << 20, "{}: wanted a configuration of at most 1 MiB, got {} bytes", file,
        text.size());
  std::vector<std::pair<std::string, Value>> settings;
  std::string key;
  const auto take = [&](int depth, Json::parse_event_t event, const Json& json) {
    using Event = Json::parse_event_t;
    check(event != Event::array_start, "{}: wanted one object of plain values, got an array", file);
    check(event != Event::object_start || depth == 0, "{}: '{}' is an object; wanted a plain value", file,
          one_line(key));
    if (event == Event::key) {
      key = json.get<std::string>();
      for (const auto& setting : settings)
        check(setting.first != key, "{}: '{}' occurs twice; keep one", file, one_line(key));
      check(settings.size() < 1000, "{}: more than 1000 settings", file);
    }
    if (event != Event::value) return true;
    check(depth == 1, "{}: wanted an object such as --print-config prints, got a single value", file);
    check(!json.is_null(), "{}: '{}' has the value null; leave it out", file, one_line(key));
    check(!json.is_number_unsigned() || json.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX),
          "{}: '{}' is a whole number beyond 64 bits: {}", file, one_line(key), json.dump());
    settings.emplace_back(key, json.is_boolean()          ? Value(json.get<bool>())
                               : json.is_number_integer() ? Value(json.get<int64_t>())
                               : json.is_number()         ? Value(json.get<double>())
                                                          : Value(json.get<std::string>()));
    return true;
  };
  try {
    const Json ignored = Json::parse(text, take);
  } catch (const Json::exception& error) {
    throw_error(fmt::format("{}: not valid JSON: {}", file, json_complaint(error.what())));
  }
  return settings;
}

}  // namespace isobar
