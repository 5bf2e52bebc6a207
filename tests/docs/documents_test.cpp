// What documents say of the repository is true today: counts, names, and code and outputs that they show. No test
// checks wording.
#include <fmt/ranges.h>

#include <doctest/doctest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "../../experiments/claims/file.h"
#include "../run.h"
#include "documents.h"

namespace isobar::documents_test {

namespace fs = std::filesystem;

const fs::path root = ISOBAR_SOURCE_DIR;

// Files below a folder, of one of these endings; builds, results and prefixes of tests are none.
std::vector<fs::path> files_in(const fs::path& folder, const std::set<std::string>& endings) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && endings.contains(entry.path().extension())) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// What is read as it is today. The changelog tells of days gone by.
std::vector<fs::path> prose() {
  std::vector<fs::path> all = documents();
  std::erase(all, root / "CHANGELOG.md");
  std::erase(all, root / "docs/article.md");  // whose numbers are computed
  for (const char* file : {"run.sh", "test.sh", "experiments/page/words.js"}) all.push_back(root / file);
  return all;
}

// Calls `found` with each match, "FILE:LINE" before it, the line in which its paragraph begins: a match may go
// over the ends of lines. Of these words one is in every match: in paragraphs without, none is looked for,
// which takes a hundred times as long.
void each_match(const fs::path& file, const std::string& text, const std::regex& wanted,
                const std::vector<std::string>& words,
                const std::function<void(const std::string&, const std::smatch&)>& found) {
  std::istringstream lines(text + "\n\n");
  std::string paragraph;
  int number = 1, begin = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    line.erase(0, std::min(line.find_first_not_of(" /"), line.size()));  // a comment's too
    if (paragraph.empty()) begin = number;
    if (!line.empty()) {
      paragraph += (paragraph.empty() ? "" : " ") + line;
      continue;
    }
    if (std::any_of(words.begin(), words.end(), [&](const auto& word) { return holds(paragraph, word); }))
      for (std::sregex_iterator at(paragraph.begin(), paragraph.end(), wanted), end; at != end; ++at)
        found(fmt::format("{}:{}", file.lexically_relative(root).string(), begin), *at);
    paragraph.clear();
  }
}

// The studies: a folder each, and two more.
std::set<std::string> studies() {
  std::set<std::string> names = {"duel", "train_lm"};
  for (const auto& entry : fs::directory_iterator(root / "experiments/studies"))
    names.insert(entry.path().filename());
  return names;
}

size_t assignments() {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(root / "experiments/course"))
    count += std::regex_match(entry.path().filename().string(), std::regex("a[0-9]+"));
  return count;
}

// How many there are of what documents like to count.
std::map<std::string, size_t> counts() {
  size_t claims = 0, texts = 0;
  for (const claims::ClaimFile& file : claims::builtin_claims()) {
    claims += file.claims.size();
    texts += file.source.id < "005";  // a chapter on papers; the others are papers
  }
  return {
      {"texts", texts}, {"assignments", assignments()}, {"studies", studies().size()}, {"claims", claims}};
}

// "nine assignments" and "123 claims", where the number is not today's. Fewer than three are some of them,
// not all.
std::vector<std::string> wrong_counts(const fs::path& file, const std::string& text) {
  static const std::vector<std::string> words = {
      "three",  "four",     "five",     "six",     "seven",   "eight",     "nine",     "ten",      "eleven",
      "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};
  static const std::map<std::string, size_t> today = counts();
  static const std::regex statement(
      fmt::format(R"(\b([0-9]+|{}) (texts|assignments|studies|claims)\b)", fmt::join(words, "|")),
      std::regex::icase);
  std::vector<std::string> wrong;
  const std::vector<std::string> nouns = {"exts", "ssignments", "tudies", "laims"};
  each_match(file, text, statement, nouns, [&](const std::string& place, const std::smatch& said) {
    std::string number = said[1], noun = said[2];
    for (std::string* word : {&number, &noun})
      for (char& c : *word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto word = std::find(words.begin(), words.end(), number);
    const size_t count =
        word == words.end() ? std::stoul(number) : static_cast<size_t>(word - words.begin()) + 3;
    if (count >= 3 && count != today.at(noun))
      wrong.push_back(fmt::format("{}: \"{}\": there are {}; better without a number", place, said.str(),
                                  today.at(noun)));
  });
  return wrong;
}

// A text's words in `backticks`.
std::vector<std::string> quoted(const std::string& text) {
  static const std::regex word("`([^`]+)`");
  std::vector<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) all.push_back((*at)[1]);
  return all;
}
// The table after the paragraph that begins with these words.
std::string table_after(const std::string& text, const std::string& words) {
  const size_t begin = text.find("\n\n|", text.find("\n\n" + words));
  REQUIRE(begin != std::string::npos);
  return text.substr(begin + 2, text.find("\n\n", begin + 2) - begin - 2);
}

// Lines of a script that ask whether a program is there, and say of its absence nothing in the two lines
// after.
std::vector<std::string> silent_skips(const std::string& name, const std::string& text) {
  static const std::regex asks(R"(\bcommand -v [^)]*>\s*/dev/null|^\s*if (not )?shutil\.which\()");
  std::istringstream all(text);
  std::vector<std::string> lines, silent;
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!std::regex_search(lines[i], asks)) continue;
    std::string near;
    for (size_t j = i; j < std::min(i + 3, lines.size()); ++j) near += lines[j];
    const bool reason = holds(near, "return f\"") || holds(near, "pytest.skip(\"");  // which the caller says
    if (!reason && !holds(near, "skipped: ")) silent.push_back(fmt::format("{}:{}", name, i + 1));
  }
  return silent;
}

