#include "program.h"

#include <fmt/ranges.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "../../core/parallel.h"
#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../../data/utf8_stream.h"
#include "environment.h"
#include "grid.h"
#include "lists.h"
#include "output_file.h"
#include "profile_report.h"
#include "settings.h"
#include "tool.h"

namespace isobar {

namespace fixtures {
extern const char claims_full[], studies[];  // claims/full.json; the names, with blanks between
}  // namespace fixtures

namespace {

constexpr const char* tiny = "tiny";

// The harness's own settings before those of Config: what --print-config prints.
struct AllSettings : HasFields {
  HasFields& config;
  const std::vector<std::string> presets;  // their names
  std::string preset = {};
  int64_t seed = 0;

  AllSettings(HasFields& of_study, const Program& program)
      : config(of_study),
        presets(preset_names(program)),
        preset(program.presets.empty() ? "" : program.presets.front().name) {}
  void fields(Fields& f) override {
    if (!presets.empty()) f("preset", preset, "", one_of(presets));
    f("seed", seed, "", at_least(0));
    config.fields(f);
  }
};

bool same_but_for_seeds(const std::vector<Setting>& a, const std::vector<Setting>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Setting& x, const Setting& y) { return x == y || x.name == "seeds"; });
}

// Throws Error naming the settings in which a run differs from the one that it is to go on with.
void check_same(const Json& there, const Json& here, const Resume& resume, const std::string& folder) {
  const std::string differences = differences_between(there, here, resume.may_differ);
  check(
      differences.empty(),
      "--resume: '{}' is a run with another configuration: {}; leave these flags out, or begin a new run with its "
      "weights: --{} {}",
      folder, differences, resume.begins_with, shell_line(std::vector{folder}));
}

// Brings Config to its final state: preset, resumed run, config file, options. Returns what Run needs of it.
RunOptions configure(const Program& program, HasFields& config, const CommandLine& line) {
  RunOptions options = line.run;
  options.program = program.name;
  struct Source {
    std::string text, name;
    std::vector<std::pair<std::string, Value>> settings;
  };
  std::vector<Source> sources;
  if (!options.resume.empty())
    sources.push_back({program.resume->config(options.resume), options.resume, {}});
  if (!line.config_file.empty())
    sources.push_back({read_file(line.config_file, size_t{1} << 20), line.config_file, {}});

  for (Source& source : sources) source.settings = read_settings(source.text, source.name);

  // The preset first: all others win over it.
  AllSettings all(config, program);
  const auto set_of_file = [&](const Source& source, const auto& setting) {
    set_setting(all, setting.first, setting.second, source.name + ": " + one_line(setting.first));
  };
  for (const Source& source : sources)
    for (const auto& setting : source.settings)
      if (setting.first == "preset") set_of_file(source, setting);
  if (line.preset) set_setting_text(all, "preset", *line.preset, "--preset");
  for (const Preset& preset : program.presets)
    if (preset.name == (all.preset == tiny ? all.presets.front() : all.preset))
      set_flags(config, preset.flags);
  std::set<std::string> given;
  if (all.preset == tiny) {
    set_flags(config, program.tiny);
    for (const auto& [name, value] : flags_in(program.tiny)) given.insert(name);
  }
  const std::vector<Setting> of_preset = settings_of(config);
  for (const Source& source : sources)
    for (const auto& setting : source.settings) {
      if (setting.first != "preset") set_of_file(source, setting);
      given.insert(setting.first);
    }
  if (line.seed) set_setting_text(all, "seed", *line.seed, "--seed");
  for (const auto& [name, text] : line.settings) {
    set_setting_text(config, name, text, "--" + name);
    given.insert(name);
  }
  for (const char* own : {"preset", "seed"}) given.erase(own);
  if (program.settle && options.resume.empty()) options.remarks = program.settle(given);
  check_settings(config);  // presets and what settled too
  if (program.check) program.check();
  options.preset_unchanged = all.preset != tiny && same_but_for_seeds(of_preset, settings_of(config));
  options.preset = all.preset;
  options.seed = all.seed;
  options.config = settings_json(all);
  if (all.preset.empty()) options.config.erase("preset");
  if (!options.resume.empty())
    check_same(Json::parse(sources.front().text), options.config, *program.resume, options.resume);
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
  const bool alike = std::ranges::count(failures, failures[0]) == std::ssize(failures);
  for (int rank = 0; rank < ranks.size(); ++rank)
    if (const std::string& of_rank = failures[static_cast<size_t>(rank)]; !of_rank.empty())
      throw_error(alike ? of_rank : ranks.name_of(rank) + ": " + of_rank);
}

