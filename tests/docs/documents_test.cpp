// Documents say of the repository what is so: counts are today's, what must be named is named, and phrases
// that stop readers are found.
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
  for (const char* file : {"run.sh", "test.sh", "experiments/report/words.js"}) all.push_back(root / file);
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

// The studies: a main file each.
std::set<std::string> studies() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(root / "experiments"))
    if (entry.path().extension() == ".cpp" && entry.path().stem() != "isobar")
      names.insert(entry.path().stem());
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

struct Phrase {
  std::regex pattern;
  const char* instead;
  std::vector<std::string> words;  // one of them is in each match

  Phrase(const char* expression, const char* better, std::vector<std::string> one_of)
      : pattern(expression), instead(better), words(std::move(one_of)) {}
};

// Phrases that stop a reader, and statements that were found untrue.
const std::vector<Phrase>& phrases() {
  static const std::vector<Phrase> all = {
      {R"((do|does|did) not tell\b)", "is not significant", {"not tell"}},
      {R"(\btold (as|right|wrong)\b)", "reported as, classified", {"told "}},
      {R"((^|[.:;|] )Of (a|an|the|its|these|those|all|what|which) )", "begin with the subject", {"Of "}},
      {R"(\b[Ww]hoever\b|\bThat which\b|\bThose who\b)",
       "name the person or the part",
       {"hoever", "That which", "hose who"}},
      {R"(\bseldom\b)", "rarely; less often", {"seldom"}},
      {R"(\bslip of the pen\b|\bnobody's\b)", "a misquoted word; no …", {"slip of", "nobody"}},
      {R"(\bis in the way\b|\bmeets? accidents\b)", "a problem; reports", {"in the way", "accidents"}},
      {R"(\bleaves with [0-9])", "exits with", {"leaves with"}},
      {R"(\bin front of\b)", "before", {"in front"}},
      {R"(\bsomething is missing here\b)", "because something is missing", {"something is"}},
      {R"(\bhas [0-9]+ points (more|less)\b)", "gains, loses", {" points "}},
      {R"(\bNothing continues\b|; what does is\b)", "X cannot …", {"othing continues", "; what does is"}},
      {R"(\b([Tt]ells?|told) (of|which|whether|apart|what|how|that)\b)",
       "says, names, distinguishes",
       {"ell ", "ells ", "told "}},
      {R"(\b(is|are|was|were) told (in|by|with|twice|what)\b)", "is reported", {" told "}},
      {R"(\b([Mm]eets?|met) (a|an|the|no|it|them|by|in|with)\b)",
       "reaches, sees, contains",
       {"eet ", "eets ", "met "}},
      {R"(\bholds? (of|here|there|good|true)\b)", "is true for, applies", {"hold"}},
      {R"(; of [^,;.|]{1,40}, )", "begin with the subject", {"; of "}},
      {R"(, but for\b)", "except", {", but for"}},
      {R"(\bfor want of\b)", "without", {"want of"}},
      {R"(\bby turns\b)", "in turn", {"by turns"}},
      {R"(\bin the end\b)", "at the end", {"in the end"}},
      {R"(\bwhat stands\b)", "the text, the value", {"what stands"}},
      {R"(\bgoes on (with|where|without|for|as)\b)", "continues", {"goes on"}},
      {R"(\b(has|have) [0-9.]+ (nats|percent|%))", "reaches, loses", {"has ", "have "}},
      {R"(\b(has|have) (more|less) accuracy\b)", "is more accurate", {" accuracy"}},
      {R"(\b(is|are) behind\b)", "is worse; after", {" behind"}},
      {R"(\b(leaves?|left) (it|them) open\b)", "is not significant", {" open"}},
      // Untrue.
      {R"(\b[Ee](very|ach) claim [^.]*\b(judged by runs|put to the test|measured by)\b)",
       "identities, sources and what was not run are no measurements",
       {"very claim", "ach claim"}},
      {R"(\bPyTorch at its best\b)", "one build of PyTorch was measured, say which", {"at its best"}},
      {R"(\bfaster in every row(?! of this table than Debian))", "than what, where", {"in every row"}},
      {R"(\bone file each\b)", "a study has a main file, and some have a folder", {"one file each"}},
      {R"(\b(is|are) held out\b)", "until when? What a test fixes is held out no more", {"held out"}}};
  return all;
}

std::vector<std::string> bad_phrases(const fs::path& file, const std::string& text) {
  std::vector<std::string> bad;
  for (const Phrase& phrase : phrases())
    each_match(file, text, phrase.pattern, phrase.words,
               [&](const std::string& place, const std::smatch& said) {
                 bad.push_back(fmt::format("{}: \"{}\"; instead: {}", place, said.str(), phrase.instead));
               });
  return bad;
}

