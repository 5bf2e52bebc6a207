#include "tool.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <sstream>

#include "../../core/parallel.h"
#include "environment.h"
#include "lists.h"
#include "settings.h"

namespace isobar {
namespace {

constexpr size_t help_columns = 80, name_columns = 26;

// The group of those options that --help leaves to --help-all.
constexpr const char* more_settings = "More settings";

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
    const std::string value = words[i].substr(end);
    words[i] = found->second.name + value;
    if (!takes_value(*found->second.option) || value.size() > 1) continue;
    words[i++] = found->second.name;
    // CLI11 takes the next word as the value of "--norm=".
    if (value == "=") words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), "");
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

// "A B": since 2.4 CLI11 takes no blank in a name, so there the option is called "A_B".
std::string without_blanks(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return name;
}
std::string with_blanks(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

// Versions of CLI11 differ in the empty lines around what they make.
std::string line_of(const std::string& text) { return CLI::detail::trim_copy(text) + "\n"; }

// The group that an option has without a word of ours: "Options", and "OPTIONS" since CLI11 2.5.
std::string name_of_group(const std::string& group) { return group == "OPTIONS" ? "Options" : group; }

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
    if (!words.empty() || !commands.empty()) text += "\n" + line_of(make_usage(app, std::move(name)));
    const auto rows = [&](const std::string& title, const std::vector<const CLI::Option*>& options) {
      if (options.empty()) return;
      text += "\n" + title + ":\n";
      for (const CLI::Option* option : options) text += make_option(option, option->get_positional());
    };
    rows("Words", words);
    std::vector<std::string> groups;
    for (const std::string& group : app->get_groups())
      if (std::ranges::find(groups, name_of_group(group)) == groups.end())
        groups.push_back(name_of_group(group));
    for (const std::string& group : groups) {
      const auto options = app->get_options([&](const CLI::Option* one) {
        return one->nonpositional() && name_of_group(one->get_group()) == group;
      });
      if (group == more_settings && mode != CLI::AppFormatMode::All)
        text += fmt::format("\n{} more settings: --help-all\n", options.size());
      else if (!group.empty())
        rows(group, options);
    }
    if (!commands.empty()) text += "\nCommands:\n";
    for (const CLI::App* one : commands) text += help_row(one->get_name(), one->get_description());
    const std::string footer = app->get_footer();
    return footer.empty() ? text : text + "\n" + footer + "\n";
  }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    return help_row(make_option_name(option, positional) + make_option_opts(option),
                    option->get_description());
  }

  // "-o, --output FILE"; a flag and its opposite as "--[no-]bias".
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    if (positional) return with_blanks(option->get_name(true));
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

// The option takes one of these words; they are completed. Whoever reads the value checks it.
void set_choices(CLI::Option& option, const std::vector<std::string>& choices) {
  option.check(CLI::Validator(fmt::format("{{{}}}", fmt::join(choices, ","))));
}

// Throws Error for what the app does not take, and CLI::Success for --help and --version.
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

// Where completions are asked for, the words that may stand in place of the last one, one a line; none where
// it is the user's own value.
std::optional<std::string> completions(const CLI::App& app, std::vector<std::string> words) {
  if (words.empty() || words[0] != complete_flag) return std::nullopt;
  words.erase(words.begin());
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

std::string footer(const Program& program) {
  std::string text;
  if (!program.presets.empty()) {
    text += fmt::format("Presets (--NAME or --preset NAME; {} unless one is given{}):\n",
                        program.presets.front().name, program.tiny.empty() ? "" : "; tiny: a second");
    for (const Preset& preset : program.presets) text += help_row("--" + preset.name, preset.about);
    text += "\n";
  } else if (!program.tiny.empty()) {
    text += "Preset: --tiny, sizes that take a second.\n\n";
  }
  return text +
         "Later settings override earlier ones: defaults, preset, config file, options.\n"
         "Exit codes: 0 done; 1 check failed or loss diverged; 2 bad input; 3 cannot run" +
         (program.resume ? ";\n130 interrupted, continue with --resume." : ".");
}

// --preset full, or --full. Returns these options.
std::vector<const CLI::Option*> add_presets(CLI::App& app, const std::vector<std::string>& names,
                                            std::optional<std::string>& chosen) {
  if (names.empty()) return {};
  std::vector<const CLI::Option*> options = {app.add_option("--preset", chosen)->take_last()->group("")};
  set_choices(*app.get_option("--preset"), names);
  for (const std::string& name : names)
    options.push_back(app.add_flag_callback("--" + name, [&chosen, name] { chosen = name; })->group(""));
  return options;
}

// (CLI11 leaves hidden options without a name in what it says of options that exclude each other.)
void refuse_two(const std::vector<const CLI::Option*>& presets) {
  std::vector<std::string> given;
  for (const CLI::Option* preset : presets)
    if (preset->count() > 0) given.push_back("--" + preset->get_lnames().front());
  check(given.size() < 2, "{} exclude each other: give one", fmt::join(given, " and "));
}

void add_setting(CLI::App& app, const Program& program, const Setting& setting) {
  const std::string help = help_of(setting);
  std::string dashed = setting.name;
  std::ranges::replace(dashed, '_', '-');
  check(app.get_option_no_throw("--" + setting.name) == nullptr &&
            app.get_option_no_throw("--" + dashed) == nullptr,
        "config: the name '{}' is taken; rename the field", setting.name);
  CLI::Option* option = std::holds_alternative<bool>(setting.value)
                            ? app.add_flag(fmt::format("--{0}{{true}},--no-{0}{{false}}", setting.name), help)
                            : app.add_option("--" + setting.name, help)->type_name(type_of(setting.value));
  const std::vector<std::string>& first = program.first_settings;
  const bool shown = first.empty() || std::ranges::find(first, setting.name) != first.end();
  option->take_last()->group(shown ? "Settings" : more_settings);
  if (!setting.limits.choices.empty()) set_choices(*option, setting.limits.choices);
}

}  // namespace

