#include "program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "../../core/parallel.h"
#include "../../data/file.h"
#include "../../data/utf8_stream.h"
#include "about.h"
#include "environment.h"
#include "lists.h"
#include "profile_report.h"
#include "settings.h"
#include "tool.h"

namespace isobar {
namespace {

constexpr const char* tiny = "tiny";

// Applies the preset of that name.
void apply_preset(const Program& program, HasFields& config, const std::string& name,
                  const std::string& who) {
  const std::vector<std::string> names = preset_names(program);
  check(std::ranges::find(names, name) != names.end(), "{}: {}", who, not_one_of(names, name));
  for (const Preset& preset : program.presets)
    if (preset.name == (name == tiny ? names.front() : name)) set_flags(config, preset.flags);
  if (name == tiny) set_flags(config, program.tiny);
}

bool same_but_for_seeds(const std::vector<Setting>& a, const std::vector<Setting>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Setting& x, const Setting& y) { return x == y || x.name == "seeds"; });
}

// Throws Error naming the settings in which a run differs from the one that it is to go on with.
void check_same(const Json& there, const Json& here, const std::vector<std::string>& may_differ,
                const std::string& folder) {
  std::vector<std::string> differences;
  for (const auto& [name, value] : there.items()) {
    const bool free = std::find(may_differ.begin(), may_differ.end(), name) != may_differ.end();
    if (!free && here.contains(name) && here[name] != value)
      differences.push_back(fmt::format("{} is {} there, {} here", name, value.dump(), here[name].dump()));
  }
  check(differences.empty(), "--resume: '{}' is a run with another configuration: {}; leave these flags out",
        folder, fmt::join(differences, ", "));
}

// Brings Config to its final state: preset, resumed run, config file, options. Returns what Run needs of it.
RunOptions configure(const Program& program, HasFields& config, const CommandLine& line) {
  RunOptions options;
  options.program = program.name;
  struct Source {
    std::string text, name;
    std::vector<std::pair<std::string, Value>> settings;
  };
  std::vector<Source> sources;
  if (!line.resume.empty()) sources.push_back({program.resume->config(line.resume), line.resume, {}});
  if (!line.config_file.empty())
    sources.push_back({read_file(line.config_file, size_t{1} << 20), line.config_file, {}});

  // The harness's own part of each, taken out; an option wins over it.
  std::string& preset = options.preset;
  std::string preset_from = "--preset";
  if (!program.presets.empty()) preset = program.presets.front().name;
  const bool has_presets = !preset.empty() || !program.tiny.empty();
  for (Source& source : sources) {
    source.settings = read_settings(source.text, source.name);
    std::erase_if(source.settings, [&](const auto& setting) {
      const auto& [name, value] = setting;
      if (name == "seed") options.seed = parse_whole(text_of(value), at_least(0), source.name + ": seed");
      if (name == "preset" && has_presets) {
        const auto* text = std::get_if<std::string>(&value);
        check(text != nullptr, "{}: preset: wanted a name", source.name);
        preset = *text;
        preset_from = source.name + ": preset";
      }
      return name == "seed" || (name == "preset" && has_presets);
    });
  }
  if (line.preset) {
    preset = *line.preset;
    preset_from = "--preset";
  }
  if (line.seed) options.seed = parse_whole(*line.seed, at_least(0), "--seed");

  if (!preset.empty() || line.preset) apply_preset(program, config, preset, preset_from);
  const std::vector<Setting> of_preset = settings_of(config);
  std::set<std::string> given;
  if (preset == tiny)
    for (const auto& [name, value] : flags_in(program.tiny)) given.insert(name);
  for (const Source& source : sources)
    for (const auto& [name, value] : source.settings) {
      set_setting(config, name, value, source.name + ": " + one_line(name));
      given.insert(name);
    }
  for (const auto& [name, text] : line.settings) {
    set_setting_text(config, name, text, "--" + name);
    given.insert(name);
  }
  if (program.settle && line.resume.empty()) options.remarks = program.settle(given);
  check_settings(config);  // presets and what settled too
  if (program.check) program.check();
  options.preset_unchanged = preset != tiny && same_but_for_seeds(of_preset, settings_of(config));

  options.config = Json::object();
  if (!preset.empty()) options.config["preset"] = preset;
  options.config["seed"] = options.seed;
  options.config.update(settings_json(config));
  if (!line.resume.empty())
    check_same(Json::parse(sources.front().text), options.config, program.resume->may_differ, line.resume);
  return options;
}

// The flag wins over the environment.
LogLevel log_level(const CommandLine& line) {
  if (line.log_level) return log_level_from_name(*line.log_level, "--log_level");
  const char* wanted = std::getenv("ISOBAR_LOG");
  return wanted == nullptr || *wanted == '\0' ? LogLevel::info : log_level_from_name(wanted, "ISOBAR_LOG");
}

// All threads that the process may use; of those that several ranks on a machine share, its part.
int default_threads(const Ranks& ranks) {
  const int all = available_threads();
  const bool bound = all < ::sysconf(_SC_NPROCESSORS_ONLN);  // by the launcher, to cores of its own
  return bound ? all : static_cast<int>(std::max<int64_t>(1, all / ranks.neighbours()));
}

// Does it on every rank; where one of them fails, all throw.
void all_do(Ranks& ranks, const std::function<void()>& what) {
  std::string failure;
  try {
    what();
  } catch (const Error& error) {
    if (ranks.size() == 1) throw;
    failure = error.what();
  }
  if (ranks.size() == 1) return;
  const std::vector<std::string> failures = ranks.gather(failure);
  const bool alike = std::count(failures.begin(), failures.end(), failures[0]) == std::ssize(failures);
  for (int rank = 0; rank < ranks.size(); ++rank)
    if (const std::string& of_rank = failures[static_cast<size_t>(rank)]; !of_rank.empty())
      throw_error(alike ? of_rank : ranks.name_of(rank) + ": " + of_rank);
}

