// experiments/coverage.md: what of the texts runs where.
#include <doctest/doctest.h>

#include <regex>
#include <set>

#include "../experiments/claims/file.h"
#include "program.h"

namespace isobar::coverage_test {

namespace {

struct Row {
  std::string item, how;
  std::vector<std::string> commands, claims;
};

std::vector<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex wanted(pattern);
  std::vector<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at)
    all.push_back((*at)[1]);
  return all;
}

std::vector<Row> rows() {
  std::istringstream lines(file_text(ISOBAR_SOURCE_DIR "/experiments/coverage.md"));
  std::vector<Row> all;
  const std::regex three_cells(R"(^\| (.+) \| (.+) \| (.*)\|$)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch cells;
    if (!std::regex_match(line, cells, three_cells) || cells[1] == "item") continue;
    all.push_back({cells[1], cells[2], matches(cells[2], "`([^`]+)`"), matches(cells[3], "([A-Z][0-9]+)")});
  }
  return all;
}

}  // namespace

TEST_CASE("each item of the texts names a command that its program understands, or says why there is none") {
  std::set<std::string> understood;
  for (const Row& row : rows()) {
    CAPTURE(row.item);
    CHECK((!row.commands.empty() || row.how.starts_with("cannot run here: ")));
    for (const std::string& command : row.commands) {
      if (!understood.insert(command).second || command.find("--print-model") != std::string::npos) continue;
      const size_t words = command.starts_with("isobar ") ? command.find(' ', 7) : command.find(' ');
      const size_t end = std::min(words, command.size());
      const Outcome outcome = run_built(command.substr(0, end), command.substr(end) + " --print-config");
      CAPTURE(command);
      INFO(outcome.err);
      CHECK(outcome.code == 0);
    }
  }
  CHECK(understood.size() >= 30);
}

TEST_CASE("the table of what runs what names every claim, and no other") {
  std::set<std::string> named, known;
  for (const Row& row : rows()) named.insert(row.claims.begin(), row.claims.end());
  for (const claims::Claim* claim : claims::builtin_table()) known.insert(claim->id);
  CHECK(named == known);
}

}  // namespace isobar::coverage_test
