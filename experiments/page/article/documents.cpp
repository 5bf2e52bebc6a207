#include "documents.h"

#include <map>
#include <regex>
#include <sstream>

#include "../../../core/error.h"
#include "../charts/shapes.h"

namespace isobar::fixtures {
extern const char claims_rules[], bench[], ladder[];
}  // namespace isobar::fixtures

namespace isobar::article {
namespace {

using charts::element;
using charts::Markup;

std::string_view text_of(const std::string& document) {
  static const std::map<std::string, const char*> documents = {
      {"rules", fixtures::claims_rules}, {"bench", fixtures::bench}, {"ladder", fixtures::ladder}};
  const auto found = documents.find(document);
  check(found != documents.end(), "there is no document {}; wanted rules, bench or ladder", document);
  return found->second;
}

// Blanks and ends of lines are one.
std::string on_one_line(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

// The cells of "| a | b |", without their marks of code.
std::vector<std::string> cells_of(std::string line) {
  std::erase(line, '`');
  std::vector<std::string> cells;
  std::istringstream rest(line.substr(1));
  for (std::string cell; std::getline(rest, cell, '|');) cells.push_back(on_one_line(cell));
  return cells;
}

}  // namespace

std::string said(const std::string& document, const std::string& words) {
  static const std::regex special(R"([.*+?^${}()|\[\]\\])");
  std::string pattern = std::regex_replace(words, special, R"(\$&)");
  pattern = std::regex_replace(pattern, std::regex("…"), "[^|]*?");
  pattern = std::regex_replace(pattern, std::regex("#"), "([0-9][0-9.,]*[0-9]|[0-9])");
  const std::regex wanted(pattern);
  const std::string text = on_one_line(text_of(document));
  const std::sregex_iterator found(text.begin(), text.end(), wanted), end;
  const auto count = std::distance(found, end);
  check(count == 1, "the document {} has \"{}\" {} times; wanted once", document, words, count);
  return (*found)[1];
}

std::string table_of(const std::string& document, const std::string& first_cell) {
  std::istringstream lines{std::string(text_of(document))};
  std::string line;
  while (std::getline(lines, line) && !line.starts_with("| " + first_cell + " |")) {
  }
  check(!line.empty(), "the document {} has no table that begins with {}", document, first_cell);
  Markup rows;
  for (const char* tag = "th"; line.starts_with("|"); std::getline(lines, line)) {
    if (line.starts_with("|---")) {
      tag = "td";
      continue;
    }
    Markup row;
    for (const std::string& cell : cells_of(line)) row += element(tag, {}, Markup(cell));
    rows += element("tr", {}, row);
  }
  return element("table", {}, rows).text();
}

}  // namespace isobar::article
