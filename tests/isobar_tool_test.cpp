// The program isobar: what it lists is there, and what is there it lists.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "../experiments/harness/json.h"
#include "run.h"

namespace isobar::isobar_tool_test {

namespace fs = std::filesystem;

// The programs of experiments/, by the file that each has there.
std::set<std::string> programs() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(ISOBAR_SOURCE_DIR "/experiments"))
    if (entry.path().extension() == ".cpp") names.insert(entry.path().stem());
  return names;
}

// The first words of the lines that begin with two blanks, below a heading.
std::set<std::string> listed(const std::string& help, const std::string& heading) {
  std::istringstream lines(help.substr(help.find("\n" + heading) + 1));
  std::set<std::string> names;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  "))
    if (line[2] != ' ') names.insert(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

TEST_CASE("isobar lists every verb and every study, and takes their words") {
  const Outcome help = run_built("isobar", "--help");
  CHECK(help.code == 0);
  CHECK(run_built("isobar", "").out == help.out);
  std::set<std::string> studies = programs();
  studies.erase("isobar");
  CHECK(listed(help.out, "Studies") == studies);
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(ISOBAR_SOURCE_DIR "/experiments/verbs"))
    if (entry.path().extension() == ".cpp") files.insert(entry.path().stem());
  CHECK(listed(help.out, "Verbs") == files);
  for (const std::string& verb : files) {
    CAPTURE(verb);
    const Outcome one = run_built("isobar", verb + " --version");
    CHECK(one.code == 0);
    CHECK(one.out.starts_with("isobar " + verb + " "));
  }
  CHECK(run_built("isobar", "--version").out.starts_with("isobar "));
}

TEST_CASE("each study asks a question, has a page, and a preset that takes a second") {
  for (const Json& study : Json::parse(run_built("isobar", "--about").out)) {
    const std::string name = study["name"], question = study["question"], page = study["page"];
    CAPTURE(name);
    CHECK(study == Json::parse(run_built(name, "--about").out));
    CHECK(question.ends_with("?"));
    CHECK(holds(file_text(ISOBAR_SOURCE_DIR "/" + page), name));
    const Json tiny = Json::parse(run_built(name, "--preset tiny --print-config").out);
    Json same =
        Json::parse(run_built(name, study["presets"]["tiny"].get<std::string>() + " --print-config").out);
    same.erase("preset");
    CHECK(tiny["preset"] == "tiny");
    for (const auto& [setting, value] : same.items()) CHECK(tiny[setting] == value);
  }
  // Nothing is expected of what is measured; flags win.
  const TemporaryFolder folder;
  const Outcome outcome = run_built("majority", "--tiny --d_model 4", folder.path());
  CHECK(outcome.code == 0);
  const Json summary = Json::parse(file_text(folder / "runs/majority/summary.json"));
  CHECK(summary["expectations"].empty());
  CHECK(summary["config"]["preset"] == "tiny");
  CHECK(summary["config"]["d_model"] == 4);
}

TEST_CASE("isobar runs the study beside it, with its words and its exit code") {
  CHECK(run_built("isobar", "decay_study --depth 3 --print-config").out ==
        run_built("decay_study", "--depth 3 --print-config").out);
  const Outcome refused = run_built("isobar", "decay_study --dpeth 3");
  CHECK(refused.code == 2);
  CHECK(refused.err == run_built("decay_study", "--dpeth 3").err);
  for (const std::string word : {"decay_studi", "../bin/decay_study", "''", "--halp"}) {
    CAPTURE(word);
    const Outcome unknown = run_built("isobar", word);
    CHECK(unknown.code == 2);
    CHECK(unknown.err.starts_with("isobar: there is no verb or study '"));
  }
  CHECK(run_built("isobar", "decay_studi").err.ends_with("; did you mean decay_study?\n"));
}

TEST_CASE("there are few programs: isobar and the studies") { CHECK(programs().size() <= 20); }

}  // namespace isobar::isobar_tool_test