// What a program's words ask for.
struct Plan {
  std::string prints;  // what it is called, or empty: a run
  std::function<std::string()> text = {};
  RunOptions run = {};
  bool profile = false;
};

// What decides the bits.
void check_same_on_all(Ranks& ranks, const std::string& program, const Plan& plan) {
  Json mine = plan.run.config.is_object() ? plan.run.config : Json::object();
  mine["program"] = program;
  mine["task"] = plan.prints.empty() ? "a run" : plan.prints;
  const Json environment = current_environment();
  for (const auto& [name, value] : environment.items())
    if (name == "version" || name == "commit" || name == "compiler") mine[name] = value;
  const std::vector<std::string> all = ranks.gather(mine.dump());
  const Json one = Json::parse(all[0]);
  for (int rank = 1; rank < ranks.size(); ++rank) {
    const Json other = Json::parse(all[static_cast<size_t>(rank)]);
    for (const char* const name : {"program", "task"})
      check(other[name] == one[name], "{} has {} {}, {} has {}: give all ranks the same words",
            ranks.name_of(rank), name, other[name].dump(), ranks.name_of(0), one[name].dump());
    for (const auto& [name, value] : one.items())
      check(other.contains(name) && other[name] == value,
            "{} has {} {}, {} has {}: wanted one configuration and one build on all ranks, for the same bits",
            ranks.name_of(rank), name, other.contains(name) ? other[name].dump() : "nothing",
            ranks.name_of(0), value.dump());
  }
}

Plan plan_of(const Program& program, HasFields& config, const std::vector<std::string>& arguments,
             Streams streams, Ranks& ranks) {
  const CommandLine line = parse_command_line(program, config, arguments);
  if (line.text) return {"help", [=] { return *line.text; }};
  if (line.about) {
    const std::string text = json_text(about(program));
    return {"about", [=] { return text; }};
  }
  if (line.version)
    return {"version", [=] { return fmt::format("{} {}\n", program.name, isobar_version()); }};
  check(ranks.size() == 1 || program.profiles,
        "it measures times itself, or runs other programs: start one process, without mpirun");
  if (line.rank_timeout) parse_whole(*line.rank_timeout, between(1, 1e6), "--rank_timeout");
  RunOptions options = configure(program, config, line);
  const Json configured = options.config;
  if (line.print_config) return {"configuration", [=] { return json_text(configured); }, options};
  options.resume = line.resume;
  options.folder = !line.out.empty()      ? line.out
                   : !line.resume.empty() ? line.resume
                   : program.folder_of    ? program.folder_of()
                                          : program.default_folder();
  options.command = program.command.empty() ? program.name : program.command;
  options.arguments = arguments;
  options.log_level = log_level(line);
  options.bars = options.log_level <= LogLevel::info;
  options.json = line.json;
  options.force = line.force || program.goes_on;
  options.out = streams.out;
  options.err = streams.err;
  options.ranks = &ranks;
  set_threads(line.threads ? static_cast<int>(parse_whole(*line.threads, between(1, 1024), "--threads"))
                           : default_threads(ranks));
  for (const Printer& printer : program.printers)
    if (printer.flag == line.printer) return {printer.flag, printer.text, options};
  check(line.resume.empty() || !line.out.empty() || line.force ||
            !std::filesystem::exists(options.folder + "/summary.json"),
        "--resume: '{}' holds a finished run: nothing is left to do", line.resume);
  return {"", {}, options, line.profile};
}

int run_checked(const Program& program, HasFields& config, const std::vector<std::string>& arguments,
                const std::function<void(Run&)>& body, Streams streams, Ranks& ranks) {
  Plan plan;
  all_do(ranks, [&] { plan = plan_of(program, config, arguments, streams, ranks); });
  if (ranks.size() > 1) check_same_on_all(ranks, program.name, plan);
  if (!plan.prints.empty()) {
    if (!ranks.first()) return 0;
    fmt::print(streams.out, "{}", plan.text());
    check(std::fflush(streams.out) == 0, "stdout: cannot write; is the disk full?");
    return 0;
  }
  std::optional<Run> begun;
  if (!ranks.first()) begun.emplace(plan.run);
  by_first(ranks, [&] {
    begun.emplace(plan.run);
    return "";
  });
  Run& run = *begun;
  std::optional<Profile> profile;
  if (plan.profile) profile.emplace();
  for (const std::string& remark : plan.run.remarks) run.say("{}\n", remark);
  try {
    body(run);
  } catch (const Error& error) {
    run.keep_reason(error.what());
    throw;
  }
  if (profile) report_profile(run, *profile);
  return run.finish();
}

}  // namespace

std::vector<std::string> preset_names(const Program& program) {
  std::vector<std::string> names;
  for (const Preset& preset : program.presets) names.push_back(preset.name);
  if (!program.tiny.empty()) names.emplace_back(tiny);
  return names;
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

int run_program(const Program& program, HasFields& config, const std::vector<std::string>& arguments,
                const std::function<void(Run&)>& body, Streams streams) {
  return exit_code_of(program.name, streams.err,
                      [&] { return run_checked(program, config, arguments, body, streams, Ranks::alone()); });
}

int run_program(const Program& program, HasFields& config, int argc, char** argv,
                const std::function<void(Run&)>& body) {
  begin_process(argv);
  Program called = program;
  if (called.command.empty()) called.command = argv[0];
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return exit_code_of_ranks(program.name, stderr, rank_timeout_in(arguments), [&](Ranks& ranks) {
    return run_checked(called, config, arguments, body, {}, ranks);
  });
}

}  // namespace isobar
