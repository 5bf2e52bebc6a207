#include "tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <sstream>

#include "../../core/error.h"
#include "../../core/parallel.h"
#include "environment.h"
#include "options.h"
#include "process.h"
#include "settings.h"

namespace isobar {
namespace {

std::string with_default(const std::string& help, const Value& value) {
  const std::string text = std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
  if (text.empty()) return help;
  return text == "\n" ? help + " [a newline]" : fmt::format("{} [{}]", help, text);
}

// An option whose value is read as a setting's is.
template <class T>
CLI::Option* add(CLI::App& app, const std::string& flags, T& value, const std::string& help,
                 const std::string& type, const std::vector<std::string>& choices) {
  const std::string who = flags.substr(flags.find("--"));
  const auto read = [&value, who, choices](const CLI::results_t& words) {
    const Setting setting{.name = "", .help = "", .choices = choices, .value = value};
    value = std::get<T>(parse_value(setting, words.back(), who));
    return true;
  };
  return app.add_option(flags, read, with_default(help, value))->type_name(type)->take_last();
}

}  // namespace

Tool::Tool(std::string name, const std::string& about, const std::string& example)
    : name_(std::move(name)), app_(std::make_unique<CLI::App>(about, name_)) {
  set_help_form(*app_, example);
  app_->allow_extras();
  app_->set_help_flag("-h,--help", "print this and stop");
  app_->set_version_flag("--version", fmt::format("{} {}", name_, isobar_version()),
                         "print the version and stop");
  app_->add_option("--threads", threads_, "threads [as many as the process may use]")
      ->type_name("N")
      ->take_last();
}

Tool::~Tool() = default;

void Tool::word(const std::string& name, std::string& value, const std::string& help) {
  app_->add_option(name, value, help)->required();
}
void Tool::option(const std::string& flags, std::string& value, const std::string& help) {
  add(*app_, flags, value, help, flags.find("output") == std::string::npos ? "TEXT" : "FILE", {});
}
void Tool::option(const std::string& flags, int64_t& value, const std::string& help) {
  add(*app_, flags, value, help, "N", {});
}
void Tool::option(const std::string& flags, double& value, const std::string& help) {
  add(*app_, flags, value, help, "X", {});
}
void Tool::option(const std::string& flags, bool& value, const std::string& help) {
  app_->add_flag(flags, value, help);
}
void Tool::choice(const std::string& flags, std::string& value, const std::vector<std::string>& choices,
                  const std::string& help) {
  const std::string listed = fmt::format("{} {{{}}}", help, fmt::join(choices, ", "));
  set_choices(*add(*app_, flags, value, listed, "NAME", choices), choices);
}

// Parses the words, and runs the body or prints what they ask for.
void Tool::obey(const std::vector<std::string>& words, const std::function<void()>& body) {
  if (!words.empty() && words[0] == complete_flag)
    return write_out(completions(*app_, {words.begin() + 1, words.end()}));
  try {
    parse_words(*app_, words);
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    app_->exit(help, text, text);
    return write_out(text.str());
  }
  set_threads(threads_ ? static_cast<int>(parse_whole(*threads_, 1, 1024, "--threads"))
                       : available_threads());
  body();
  // What is still to be written may be all that the program is for.
  check(std::fflush(stdout) == 0 && std::ferror(stdout) == 0, "stdout: cannot write; is the disk full?");
}

int Tool::run(const std::vector<std::string>& words, const std::function<void()>& body) {
  return exit_code_of(name_, stderr, [&] {
    obey(words, body);
    return 0;
  });
}

void write_out(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  check(written && std::fflush(stdout) == 0, "stdout: cannot write; is the disk full?");
}

}  // namespace isobar
