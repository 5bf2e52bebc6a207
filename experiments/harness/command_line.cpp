#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <span>

#include "nearest.h"

namespace isobar {
namespace {

const char* type_text(const Value& value) {
  constexpr const char* texts[] = {"", "N", "X", "TEXT"};
  return texts[value.index()];
}

std::string help_of(const Setting& setting) {
  const std::string initial = std::visit([](const auto& v) { return fmt::format("{}", v); }, setting.value);
  std::string text = setting.help;
  if (!setting.choices.empty()) text += fmt::format(" {{{}}}", fmt::join(setting.choices, ", "));
  return text + fmt::format(" [{}]", initial.empty() ? "none" : initial);
}

// Shows "--bias,--no-bias" where CLI11 would add the values these stand for.
struct Formatter : CLI::Formatter {
  std::string make_option_name(const CLI::Option* option, bool) const override {
    if (option->get_positional()) return option->get_name(true);
    std::string text;
    for (const std::string& name : option->get_snames()) text += "-" + name + ",";
    for (const std::string& name : option->get_lnames()) text += "--" + name + ",";
    return text.substr(0, text.size() - 1);
  }
};

std::string footer(const Program& program) {
  std::string text;
  if (!program.presets.empty()) {
    const std::string& last = program.presets.back().name;
    text +=
        fmt::format("Presets (the first unless --preset {0}, or --{0} for short, names another):\n", last);
    for (const Preset& preset : program.presets)
      text += fmt::format("  {:<18}{}\n", preset.name, preset.about);
    text += "\n";
  }
  return text +
         "Later words win: defaults, preset, config file, options.\n"
         "Exit codes: 0 done; 1 an expectation failed or the loss diverged; 2 bad usage or input" +
         (program.resume ? ";\n130 interrupted, to go on with --resume." : ".");
}

void refuse_extras(const CLI::App& app, const std::vector<std::string>& extras) {
  if (extras.empty()) return;
  const auto option =
      std::find_if(extras.begin(), extras.end(), [](const auto& word) { return word.starts_with("-"); });
  check(option != extras.end(), "unexpected word '{}'; options begin with -- (see --help)", extras.front());
  const std::string name = option->substr(0, option->find('='));
  std::vector<std::string> known;
  for (const CLI::Option* one : app.get_options())
    for (const std::string& long_name : one->get_lnames()) known.push_back("--" + long_name);
  const std::string hint = did_you_mean(name, known);
  throw_error(fmt::format("unknown option {}{}", name, hint.empty() ? "; see --help" : hint));
}

// --preset full, or --full. Two of them at once are refused.
void add_presets(CLI::App& app, const std::vector<Preset>& presets, std::optional<std::string>& chosen) {
  std::vector<CLI::Option*> options = {
      app.add_option("--preset", chosen, "Settings with a name, see below")->type_name("NAME")->take_last()};
  for (const Preset& preset : presets) {
    const std::string& name = preset.name;
    options.push_back(app.add_flag_callback("--" + name, [&chosen, name] { chosen = name; })->group(""));
    for (CLI::Option* other : std::span(options).first(options.size() - 1)) options.back()->excludes(other);
  }
}

}  // namespace

std::string default_folder(const Program& program) {
  return program.folder.empty() ? "runs/" + program.name : program.folder;
}

CommandLine parse_command_line(const Program& program, const std::vector<Setting>& settings,
                               const std::vector<std::string>& arguments) {
  CommandLine line;
  CLI::App app(program.about, program.name);
  app.set_help_flag();
  app.allow_extras();
  app.footer(footer(program));
  app.formatter(std::make_shared<Formatter>());
  app.get_formatter()->column_width(34);

  app.add_flag("-h,--help", line.help, "Print this and stop");
  app.add_flag("--version", line.version, "Print the version and stop");
  app.add_option("--out", line.out, fmt::format("Folder for the results [{}]", default_folder(program)))
      ->type_name("DIR")
      ->take_last();
  app.add_option("--seed", line.seed, "First seed [0]")->type_name("N")->take_last();
  app.add_option("--threads", line.threads, "Threads [as many as the process may use]")
      ->type_name("N")
      ->take_last();
  app.add_option("--config", line.config_file, "Settings as --print-config prints them")
      ->type_name("FILE")
      ->take_last();
  app.add_flag("--print-config", line.print_config, "Print all settings as JSON and stop");
  for (const Printer& printer : program.printers)
    app.add_flag_callback(
        "--" + printer.flag, [&] { line.printer = printer.flag; }, printer.about);
  app.add_flag("--json", line.json, "Print summary.json alone on stdout; all else goes to stderr");
  app.add_flag("--force", line.force, "Replace a finished run in DIR");
  app.add_option(
         "--log_level", line.log_level,
         "Least level that the console shows: trace, debug, info, warn, error, off [$ISOBAR_LOG or info]")
      ->type_name("LEVEL")
      ->take_last();
  if (program.resume)
    app.add_option("--resume", line.resume, "Go on with the run in DIR, from its newest checkpoint")
        ->type_name("DIR")
        ->take_last();
  if (!program.presets.empty()) add_presets(app, program.presets, line.preset);
  if (program.words.values != nullptr)
    app.add_option(program.words.name, *program.words.values, program.words.about)->type_name("");

  std::map<std::string, std::string> texts;  // by setting; its nodes stay where they are
  std::map<std::string, CLI::Option*> options;
  for (const Setting& setting : settings) {
    std::string& text = texts[setting.name];
    CLI::Option* option = std::holds_alternative<bool>(setting.value)
                              ? app.add_flag(fmt::format("--{0}{{true}},--no-{0}{{false}}", setting.name),
                                             text, help_of(setting))
                              : app.add_option("--" + setting.name, text, help_of(setting))
                                    ->type_name(type_text(setting.value));
    options[setting.name] = option->take_last()->group("Settings");
  }

  // CLI11 wants the words last to first.
  std::vector<std::string> words(arguments.rbegin(), arguments.rend());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw_error(fmt::format("{} (see --help)", error.what()));
  }
  line.help_text = app.help();
  if (line.help || line.version) return line;
  refuse_extras(app, app.remaining());
  for (const Setting& setting : settings)
    if (options[setting.name]->count() > 0) line.settings.emplace_back(setting.name, texts[setting.name]);
  return line;
}

}  // namespace isobar
