#include "plan.h"

#include <fmt/ranges.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "../../core/parallel.h"
#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../../data/utf8_stream.h"
#include "../run/lists.h"
#include "../run/program.h"
#include "../run/provenance.h"

namespace isobar::claims {
namespace {

void check_ids(const std::vector<ClaimFile>& files) {
  std::map<std::string, std::string> seen;  // the file of each id
  for (const ClaimFile& file : files)
    for (const Claim& claim : file.claims) {
      const auto [other, is_new] = seen.emplace(claim.id, file.path);
      check(is_new, "{}, line {}: claim {} is in {} too; rename one", file.path, claim.line, claim.id,
            other->second);
    }
}

// Flags that belong to whoever runs `verify`, or that name files: a claim file says what is run, not where.
const std::vector<std::string> users_flags = {
    "out",    "threads", "config",    "print_config", "json",  "force",
    "resume", "help",    "help_all",  "version",      "mnist", "seed",
    "h",      "profile", "log_level", "rank_timeout", "about", "accept_old"};

// The flags of a field, each checked as far as a text can tell; the study itself checks them later.
std::vector<std::string> flags_of(TomlTable& table, const char* field) {
  const std::optional<std::vector<std::string>> split = shell_words(table.text_or(field, ""));
  if (!split) table.refuse(table.line_of(field), fmt::format("{}: a quote is not closed; close it", field));
  const std::vector<std::string>& words = *split;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (std::ranges::count(users_flags, setting_of(name)) > 0)
      table.refuse(table.line_of(field),
                   fmt::format("{}: {} is not for a file of claims to say; drop it", field, name));
    const bool corpus = setting_of(name) == "corpus";
    const std::string value = words[i].size() > name.size()    ? words[i].substr(name.size() + 1)
                              : corpus && i + 1 < words.size() ? words[i + 1]
                                                               : "";
    if (corpus && value != "synthetic")
      table.refuse(table.line_of(field), fmt::format("{}: wanted --corpus synthetic or no --corpus, got '{}'",
                                                     field, one_line(value)));
    if (words[i].find('/') != std::string::npos)
      table.refuse(
          table.line_of(field),
          fmt::format("{}: '{}' looks like a path; a file of claims names none", field, one_line(words[i])));
  }
  return words;
}

// Programs stand in one folder, but for those that the user named.
std::string program_path(const PlannedRun& planned) {
  if (!planned.path.empty()) return planned.path;
  return std::filesystem::path(own_path()).parent_path().string() + "/" + planned.program;
}

std::string last_line(const std::string& text) {
  const std::string lines = text.substr(0, text.find_last_not_of('\n') + 1);
  return lines.substr(lines.rfind('\n') + 1);
}

// What a program says of itself; null where it says nothing.
Json about(const PlannedRun& planned) {
  const Finished said = run_child(program_path(planned), {"--about"}, Complaints::kept);
  const Json json = Json::parse(said.out, nullptr, false);
  return json.is_object() ? json : Json();
}

// The summary of a finished run of this configuration; null where there is none.
Json finished_summary(const std::string& folder, const Json& config) {
  const std::string path = folder + "/summary.json";
  if (!std::filesystem::exists(path)) return {};
  Json summary = parse_json<Json>(read_regular_file(path, size_t{1} << 30));
  return summary.is_object() && summary.value("config", Json()) == config ? summary : Json();
}

// Why such a run may measure something else now; empty where it does not. A program of the user's may be a script
// that starts another one: it must be older than its results.
std::string change_since(const std::string& folder, const Json& summary, const PlannedRun& planned) {
  if (!planned.path.empty() && std::filesystem::last_write_time(planned.path) >
                                   std::filesystem::last_write_time(folder + "/summary.json"))
    return "its program is newer";
  const Json then = summary.value("environment", Json::object()), program = about(planned);
  const std::string sources = program.is_object() ? program.value("sources", "") : "";
  return isobar::change_since(
      then, provenance(sources, data_now(then.is_object() ? then.value("data", Json()) : Json())));
}

// Whether a planned run's folder holds a finished run that an earlier `verify` made: one of these settings, or of those
// that its summary says.
bool made_by_verify(const std::string& folder, const PlannedRun& planned, const Json& config) {
  const std::string own = folder + "/" + planned.folder;
  if (!finished_summary(own, config).is_null()) return true;
  const std::string path = folder + "/summary.json";
  if (!std::filesystem::exists(path)) return false;
  const Json earlier = parse_json<Json>(read_regular_file(path, size_t{1} << 30));
  if (!earlier.is_object() || !earlier.value("runs", Json()).is_array()) return false;
  return std::ranges::any_of(earlier["runs"], [&](const Json& made) {
    return made.is_object() && made.value("folder", Json()) == planned.folder &&
           made.value("config", Json()).is_object() && !finished_summary(own, made["config"]).is_null();
  });
}

// Where results were written last; nothing where there are none.
std::optional<std::filesystem::file_time_type> written_at(const std::string& folder) {
  std::error_code none;
  const auto time = std::filesystem::last_write_time(folder + "/summary.json", none);
  return none ? std::nullopt : std::optional(time);
}

}  // namespace

