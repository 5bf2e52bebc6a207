// Links of the documents: what a .md file of the repository links to exists, and so does the heading after a
// "#". Addresses of the web are not visited.
#include <doctest/doctest.h>

#include <cctype>
#include <map>
#include <regex>
#include <set>

#include "../../experiments/claims/file.h"
#include "../run.h"
#include "documents.h"

namespace isobar::links_test {

namespace fs = std::filesystem;

// A document's lines outside of its code blocks.
std::vector<std::string> prose(const std::string& text) {
  std::istringstream all(text);
  std::vector<std::string> lines;
  bool code = false;
  for (std::string line; std::getline(all, line);) {
    const bool fence = line.find_first_not_of(' ') != std::string::npos &&
                       line.substr(line.find_first_not_of(' ')).starts_with("```");
    if (fence) code = !code;
    if (!fence && !code) lines.push_back(line);
  }
  return lines;
}

// The anchor that GitHub gives a heading: small letters, hyphens for blanks, no punctuation.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const unsigned char c : std::regex_replace(heading, std::regex("\\[([^\\]]*)\\]\\([^)]*\\)"), "$1"))
    if (c == ' ')
      anchor += '-';
    else if (std::isalnum(c) || c == '-' || c == '_' || c >= 0x80)
      anchor += static_cast<char>(std::tolower(c));
  return anchor;
}

std::set<std::string> anchors(const std::string& text) {
  std::set<std::string> all;
  std::map<std::string, int> count;
  for (const std::string& line : prose(text)) {
    if (!line.starts_with("#")) continue;
    std::smatch heading;
    if (!std::regex_match(line, heading, std::regex("#{1,6} +(.*?) *"))) continue;
    const std::string anchor = anchor_of(heading[1]);
    const int before = count[anchor]++;
    all.insert(before == 0 ? anchor : anchor + "-" + std::to_string(before));
  }
  return all;
}

// The targets of a document's links and pictures, in Markdown and in HTML. Lines are joined, since a link may
// take two.
std::vector<std::string> targets(const std::string& text) {
  std::string joined;
  for (const std::string& line : prose(text)) joined += line + "\n";
  joined = std::regex_replace(joined, std::regex("`[^`]*`"), "");
  std::vector<std::string> all;
  const std::regex link("\\]\\(([^)\\s]+)\\)|(?:src|srcset|href)=\"([^\"]*)\"");
  for (std::sregex_iterator it(joined.begin(), joined.end(), link), end; it != end; ++it)
    all.push_back((*it)[1].matched ? (*it)[1] : (*it)[2]);
  return all;
}

// The anchors of a file; the reference has hundreds of links to one page.
const std::set<std::string>& anchors_of(const fs::path& path) {
  static std::map<fs::path, std::set<std::string>> known;
  const auto [found, is_new] = known.try_emplace(path);
  if (is_new) found->second = anchors(file_text(path));
  return found->second;
}

// The links of a text at that place that lead nowhere.
std::vector<std::string> dead_links(const fs::path& document, const std::string& text) {
  std::vector<std::string> dead;
  for (const std::string& target : targets(text)) {
    if (std::regex_search(target, std::regex("^[a-z]+:"))) continue;
    const size_t mark = target.find('#');
    const std::string file = target.substr(0, mark);
    const fs::path path = file.empty() ? document : document.parent_path() / file;
    if (!fs::exists(path))
      dead.push_back(target);
    else if (mark != std::string::npos &&
             !(file.empty() ? anchors(text) : anchors_of(path)).contains(target.substr(mark + 1)))
      dead.push_back(target);
  }
  return dead;
}

TEST_CASE("every relative link of the documents leads to a file and a heading that exist") {
  size_t links = 0;
  for (const fs::path& document : documents()) {
    CAPTURE(document.string());
    const std::string text = file_text(document);
    links += targets(text).size();
    std::string dead;
    for (const std::string& target : dead_links(document, text)) dead += target + " ";
    CHECK(dead == "");
  }
  CHECK(links > 30);
}

TEST_CASE("a missing file, a missing heading and a missing picture are dead links, code is none") {
  const TemporaryFolder folder;
  const std::string here = folder.write("here.md", "# One\n## Two: `of` (these)\n# One\n");
  const auto dead = [&](const std::string& text) { return dead_links(here, text); };
  using Words = std::vector<std::string>;
  CHECK(dead("[a](here.md) [b](here.md#two-of-these) [c](here.md#one-1) [d](https://example.org)") ==
        Words{});
  CHECK(dead("# Mine\n[a](#mine) `x[1](y)`\n```\n[b](c)\n```\n") == Words{});
  CHECK(dead("[a](there.md)") == Words{"there.md"});
  CHECK(dead("[a](here.md#one-2)") == Words{"here.md#one-2"});
  CHECK(dead("[a\nb](#yours)") == Words{"#yours"});
  CHECK(dead("<img src=\"page.png\">") == Words{"page.png"});
}

TEST_CASE("the experiments' README names the texts as the files of claims do") {
  const std::string readme = std::regex_replace(file_text(ISOBAR_SOURCE_DIR "/experiments/README.md"),
                                                std::regex("\n +"), " ");  // without the breaks of its lines
  for (const claims::ClaimFile& file : claims::builtin_claims()) {
    CAPTURE(file.source.id);
    for (const std::string& words : {file.source.title, file.source.author, file.source.address})
      CHECK_MESSAGE(holds(readme, words), words);
  }
}

}  // namespace isobar::links_test
