#include "tool.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <map>
#include <sstream>

#include "../../core/parallel.h"
#include "environment.h"
#include "lists.h"
#include "process.h"
#include "settings.h"
#include "table.h"

namespace isobar {
namespace {

constexpr size_t help_columns = 80, name_columns = 26;

std::string with_underscores(std::string name) {
  if (name.starts_with("--")) std::replace(name.begin() + 2, name.end(), '-', '_');
  return name;
}

struct Known {
  std::string name;  // as it is declared: "--print-config"
  const CLI::Option* option;
};

// All options of the app and its subcommands, by their names with underscores.
std::map<std::string, Known> known_options(const CLI::App& app) {
  std::map<std::string, Known> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) known["-" + name] = {"-" + name, option};
    for (const std::string& name : option->get_lnames())
      known[with_underscores("--" + name)] = {"--" + name, option};
  }
  for (const CLI::App* subcommand : app.get_subcommands({})) known.merge(known_options(*subcommand));
  return known;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_min() > 0; }

// The words with options spelled as they are declared. The value of an option stays as it is.
std::vector<std::string> as_declared(const CLI::App& app, std::vector<std::string> words) {
  const std::map<std::string, Known> known = known_options(app);
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const size_t end = std::min(words[i].find('='), words[i].size());
    const auto found = known.find(with_underscores(words[i].substr(0, end)));
    if (found == known.end()) continue;
    words[i] = found->second.name + words[i].substr(end);
    i += end == words[i].size() && takes_value(*found->second.option);
  }
  return words;
}

void refuse_extras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  if (extras.empty()) return;
  const auto option =
      std::find_if(extras.begin(), extras.end(), [](const auto& word) { return word.starts_with("-"); });
  check(option != extras.end(), "unexpected word '{}'; options begin with -- (see --help)", extras.front());
  const std::string name = option->substr(0, option->find('='));
  std::vector<std::string> known;
  for (const auto& [spelling, one] : known_options(app)) known.push_back(one.name);
  const std::string hint = did_you_mean(name, known);
  throw_error(fmt::format("unknown option {}{}", name, hint.empty() ? "; see --help" : hint));
}

// "" where a file or folder belongs is mostly "$NAME" of a variable that is not set.
void refuse_empty_paths(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (!option->get_positional() && type != "FILE" && type != "DIR") continue;
    check(std::ranges::find(option->results(), "") == option->results().end(),
          "{}: wanted a name, got an empty word; is a variable of the shell not set?", option->get_name());
  }
  for (const CLI::App* subcommand : app.get_subcommands({})) refuse_empty_paths(*subcommand);
}

// "{a,b}" at the end of an option's type, as CLI::IsMember and set_choices leave it.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{');
  return begin == std::string::npos
             ? std::vector<std::string>()
             : CLI::detail::split(type.substr(begin + 1, type.size() - begin - 2), ',');
}

std::string lines_of(const std::string& text) {
  std::string lines;
  for (const std::string& line : wrapped(text, help_columns)) lines += line + "\n";
  return lines;
}

class HelpForm : public CLI::Formatter {
 public:
  explicit HelpForm(std::string example) : example_(std::move(example)) { label("SUBCOMMAND", "COMMAND"); }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = lines_of(app->get_description());
    if (!example_.empty() && app->get_parent() == nullptr) {
      text += "\n";
      for (const std::string& line : CLI::detail::split(example_, '\n')) text += "  " + line + "\n";
    }
    const auto words = app->get_options([](const CLI::Option* one) { return one->get_positional(); });
    const auto commands = app->get_subcommands({});
    if (!words.empty() || !commands.empty()) text += "\n" + make_usage(app, std::move(name));
    const auto rows = [&](const std::string& title, const std::vector<const CLI::Option*>& options) {
      if (options.empty()) return;
      text += "\n" + title + ":\n";
      for (const CLI::Option* option : options) text += make_option(option, option->get_positional());
    };
    rows("Words", words);
    for (const std::string& group : app->get_groups()) {
      const auto options = app->get_options(
          [&](const CLI::Option* one) { return one->nonpositional() && one->get_group() == group; });
      if (group == more_settings && mode != CLI::AppFormatMode::All)
        text += fmt::format("\n{} more settings: --help-all\n", options.size());
      else if (!group.empty())
        rows(group, options);
    }
    if (!commands.empty()) text += "\nCommands:\n";
    for (const CLI::App* one : commands) text += help_row(one->get_name(), one->get_description());
    const std::string footer = make_footer(app);
    return footer.empty() ? text : text + "\n" + footer;
  }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    return help_row(make_option_name(option, positional) + make_option_opts(option),
                    option->get_description());
  }

  // "-o, --output FILE"; a flag and its opposite as "--[no-]bias".
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    if (positional) return option->get_name(true);
    std::vector<std::string> names;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    const std::vector<std::string>& longs = option->get_lnames();
    if (longs.size() == 2 && longs[1] == "no-" + longs[0])
      names.push_back("--[no-]" + longs[0]);
    else
      for (const std::string& name : longs) names.push_back("--" + name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional())
      return option->get_items_expected_max() >= CLI::detail::expected_max_vector_size ? " ..." : "";
    const std::string type = option->get_type_name();
    return takes_value(*option) ? " " + type.substr(0, type.find(':')) : "";
  }

 private:
  std::string example_;
};

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

void set_help_form(CLI::App& app, const std::string& example) {
  app.formatter(std::make_shared<HelpForm>(example));
}

std::string help_row(const std::string& name, const std::string& meaning) {
  std::string text = "  " + name;
  bool beside = display_width(text) + 2 <= name_columns;
  for (const std::string& line : wrapped(meaning, help_columns - name_columns)) {
    if (!beside) text += "\n";
    text += std::string(beside ? name_columns - display_width(text) : name_columns, ' ') + line;
    beside = false;
  }
  return text + "\n";
}

void set_choices(CLI::Option& option, const std::vector<std::string>& choices) {
  option.check(CLI::Validator(fmt::format("{{{}}}", fmt::join(choices, ","))));
}

void parse_words(CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> declared = as_declared(app, words);
  std::reverse(declared.begin(), declared.end());  // CLI11 wants the last word first
  try {
    app.parse(declared);
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ParseError& error) {
    throw_error(fmt::format("{}; see {} --help", error.what(), app.get_name()));
  }
  refuse_extras(app);
  refuse_empty_paths(app);
}

std::string completions(const CLI::App& app, std::vector<std::string> words) {
  // bash makes "--norm", "=", "la" of --norm=la.
  if (words.empty()) words.emplace_back();
  std::string last = words.back();
  words.pop_back();
  if (last == "=") last.clear();
  std::erase(words, "=");
  const CLI::App* command = &app;
  for (const std::string& word : words)
    for (const CLI::App* subcommand : command->get_subcommands({}))
      if (subcommand->get_name() == word) command = subcommand;

  const std::map<std::string, Known> known = known_options(*command);
  std::vector<std::string> candidates;
  const auto before = words.empty() ? known.end() : known.find(with_underscores(words.back()));
  if (before != known.end() && takes_value(*before->second.option)) {
    candidates = choices_of(*before->second.option);
  } else if (last.starts_with("-")) {
    for (const auto& [spelling, one] : known) candidates.push_back(one.name);
  } else {
    for (const CLI::App* subcommand : command->get_subcommands({}))
      candidates.push_back(subcommand->get_name());
  }
  std::string lines;
  for (const std::string& candidate : candidates)
    if (with_underscores(candidate).starts_with(with_underscores(last))) lines += candidate + "\n";
  return lines;
}

}  // namespace isobar