std::vector<PlannedRun> plan(const std::vector<ClaimFile>& files, std::string_view scale) {
  std::vector<PlannedRun> runs;
  check_ids(files);
  for (const ClaimFile& file : files)
    for (const RunSpec& spec : file.runs) {
      const bool full = scale == "full" && spec.full != spec.quick;
      PlannedRun run{spec.name, full ? spec.name + ".full" : spec.name, spec.study, spec.flags,
                     fmt::format("{}, line {}", file.path, spec.line)};
      run.shipped = file.shipped;
      const std::vector<std::string>& more = scale == "full" ? spec.full : spec.quick;
      run.arguments.insert(run.arguments.end(), more.begin(), more.end());
      const auto same = std::ranges::find(runs, run.name, &PlannedRun::name);
      if (same == runs.end()) {
        runs.push_back(std::move(run));
        continue;
      }
      check(same->program == run.program && same->arguments == run.arguments,
            "{}, line {}: run {} is '{} {}' here and '{} {}' in another file; rename one", file.path,
            spec.line, run.name, run.program, shell_line(run.arguments), same->program,
            shell_line(same->arguments));
    }
  return runs;
}

std::string setting_of(const std::string& word) {
  if (word.size() < 2 || word[0] != '-' || std::isdigit(static_cast<unsigned char>(word[1])) != 0 ||
      word[1] == '.')
    return "";
  std::string name = word.substr(0, word.find('='));
  name.erase(0, name.find_first_not_of('-'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<std::string> studies() {
  std::vector<std::string> names = study_names();
  std::erase(names, "train_lm");  // its flags name files
  return names;
}

RunSpec read_run(const std::string& name, TomlTable& table) {
  table.allow({"study", "flags", "quick", "full"});
  RunSpec run{.name = name, .study = table.text("study"), .line = table.line()};
  if (!std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }))
    table.refuse(run.line, "wanted a name of letters, digits and _");
  const std::vector<std::string> known = studies();
  if (std::ranges::count(known, run.study) == 0)
    table.refuse(table.line_of("study"), "study: " + not_one_of(known, run.study));
  run.flags = flags_of(table, "flags");
  run.quick = flags_of(table, "quick");
  run.full = flags_of(table, "full");
  return run;
}

Json config_of(const PlannedRun& planned, int64_t seed, const std::string& where) {
  std::vector<std::string> arguments = planned.arguments;
  arguments.insert(arguments.end(), {"--seed", std::to_string(seed), "--print-config"});
  const Finished printed = run_child(program_path(planned), arguments, Complaints::kept);
  check(printed.code == 0, "{}: {}", where, last_line(printed.err));
  const Json config = parse_json<Json>(printed.out);
  check(config.is_object(), "{}: {}: its flags ask for something else than a run; give it settings alone",
        where, planned.program);
  for (const std::string& word : planned.arguments) {
    std::string name = setting_of(word);
    const bool preset = config.value("preset", "") == name;
    if (name.starts_with("no_") && config.value(name.substr(3), Json()).is_boolean()) name.erase(0, 3);
    check(name.empty() ? word != "--" : preset || config.contains(name),
          "{}: {}: {} is no setting of it; drop it", where, planned.program, word);
  }
  return config;
}

std::string seeds_text(const PlannedRun& planned, const Json& config) {
  const int64_t most_pairs =
      config.value("max_pairs", int64_t{0});  // whose seeds are those of its search alone
  if (most_pairs > 0)
    return fmt::format("at most {} pairs of seeds from {} on; more: by --max_pairs{}", most_pairs,
                       config.value("seed", int64_t{0}),
                       planned.shipped ? "" : " in the flags of the run " + planned.where);
  const bool pairs = config.value("pair_seeds", int64_t{0}) > config.value("seeds", int64_t{0});
  const std::string flag = pairs ? "pair_seeds" : "seeds";
  const int64_t seeds = config.value(flag, int64_t{0}), first = config.value("seed", int64_t{0});
  if (seeds == 0) return "";
  std::string text =
      seeds == 1 ? fmt::format("seed {}", first) : fmt::format("seeds {} … {}", first, first + seeds - 1);
  if (pairs) text += " of the pairs";
  if (!planned.shipped)
    return fmt::format("{}; more: by --{} in the flags of the run {}", text, flag, planned.where);
  std::vector<std::string> words{planned.program};
  for (size_t i = 0; i < planned.arguments.size(); ++i)
    if (setting_of(planned.arguments[i]) == flag)
      i += planned.arguments[i].find('=') == std::string::npos;  // its value
    else
      words.push_back(planned.arguments[i]);
  words.insert(words.end(), {"--" + flag, std::to_string(10 * seeds)});
  return fmt::format("{}; more: {}", text, shell_line(words));
}

Json rehearse(const Run& run, const PlannedRun& planned, const Json& config) {
  // What a run takes time for, and what its keys do not tell.
  const std::pair<const char*, double> few[] = {{"seeds", 1},
                                                {"pair_seeds", 1},
                                                {"steps", 4},
                                                {"few_steps", 4},
                                                {"finetuning_steps", 4},
                                                {"deep_steps", 4},
                                                {"deep_warmup_iters", 1},
                                                {"eval_iters", 1},
                                                {"log_interval", 1},
                                                {"turn_ms", 0.1},
                                                {"rounds", 15},
                                                {"processes", 1}};
  std::vector<std::string> arguments = planned.arguments;
  for (const auto& [name, most_of_it] : few)
    if (const Json now = config.value(name, Json()); now.is_number() && now.get<double>() > most_of_it)
      arguments.insert(arguments.end(), {fmt::format("--{}", name), fmt::format("{}", most_of_it)});
  if (config.value("learning_rate", 1.0) == 0)  // which is a search for the best one
    arguments.insert(arguments.end(), {"--learning_rate", "0.001"});
  std::string folder = run.folder() + "/.rehearsal_XXXXXX";
  check(::mkdtemp(folder.data()) != nullptr, "{}: cannot make a folder: {}", folder, std::strerror(errno));
  const std::string path = folder + "/summary.json";
  arguments.insert(arguments.end(), {"--force", "--out", folder, "--threads", "1"});
  const Limit most{.bytes = limit_of_untrusted().bytes, .seconds = 30};
  run_child("/bin/sh", limited(program_path(planned), arguments, most, 1), Complaints::kept);
  Json summary;
  if (std::filesystem::exists(path)) summary = parse_json<Json>(read_regular_file(path, size_t{1} << 30));
  std::filesystem::remove_all(folder);
  return summary.is_object() && summary.contains("measured") ? summary : Json();
}

std::vector<std::string> kept_keys(const PlannedRun& planned) {
  const Json said = about(planned);
  return said.is_object() ? said.value("keys", std::vector<std::string>()) : std::vector<std::string>();
}

std::string command_of(const PlannedRun& planned, const std::string& folder, int64_t seed,
                       const Json& config) {
  const std::string own = folder + "/" + planned.folder;
  const Json there = finished_summary(own, config);
  const bool stale = !there.is_null() && !change_since(own, there, planned).empty();
  std::vector<std::string> words = {program_path(planned)};
  words.insert(words.end(), planned.arguments.begin(), planned.arguments.end());
  words.insert(words.end(), {"--seed", std::to_string(seed), "--out", own});
  if (stale) words.emplace_back("--force");
  const std::string command = shell_line(words);
  if (stale || !there.is_null()) return stale ? command : "";
  return fmt::format("{} || {}", shell_line(std::vector<std::string>{"test", "-e", own + "/summary.json"}),
                     command);
}

bool is_made(const Run& run, const PlannedRun& planned, const Json& config) {
  const std::string folder = run.folder() + "/" + planned.folder;
  const Json summary = finished_summary(folder, config);
  return !summary.is_null() && (run.accept_old() || change_since(folder, summary, planned).empty());
}

Made make_run(Run& run, const PlannedRun& planned, const Json& config, const std::optional<Limit>& most) {
  const std::string folder = run.folder() + "/" + planned.folder;
  Json there = finished_summary(folder, config);
  const std::string change = there.is_null() ? "" : change_since(folder, there, planned);
  if (!there.is_null() && (change.empty() || run.accept_old())) {
    run.say("{}: there already{}\n", planned.name,
            change.empty() ? "" : fmt::format(", and taken by --accept-old, though {}", change));
    const Json expectations = there.value("expectations", Json::array());
    const bool met = std::ranges::all_of(expectations, [](const Json& e) { return e.value("ok", false); });
    run.expect(planned.name, met, met ? "" : "is there already, with expectations that were not met");
    return {.summary = std::move(there), .complaint = "", .accepted_old = change};
  }
  if (!change.empty()) run.say("{}: measured anew, for {}\n", planned.name, change);
  run.say("{}: {}{}{}\n", planned.name, planned.path.empty() ? planned.program : planned.path,
          planned.arguments.empty() ? "" : " ", shell_line(planned.arguments));
  refuse_link(folder);
  std::vector<std::string> arguments = planned.arguments;
  arguments.insert(arguments.end(), {"--seed", std::to_string(run.seed()), "--out", folder, "--threads",
                                     std::to_string(threads())});
  // What an earlier `verify` made here goes; another run, and any file beside none, is the user's.
  if (run.force() || (run.goes_on() && made_by_verify(run.folder(), planned, config)))
    arguments.emplace_back("--force");
  const auto before = written_at(folder);
  const Finished finished =
      most ? run_child("/bin/sh", limited(program_path(planned), arguments, *most, threads()))
           : run_child(program_path(planned), arguments);
  std::string complaint = fmt::format("{}: {}", planned.where, last_line(finished.err));
  if (most && finished.code == 128 + SIGXCPU)
    complaint = fmt::format(
        "{}: {} took more than the {:.0f} s that are left of the hour that a file of your own may take; choose smaller "
        "sizes, or --allow_large",
        planned.where, planned.program, most->seconds);
  // A tensor that the system refuses says so; what else takes memory ends with the second of these.
  const bool refused = complaint.find(" memory: the system refused") != std::string::npos;
  if (most && finished.code == 2 && (refused || complaint.find("out of memory") != std::string::npos))
    complaint += fmt::format("{}, or --allow_large: a file of your own may take {:.1f} GiB",
                             refused ? "; choose smaller sizes" : "", most->bytes / (1 << 30));
  if (finished.code == 3) return {.summary = Json(), .complaint = complaint, .cannot_run = true};
  if (finished.code == 2 && !planned.shipped)
    return {.summary = Json(), .complaint = complaint, .refused = true};
  Json summary = written_at(folder) == before ? Json() : finished_summary(folder, config);
  const bool made = !summary.is_null();
  if (finished.code == 0 && !made) complaint = planned.where + ": no results of these settings are there";
  // What was met says the same of a run that is made now and of one that was there.
  const bool met = finished.code == 0 && made;
  run.expect(
      planned.name, met,
      met ? "" : fmt::format("{} ended with exit code {}: {}", planned.program, finished.code, complaint));
  return {.summary = std::move(summary), .complaint = made ? "" : complaint};
}

}  // namespace isobar::claims