// The first sentence that ends with a question mark, in a line.
std::string question_of(std::string text) {
  text.erase(std::min(text.find('?'), text.size() - 1) + 1);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

void add_kept(Json& about) {
  static const Json kept = Json::parse(fixtures::claims_full);
  std::set<std::string> runs, keys;
  std::map<std::string, double> all_seconds;
  for (const Json& run : kept["runs"]) {
    if (run["study"] != about["name"]) continue;
    runs.insert(run["name"].get<std::string>());
    for (const auto& [scale, seconds] : run["seconds"].items()) all_seconds[scale] += seconds.get<double>();
  }
  for (const auto& [scale, seconds] : all_seconds) about["seconds"][scale] = std::round(seconds * 10) / 10;
  for (const Json& value : kept["values"])
    if (runs.contains(value["run"].get<std::string>())) keys.insert(value["key"].get<std::string>());
  about["keys"] = keys;
}

Json about(const Program& program) {
  Json about = {{"name", program.name},
                {"question", question_of(program.about)},
                {"page", "experiments/" + program.page},
                {"ranks", program.profiles},
                {"sources", isobar_sources()},
                {"presets", Json::object()},
                {"seconds", Json::object()}};
  for (const Preset& preset : program.presets) about["presets"][preset.name] = preset.flags;
  if (!program.tiny.empty()) about["presets"]["tiny"] = program.tiny;
  add_kept(about);
  return about;
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
  Json mine = {{"program", program}, {"task", plan.prints.empty() ? "a run" : plan.prints}};
  if (plan.run.config.is_object()) mine.update(plan.run.config);
  const Json environment = current_environment();
  for (const char* name : {"version", "sources", "compiler"}) mine[name] = environment[name];
  const std::vector<std::string> all = ranks.gather(mine.dump());
  const Json one = Json::parse(all[0]);
  for (int rank = 1; rank < ranks.size(); ++rank) {
    const Json other = Json::parse(all[static_cast<size_t>(rank)]);
    for (const auto& [name, value] : one.items())
      check(other.value(name, Json()) == value, "{} has {} {}, {} has {}: {}", ranks.name_of(rank), name,
            other.contains(name) ? other[name].dump() : "nothing", ranks.name_of(0), value.dump(),
            name == "program" || name == "task"
                ? "give all ranks the same words"
                : "wanted one configuration and one build on all ranks, for the same bits");
  }
}

// Why a finished run of the program with the configuration `there` stays; null where it always does.
std::function<std::string(const Json&)> obstacle_of(const Program& program, const Json& here) {
  if (!program.goes_on) return nullptr;
  return [may_differ = *program.goes_on, here](const Json& there) -> std::string {
    if (may_differ.all) return "";
    std::vector<std::string> free = may_differ.settings;
    free.insert(free.end(), may_differ.may_grow.begin(), may_differ.may_grow.end());
    const std::string differences =
        there.is_object() ? differences_between(there, here, free) : "none can be read";
    if (!differences.empty()) return "holds a finished run of other settings: " + differences;
    for (const std::string& name : may_differ.may_grow) {
      if (!there.contains(name) || !there[name].is_number_integer())
        return "holds a finished run without " + name;
      const int64_t then = there[name].get<int64_t>(), now = here.at(name).get<int64_t>();
      const bool smaller = then == 0 ? now != 0 : now != 0 && now < then;
      if (smaller)
        return fmt::format("holds a finished run with --{} {}, and this one has {}", name, then, now);
    }
    return "";
  };
}

// Throws Error where a file that the user names may not be written: the run's own results, and what the run may read.
void check_output_of(const Program& program, const std::string& output, const RunOptions& options,
                     const std::string& config_file) {
  check(!is_file_of_run(output, options.folder, program.name),
        "--output: '{}' is a file of the run's own results in '{}'; choose another name", output,
        options.folder);
  std::vector<std::string> read = {config_file, options.resume};
  for (const Json& value : options.config)  // any text may name a file or a folder, as --corpus does
    if (value.is_string()) read.push_back(value.get<std::string>());
  check_output(output, {.force = options.force, .page = true, .inputs = read, .folders = read});
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
  if (options.folder.empty())
    options.folder = !options.resume.empty() ? options.resume
                     : program.folder_of     ? program.folder_of()
                                             : program.default_folder();
  // The commands that it prints take a name for an option that begins as one.
  for (std::string* folder : {&options.folder, &options.resume})
    if (folder->starts_with('-')) *folder = "./" + *folder;
  options.command = program.command.empty() ? program.name : program.command;
  options.arguments = arguments;
  options.log_level = log_level(line);
  options.bars = options.log_level <= LogLevel::info;
  options.obstacle = obstacle_of(program, configured);
  options.out = streams.out;
  options.err = streams.err;
  options.ranks = &ranks;
  options.shares = program.shares;
  options.trained = program.trained;
  check_trained(options.trained, configured);
  set_threads(line.threads ? static_cast<int>(parse_whole(*line.threads, between(1, 1024), "--threads"))
                           : default_threads(ranks));
  for (const Printer& printer : program.printers)
    if (printer.flag == line.printer) {
      if (printer.writes) check_output_of(program, *printer.file, options, line.config_file);
      const auto of_run = [print = printer.text_of_run, options] { return print(options); };
      return {printer.flag, printer.text_of_run ? of_run : printer.text, options};
    }
  if (program.output != nullptr && !program.output->empty())
    check_output_of(program, *program.output, options, line.config_file);
  check(options.resume.empty() || !line.run.folder.empty() || options.force ||
            !std::filesystem::exists(options.folder + "/summary.json"),
        "--resume: '{}' holds a finished run: nothing is left to do", options.resume);
  return {"", {}, options, line.profile};
}

int run_checked(const Program& program, HasFields& config, const std::vector<std::string>& arguments,
                const std::function<void(Run&)>& body, Streams streams, Ranks& ranks) {
  Plan plan;
  all_do(ranks, [&] { plan = plan_of(program, config, arguments, streams, ranks); });
  if (ranks.size() > 1) check_same_on_all(ranks, program.name, plan);
  if (!plan.prints.empty()) {
    if (!ranks.first()) return 0;
    write_out(plan.text(), streams.out);
    return 0;
  }
  std::optional<Run> begun;
  const auto make = [&] {
    std::optional<Profile> profile;
    if (plan.profile) profile.emplace();
    for (const std::string& remark : plan.run.remarks) begun->say("{}\n", remark);
    try {
      body(*begun);
    } catch (const Error& error) {
      begun->keep_reason(error.what());
      throw;
    }
    if (profile) report_profile(*begun, *profile);
    return begun->finish();
  };
  if (!ranks.first()) begun.emplace(plan.run);
  by_first(ranks, [&] {
    begun.emplace(plan.run);
    return "";
  });
  while (!begun->writes()) {
    bool all_there = false;
    try {
      make();
      all_there = true;
    } catch (const EndedElsewhere&) {
    }
    if (!ranks.first()) return 0;
    // The process that has the folder writes the results; where it was killed, this one does.
    begun.reset();
    const bool finished = std::filesystem::exists(plan.run.folder + "/summary.json");
    if (!finished) begun.emplace(plan.run);
    if (finished || (all_there && !begun->writes())) {
      if (plan.run.log_level <= LogLevel::info)
        fmt::print(streams.err, "{}: the process that this one helped writes the results into '{}'\n",
                   program.name, plan.run.folder);
      return 0;
    }
  }
  return make();
}

}  // namespace

