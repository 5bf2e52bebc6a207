#include "tool.h"

#include <fmt/format.h>

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
void Tool::words(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  app_->add_option(name, values, help);
}
void Tool::add(const std::string& flags, const SettingPointer& value, const std::string& help,
               const Limits& limits) {
  const std::string who = flags.substr(flags.find("--"));
  const Setting setting{.name = who,
                        .help = help,
                        .limits = limits,
                        .value = std::visit([](const auto* v) { return Value(*v); }, value)};
  if (bool* const* flag = std::get_if<bool*>(&value)) {
    app_->add_flag(flags, **flag, help);
    return;
  }
  const auto read = [value, limits, who](const CLI::results_t& words) {
    set_value(value, limits, words.back(), who);
    return true;
  };
  CLI::Option* option = app_->add_option(flags, read, help_of(setting));
  option->type_name(who == "--output" ? "FILE" : type_of(setting.value))->take_last();
  if (!limits.choices.empty()) set_choices(*option, limits.choices);
}

bool Tool::given(const std::string& flag) const { return app_->get_option(flag)->count() > 0; }

int Tool::run_body(const std::vector<std::string>& words, const std::function<int()>& body) {
  return exit_code_of(name_, stderr, [&] {
    const auto print = [](std::string_view text) { return write_out(text), 0; };
    if (!words.empty() && words[0] == complete_flag)
      return print(completions(*app_, {words.begin() + 1, words.end()}));
    try {
      parse_words(*app_, words);
    } catch (const CLI::Success& help) {
      std::ostringstream text;
      app_->exit(help, text, text);
      return print(text.str());
    }
    set_threads(threads_ ? static_cast<int>(parse_whole(*threads_, between(1, 1024), "--threads"))
                         : available_threads());
    const int code = body();
    // What is still to be written may be all that the program is for.
    check(std::fflush(stdout) == 0 && std::ferror(stdout) == 0, "stdout: cannot write; is the disk full?");
    return code;
  });
}

void write_out(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  check(written && std::fflush(stdout) == 0, "stdout: cannot write; is the disk full?");
}

}  // namespace isobar