// A text's words in `backticks`.
std::vector<std::string> quoted(const std::string& text) {
  static const std::regex word("`([^`]+)`");
  std::vector<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) all.push_back((*at)[1]);
  return all;
}
// The paragraph that begins with these words.
std::string paragraph(const std::string& text, const std::string& words) {
  const size_t begin = text.find("\n\n" + words);
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
    const bool reason = holds(near, "return f\"");  // which the caller says
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

TEST_CASE("no document has a phrase of the look-out list") {
  for (const fs::path& file : prose())
    for (const std::string& bad : bad_phrases(file, file_text(file))) FAIL_CHECK(bad);
  for (const char* text : {"of RMSNorm, 40 seeds do not tell.",
                           "Of the softmax two numbers are kept",
                           "in `aN.cpp`; of a11, the folder",
                           "Whoever copies one",
                           "let it log seldom",
                           "Every claim of these texts is judged by runs over many seeds",
                           "## PyTorch at its best",
                           "Isobar is faster in every row, and",
                           "the studies, one file each, the claims",
                           "by which one tells whether it is so",
                           "the losses are told in nats",
                           "a loop that meets a NaN",
                           "the rule holds here",
                           "it holds; of the norms, two",
                           "all, but for one",
                           "refused for want of memory",
                           "both by turns",
                           "done in the end",
                           "it reads what stands there",
                           "it goes on where it was",
                           "LayerNorm has 0.3 nats",
                           "it has more accuracy",
                           "ReZero is behind",
                           "40 seeds leave it open"})
    CHECK_MESSAGE(bad_phrases(root / "x", text).size() == 1, text);
  CHECK(bad_phrases(root / "x", "one file of each; this says who did it. Who is it? a list of the, the")
            .empty());
}

bool is_generated(const fs::path& file) {
  return holds(file_text(file), "generated by `") || file.filename() == "tried.md";
}

TEST_CASE("a page has at most 100 lines, unless a test follows its steps") {
  const std::set<std::string> followed = {"nn/README.md",
                                          "nn/layers.md",
                                          "autograd/README.md",
                                          "data/README.md",
                                          "core/ranks/README.md",
                                          "experiments/claims/paper.md",
                                          "experiments/harness/README.md"};
  const std::map<std::string, int64_t> limits = {{"README.md", 150}, {"CHANGELOG.md", 150}};
  for (const fs::path& file : documents()) {
    const std::string name = file.lexically_relative(root), text = file_text(file);
    if (followed.contains(name) || file.filename() == "handout.md" || is_generated(file)) continue;
    const int64_t limit = limits.contains(name) ? limits.at(name) : 100;
    CHECK_MESSAGE(std::ranges::count(text, '\n') <= limit, name);
  }
}

TEST_CASE("no sentence of the README has more than 30 words, and what it shows of outputs is so") {
  std::istringstream lines(file_text(root / "README.md"));
  std::string paragraph_text, shown_in;
  bool code = false;
  std::vector<std::string> paragraphs;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("<!-- output of ")) shown_in = line.substr(15, line.size() - 15 - 4);
    if (line.starts_with("```")) {
      code = !code;
      if (!code) shown_in.clear();
    } else if (code && !shown_in.empty()) {
      CHECK_MESSAGE(holds(file_text(root / shown_in), line), line);
    }
    const bool ends = line.empty() || line.starts_with("```") || line.starts_with("|") ||
                      line.starts_with("<") || line.starts_with("#") || line.starts_with("- ");
    if (ends) paragraphs.push_back(std::exchange(paragraph_text, ""));
    if (!code && (!ends || line.starts_with("- "))) paragraph_text += line + " ";
  }
  paragraphs.push_back(paragraph_text);
  size_t sentences = 0;
  for (const std::string& one : paragraphs) {
    const std::regex end_of_sentence("[.?!](\\s|$)"), word("\\S+");
    for (std::sregex_token_iterator at(one.begin(), one.end(), end_of_sentence, -1), end; at != end; ++at) {
      const std::string sentence = *at;
      const std::sregex_iterator words(sentence.begin(), sentence.end(), word);
      CHECK_MESSAGE(std::distance(words, {}) <= 30, sentence);
      ++sentences;
    }
  }
  CHECK(sentences > 30);
}

// The text without indentation: a block inside a list is indented.
std::string without_indentation(const std::string& text) {
  return std::regex_replace(text, std::regex("(^|\n)[ ]+"), "$1");
}

TEST_CASE("the code in autograd/README.md is in the files that its blocks name") {
  const std::string readme = without_indentation(file_text(root / "autograd/README.md"));
  const std::regex block("```cpp\n// ([^\n ]+)\n([^`]+)```");
  int blocks = 0;
  for (std::sregex_iterator at(readme.begin(), readme.end(), block), end; at != end; ++at, ++blocks)
    CHECK_MESSAGE(holds(without_indentation(file_text(root / (*at)[1].str())), (*at)[2].str()), at->str());
  CHECK(blocks == 6);
}

TEST_CASE("the tests' README names every test that gives up after a time") {
  const std::string told = paragraph(file_text(root / "tests/README.md"), "A test that waits gives up");
  const std::regex limit(
      R"(\btimeout -k|set_timeout\([0-9.]+\)|--within [0-9]|, timeout=[0-9]|\balarm\([0-9]|chrono::minutes\(|\b[0-9]+min\b|PATIENCE = )");
  const std::map<std::string, std::string> apart = {{"CMakeLists", "ranks_deaths"}, {"examples", "jury"}};
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

TEST_CASE("the changelog's newest part begins with what a user must do, in a few lines") {
  const std::string changelog = file_text(root / "CHANGELOG.md");
  const std::string first = changelog.substr(changelog.find("\n## [") + 1);
  const size_t title = first.find("\n\n### What you must do\n\n");
  REQUIRE(title == first.find('\n'));
  const std::string lines = first.substr(title + 26, first.find("\n### ", title + 5) - title - 26);
  CHECK(std::count(lines.begin(), lines.end(), '\n') <= 15);
}

}  // namespace isobar::documents_test