TEST_CASE("a document, help text or comment that counts texts, assignments, studies or claims counts right") {
  std::vector<fs::path> all = prose();
  for (const fs::path& file : files_in(root / "experiments", {".h", ".cpp", ".js"})) all.push_back(file);
  for (const fs::path& file : all)
    for (const std::string& wrong : wrong_counts(file, file_text(file))) FAIL_CHECK(wrong);
  CHECK(wrong_counts(root / "x", fmt::format("all {} texts, two studies", counts().at("texts"))).empty());
  using Words = std::vector<std::string>;
  const Words wrong = {
      fmt::format("x:3: \"Nine assignments\": there are {}; better without a number", assignments())};
  CHECK(wrong_counts(root / "x", "a\n\n// a course of Nine\n// assignments") == wrong);
}

TEST_CASE("verdicts are counted by programs, not by hand") {
  const std::string readme = file_text(root / "experiments/README.md");
  const size_t begin = readme.find("<!-- verdicts -->"), end = readme.find("<!-- end of verdicts -->");
  std::string all = readme.substr(0, begin) + readme.substr(end);
  for (const char* page : {"README.md", "experiments/claims/README.md"}) all += file_text(root / page);
  std::smatch typed;
  CHECK_MESSAGE(
      !std::regex_search(all, typed, std::regex("\\b[0-9]+\\s+(claims|true|false|depends|open)\\b")),
      typed.str());
}

TEST_CASE("the tests' README names every test that gives up after a time") {
  const std::string told = table_after(file_text(root / "tests/README.md"), "A test that waits gives up");
  const std::regex limit(
      R"(\btimeout -k|set_timeout\([0-9.]+\)|--within [0-9]|, timeout=[0-9]|\balarm\([0-9]|chrono::minutes\(|\b[0-9]+min\b|PATIENCE = )");
  const std::map<std::string, std::string> apart = {{"CMakeLists", "ranks_deaths"}};
  size_t found = 0;
  for (const fs::path& file : files_in(root / "tests", {".cpp", ".h", ".py", ".sh", ".txt"})) {
    const std::string text = file_text(file), stem = file.stem(), by_hand = file.parent_path().filename();
    if (stem == "documents_test" || by_hand == "mutants" || by_hand == "ranks") continue;
    bool waits = false;
    each_match(file, text, limit, {"imeout", "within", "alarm", "min", "PATIENCE"},
               [&](const std::string&, const std::smatch&) { waits = true; });
    if (!waits) continue;
    ++found;
    const std::string name = apart.contains(stem) ? apart.at(stem) : stem;
    const std::vector<std::string> names = quoted(told);
    const auto is_it = [&](const std::string& word) { return word == name || word == name + ".h"; };
    CHECK_MESSAGE(std::any_of(names.begin(), names.end(), is_it), file.string());
  }
  CHECK(found >= 8);
}

TEST_CASE("a script that asks whether a program is there says what is skipped without it") {
  for (const fs::path& file : files_in(root / "tests", {".sh", ".py"}))
    for (const std::string& silent : silent_skips(file.filename(), file_text(file))) FAIL_CHECK(silent);
  const std::vector<std::string> second = {"x.sh:2"};
  CHECK(silent_skips("x.sh", "set -e\nif command -v pandoc >/dev/null; then pages; fi\n") == second);
  CHECK(silent_skips("x.sh", "command -v pandoc >/dev/null || { echo \"skipped: no pandoc\"; exit 77; }\n")
            .empty());
}

TEST_CASE("the changelog's newest release begins with what a user must do") {
  const std::string changelog = file_text(root / "CHANGELOG.md");
  const std::string first = changelog.substr(changelog.find("\n## [") + 1);
  CHECK(first.find("\n\n### What you must do\n\n") == first.find('\n'));
}

}  // namespace isobar::documents_test
