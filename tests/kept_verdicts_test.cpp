// The verdicts of the last full run (experiments/claims/full.json): of the claims as they are now, and as the READMEs show
// them.
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "../experiments/claims/file.h"
#include "../experiments/harness/json.h"
#include "documents.h"
#include "program.h"

using namespace isobar;
using namespace isobar::claims;

namespace {

Json last_full_run() { return Json::parse(file_text(ISOBAR_SOURCE_DIR "/experiments/claims/full.json")); }

// A cell's text: a bar would end the cell.
std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

// What claims/verdict_table.py writes into a study's page: a row for each part that a run of it measures.
std::string study_table(const std::string& study, const Json& full) {
  std::string table = fmt::format(
      "Full run of {}, commit {}, on {}; `experiments/claims/verdict_table.py --renew` writes this table.\n\n"
      "| claim | says | part | measured | asked | outcome |\n|---|---|---|---|---|---|\n",
      full["date"].get<std::string>(), full["commit"].get<std::string>(), full["cpu"].get<std::string>());
  for (const ClaimFile& file : builtin_claims())
    for (const Claim& claim : file.claims) {
      const Json& kept = full["claims"][claim.id];
      bool first = true;
      for (size_t i = 0; i < claim.parts.size(); ++i) {
        const Part& part = claim.parts[i];
        const auto run = std::ranges::find(file.runs, part.run, &RunSpec::name);
        if (run->study != study) continue;
        const std::string head =
            fmt::format("{} {}: {}", file.source.id, claim.id, kept["verdict"].get<std::string>());
        const auto of_run = [&](const char* field) {
          return cell(kept["parts"][i][field].get<std::string>());
        };
        table +=
            fmt::format("| {} | {} | {} | {} | {} | {} |\n", first ? head : "", first ? cell(claim.says) : "",
                        cell(part.says), of_run("measured"), of_run("wanted"), of_run("outcome"));
        first = false;
      }
    }
  return table;
}

}  // namespace

TEST_CASE("the verdicts that are kept are those of the rows as they are now") {
  const Json full = last_full_run();
  for (const Claim* claim : builtin_table()) {
    CAPTURE(claim->id);
    const Json& parts = full["claims"][claim->id]["parts"];
    REQUIRE(parts.size() == claim->parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      CHECK(parts[i]["says"] == claim->parts[i].says);
      CHECK(parts[i]["wanted"] == text_of(claim->parts[i].predicate));
    }
  }
}

TEST_CASE("the README has the counts and rows of the last full run") {
  const std::string folder = ISOBAR_SOURCE_DIR;
  const Json full = last_full_run();
  CHECK(full["claims"].size() == builtin_table().size());
  std::map<std::string, int> counts;
  for (const Json& claim : full["claims"]) ++counts[claim["verdict"].get<std::string>()];
  // Lines break anywhere.
  std::string readme = file_text(folder + "/README.md");
  std::replace(readme.begin(), readme.end(), '\n', ' ');
  std::istringstream lines(file_text(folder + "/README.md"));
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {  // "| 003 D01 | … | measured | asked | verdict |"
    if (!line.starts_with("| 00")) continue;
    const Json& claim = full["claims"][line.substr(6, 3)];
    CAPTURE(line);
    CHECK(line.ends_with("| " + claim["verdict"].get<std::string>() + " |"));
    CHECK(std::any_of(claim["parts"].begin(), claim["parts"].end(), [&](const Json& part) {
      return line.find(part["says"].get<std::string>() + ": " + part["measured"].get<std::string>() + " | " +
                       part["wanted"].get<std::string>() + " |") != std::string::npos;
    }));
    ++rows;
  }
  CHECK(rows == 20);
  for (const auto& [verdict, count] : counts)
    CHECK(readme.find(fmt::format("{} {}", count, verdict)) != std::string::npos);
  std::vector<std::string> refuted;
  for (const auto& [id, claim] : full["claims"].items())
    if (id.starts_with("D") && claim["verdict"] == "refuted") refuted.push_back(id);
  CHECK(readme.find(fmt::format("Refuted of text 003 are {}.", fmt::join(refuted, ", "))) !=
        std::string::npos);
}

TEST_CASE("each study's page has the values of the last full run") {
  const Json full = last_full_run();
  std::set<std::string> studies, shown;
  for (const ClaimFile& file : builtin_claims())
    for (const RunSpec& run : file.runs) studies.insert(run.study);
  for (const std::filesystem::path& page : documents()) {
    const std::string text = file_text(page), begin = "\n<!-- verdicts: ", end = "<!-- end of verdicts -->";
    const size_t at = text.find(begin), name_at = at + begin.size(), name_end = text.find(" -->\n", at);
    if (at == std::string::npos) continue;
    const std::string study = text.substr(name_at, name_end - name_at);
    shown.insert(study);
    INFO("experiments/claims/verdict_table.py --renew writes the table of ", page.string());
    CHECK(text.substr(name_end + 5, text.find(end) - name_end - 5) == study_table(study, full));
  }
  CHECK(shown == studies);
}