std::string differences_between(const Json& there, const Json& here,
                                const std::vector<std::string>& may_differ) {
  std::vector<std::string> differences;
  for (const auto& [name, value] : there.items())
    if (std::ranges::count(may_differ, name) == 0 && here.contains(name) && here[name] != value)
      differences.push_back(fmt::format("{} is {} there, {} here", name, value.dump(), here[name].dump()));
  return fmt::format("{}", fmt::join(differences, ", "));
}

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
  begin_process();
  Program called = program;
  if (called.command.empty()) called.command = argv[0];
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return exit_code_of_ranks(program.name, stderr, rank_timeout_in(arguments), [&](Ranks& ranks) {
    return run_checked(called, config, arguments, body, {}, ranks);
  });
}

const std::vector<std::string>& study_names() {
  static const std::vector<std::string> names = [] {
    std::istringstream words(fixtures::studies);
    return std::vector<std::string>(std::istream_iterator<std::string>(words), {});
  }();
  return names;
}

std::vector<Json> ask_studies() {
  std::vector<Json> answers;
  for (const std::string& name : study_names()) {
    const std::filesystem::path path = std::filesystem::path(own_path()).parent_path() / name;
    if (!std::filesystem::exists(path)) continue;
    const Finished finished = run_child(path.string(), {"--about"});
    check(finished.code == 0, "{}: wanted an answer to --about, got exit code {}; build it anew",
          path.string(), finished.code);
    answers.push_back(Json::parse(finished.out));
  }
  return answers;
}

}  // namespace isobar