Tool::Tool(std::string name, const std::string& about, const std::string& example)
    : name_(std::move(name)), app_(std::make_unique<CLI::App>(about, name_)) {
  app_->formatter(std::make_shared<HelpForm>(example));
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
    if (const auto completed = completions(*app_, words)) return print(*completed);
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

void write_out(std::string_view text, std::FILE* out) {
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  check(written && std::fflush(out) == 0, "stdout: cannot write; is the disk full?");
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

CommandLine parse_command_line(const Program& program, HasFields& config,
                               const std::vector<std::string>& arguments) {
  CommandLine line;
  CLI::App app(program.about, program.name);
  app.formatter(std::make_shared<HelpForm>(program.example));
  app.set_help_flag();
  app.allow_extras();
  app.footer(footer(program));

  bool help = false, help_all = false;
  app.add_flag("-h,--help", help, "print this and stop");
  app.add_flag("--help-all", help_all, "print this with all settings and stop")
      ->group(program.first_settings.empty() ? "" : "Options");
  app.add_flag("--about", line.about)->group("");
  app.add_flag("--version", line.version, "print the version and stop");
  const auto add_value = [&](const std::string& flag, auto& value, const char* type,
                             const std::string& meaning) {
    return app.add_option("--" + flag, value, meaning)->type_name(type)->take_last();
  };
  add_value("out", line.run.folder, "DIR",
            fmt::format("folder for the results [{}]", program.default_folder()));
  add_value("seed", line.seed, "N", "first seed [0]");
  add_value("threads", line.threads, "N", "threads [as many as the process may use]");
  add_value("config", line.config_file, "FILE", "settings as --print-config prints them");
  app.add_flag("--print-config", line.print_config, "print all settings as JSON and stop");
  for (const Printer& printer : program.printers)
    if (printer.file != nullptr)
      add_value(printer.flag, *printer.file, "FILE", printer.about);
    else
      app.add_flag_callback(
          "--" + printer.flag, [&] { line.printer = printer.flag; }, printer.about);
  app.add_flag("--json", line.run.json, "print summary.json alone on stdout");
  if (program.output != nullptr)
    app.add_option("-o,--output", *program.output, "write a page of the run, one HTML file")
        ->type_name("FILE");
  if (program.profiles)
    app.add_flag("--profile", line.profile, "print where the time goes; write profile.json and .csv");
  app.add_flag("--force", line.run.force, "replace a finished run in DIR");
  if (program.goes_on || program.accepts_old)
    app.add_flag("--accept-old", line.run.accept_old, "reuse earlier results even if sources or data changed")
        ->group(program.goes_on ? "Options" : more_settings);
  set_choices(*add_value("log_level", line.log_level, "NAME",
                         "show from trace, debug, info, warn, error, off [info]"),
              log_level_names);
  add_value("rank_timeout", line.rank_timeout, "N", "under mpirun: seconds that a rank may be silent [300]")
      ->group(program.first_settings.empty() ? "Options" : more_settings);
  if (program.resume)
    add_value("resume", line.run.resume, "DIR", "continue the run in DIR from its newest checkpoint");
  const std::vector<const CLI::Option*> presets = add_presets(app, preset_names(program), line.preset);
  if (const Positionals& files = program.positionals; files.values != nullptr)
    app.add_option(without_blanks(files.name), *files.values, files.about)->type_name("");
  const std::vector<Setting> settings = settings_of(config);
  for (const Setting& setting : settings) add_setting(app, program, setting);

  line.text = completions(app, arguments);
  if (line.text) return line;
  // A scale that the study does not have is another mistake than an unknown option.
  for (const std::string& word : arguments)
    check((word != "--quick" && word != "--full") || app.get_option_no_throw("--full") != nullptr,
          "{}: this program has one scale; its settings make it smaller or larger, see --help", word);
  parse_words(app, arguments);
  refuse_two(presets);
  for (const Printer& printer : program.printers)
    if (printer.file != nullptr && !printer.file->empty()) line.printer = printer.flag;
  if (help || help_all)
    line.text = app.help("", help_all ? CLI::AppFormatMode::All : CLI::AppFormatMode::Normal);
  for (const Setting& setting : settings)
    if (const CLI::Option* option = app.get_option("--" + setting.name); option->count() > 0)
      line.settings.emplace_back(setting.name, option->results().back());
  return line;
}

}  // namespace isobar
