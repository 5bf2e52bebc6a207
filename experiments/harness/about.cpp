#include "about.h"

#include <filesystem>
#include <sstream>

#include "settings.h"

namespace isobar {

namespace fixtures {
extern const char claims_full[], studies[];  // claims/full.json; the names, with blanks between
}  // namespace fixtures

namespace {

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

}  // namespace

Json about(const Program& program) {
  Json about = {{"name", program.name},
                {"question", question_of(program.about)},
                {"page", "experiments/" + program.page},
                {"ranks", program.profiles},
                {"presets", Json::object()},
                {"seconds", Json::object()}};
  for (const Preset& preset : program.presets) about["presets"][preset.name] = preset.flags;
  if (!program.tiny.empty()) about["presets"]["tiny"] = program.tiny;
  add_kept(about);
  return about;
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
