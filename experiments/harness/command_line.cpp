#include "command_line.h"

#include <CLI/CLI.hpp>

#include <cstdlib>

#include "tool.h"

namespace isobar {
namespace {

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
         "Later words win: defaults, preset, config file, options. Exit codes: 0 done;\n"
         "1 an expectation failed or the loss diverged; 2 bad usage or input" +
         (program.resume ? ";\n130 interrupted, to go on with --resume." : ".");
}

// --preset full, or --full.
void add_presets(CLI::App& app, const std::vector<std::string>& names, std::optional<std::string>& chosen) {
  for (const std::string& name : names)
    app.add_flag_callback("--" + name, [&chosen, name] { chosen = name; })->group("");
  set_choices(*app.add_option("--preset", chosen)->take_last()->group(""), names);
}

// (CLI11 leaves hidden options without a name in what it says of options that exclude each other.)
void refuse_two_presets(const CLI::App& app, const std::vector<std::string>& names) {
  std::vector<std::string> given;
  if (!names.empty() && app.get_option("--preset")->count() > 0) given.push_back("--preset");
  for (const std::string& name : names)
    if (app.get_option("--" + name)->count() > 0) given.push_back("--" + name);
  check(given.size() < 2, "{} exclude each other: give one", fmt::join(given, " and "));
}

// A scale that the study does not have is another mistake than an unknown option.
void refuse_scales(const Program& program, const std::vector<std::string>& words) {
  const bool scales =
      std::ranges::any_of(program.presets, [](const Preset& one) { return one.name == "full"; });
  if (scales) return;
  for (const std::string& word : words)
    check(word != "--quick" && word != "--full",
          "{}: this program has one scale; its settings make it smaller or larger, see --help", word);
}

void add_settings(CLI::App& app, const Program& program, const std::vector<Setting>& settings,
                  std::map<std::string, std::string>& texts) {
  const std::vector<std::string>& first = program.first_settings;
  for (const Setting& setting : settings) {
    std::string& text = texts[setting.name];
    std::string dashed = setting.name;
    std::ranges::replace(dashed, '_', '-');
    check(app.get_option_no_throw("--" + setting.name) == nullptr &&
              app.get_option_no_throw("--" + dashed) == nullptr,
          "config: the name '{}' is taken; rename the field", setting.name);
    CLI::Option* option =
        std::holds_alternative<bool>(setting.value)
            ? app.add_flag(fmt::format("--{0}{{true}},--no-{0}{{false}}", setting.name), text,
                           help_of(setting))
            : app.add_option("--" + setting.name, text, help_of(setting))->type_name(type_of(setting.value));
    const bool shown = first.empty() || std::ranges::find(first, setting.name) != first.end();
    option->take_last()->group(shown ? "Settings" : more_settings);
    if (!setting.limits.choices.empty()) set_choices(*option, setting.limits.choices);
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
  set_help_form(app, program.example);
  app.set_help_flag();
  app.allow_extras();
  app.footer(footer(program));

  bool help_all = false;
  app.add_flag("-h,--help", line.help, "print this and stop");
  app.add_flag("--help-all", help_all, "print this with all settings and stop")
      ->group(program.first_settings.empty() ? "" : "Options");
  app.add_flag("--about", line.about)->group("");
  app.add_flag("--version", line.version, "print the version and stop");
  const auto add_value = [&](const std::string& flag, auto& value, const char* type,
                             const std::string& help) {
    return app.add_option("--" + flag, value, help)->type_name(type)->take_last();
  };
  add_value("out", line.out, "DIR", fmt::format("folder for the results [{}]", default_folder(program)));
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
  app.add_flag("--json", line.json, "print summary.json alone on stdout");
  if (program.profiles)
    app.add_flag("--profile", line.profile, "print where the time goes; write profile.json and .csv");
  app.add_flag("--force", line.force, "replace a finished run in DIR");
  set_choices(*add_value("log_level", line.log_level, "NAME",
                         "show from trace, debug, info, warn, error, off [info]"),
              {"trace", "debug", "info", "warn", "error", "off"});
  add_value("rank_timeout", line.rank_timeout, "N", "under mpirun: seconds that a rank may be silent [300]")
      ->group(program.first_settings.empty() ? "Options" : more_settings);
  if (program.resume)
    add_value("resume", line.resume, "DIR", "go on with the run in DIR, from its newest checkpoint");
  const std::vector<std::string> presets = preset_names(program);
  if (!presets.empty()) add_presets(app, presets, line.preset);
  if (const Positionals& files = program.positionals; files.values != nullptr)
    app.add_option(files.name, *files.values, files.about)->type_name("");
  std::map<std::string, std::string> texts;  // by setting; its nodes stay where they are
  add_settings(app, program, settings, texts);

  line.completing = !arguments.empty() && arguments[0] == complete_flag;
  if (line.completing) {
    line.text = completions(app, {arguments.begin() + 1, arguments.end()});
    return line;
  }
  refuse_scales(program, arguments);
  parse_words(app, arguments);
  refuse_two_presets(app, presets);
  for (const Printer& printer : program.printers)
    if (printer.file != nullptr && !printer.file->empty()) line.printer = printer.flag;
  line.help = line.help || help_all;
  if (line.help) line.text = app.help("", help_all ? CLI::AppFormatMode::All : CLI::AppFormatMode::Normal);
  for (const Setting& setting : settings)
    if (app.get_option("--" + setting.name)->count() > 0)
      line.settings.emplace_back(setting.name, texts[setting.name]);
  return line;
}

double rank_timeout_in(const std::vector<std::string>& arguments) {
  double seconds = 300;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i].substr(0, arguments[i].find('='));
    std::replace(name.begin(), name.end(), '-', '_');
    if (name != "__rank_timeout") continue;
    const bool same_word = name.size() < arguments[i].size();
    const std::string value = same_word                  ? arguments[i].substr(name.size() + 1)
                              : i + 1 < arguments.size() ? arguments[i + 1]
                                                         : "";
    const double given = std::atof(value.c_str());
    if (given >= 1) seconds = given;
  }
  return seconds;
}

}  // namespace isobar
