// The article: every number of it is computed, and every value that its text asks for is there.
#include <doctest/doctest.h>

#include <regex>

#include "../../experiments/page/article/article.h"
#include "../message_of.h"
#include "../run.h"
#include "../skip.h"

namespace isobar::article_test {

using namespace isobar::article;
using claims::Kept;

const Values& values() {
  static const Values all(Kept::shipped());
  return all;
}
const std::string& whole() {
  static const std::string all = page(Kept::shipped());
  return all;
}
std::string fill(const std::string& text) { return filled(text, values()); }

// The text without what may have digits: values, formulas, commands, tags; numbers of layers, sections, pictures,
// papers and claims; years; names of things.
std::string plain_prose(std::string text) {
  for (const char* left_out :
       {R"(\{\{[^}]*\}\})", R"(<(var|code|p class="eq")>([^<]|<(?!/(var|code|p)>))*</(var|code|p)>)",
        R"(<td>[1-8]</td>)", R"(<[^>]*>)", R"(\[[0-9, ]+\])", R"((Section|Table|Figure) [0-9])",
        R"(arXiv [0-9]{4}\.[0-9]{5})", R"(\b(19|20)[0-9]{2}\b)", R"(\b[A-L][0-9]{2}\b)", R"(\b00[0-9]\b)",
        R"(C\+\+20|AVX2|AVX-512|ARM64|PyTorch 2\.6|Debian 12)"})
    text = std::regex_replace(text, std::regex(left_out), "");
  return text;
}

TEST_CASE("no number of the article is typed") {
  const std::string text = plain_prose(std::string(prose()));
  std::smatch digits;
  const bool typed = std::regex_search(text, digits, std::regex(R"([^.]{0,40}[0-9][^.]{0,40})"));
  CHECK_MESSAGE(!typed, "the article's text has a number of its own: ", digits.str());
  CHECK(holds(plain_prose("It is <var>1/2n</var> (D06), in {{D06.1}} of 12 nets"), "12"));
  // Formulas have constants and no measurements.
  const std::string formulas(prose());
  const std::regex formula(R"(<(var|p class="eq")>([^<]|<(?!/(var|p)>))*</)");
  for (std::sregex_iterator at(formulas.begin(), formulas.end(), formula), end; at != end; ++at)
    CHECK_FALSE(std::regex_search(at->str(), std::regex(R"([0-9]\.[0-9]|[02-9][0-9]|1[0-579])")));
}

TEST_CASE("every value of the article is there, in all of its words") {
  CHECK_FALSE(holds(whole(), "{{"));
  CHECK_FALSE(holds(whole(), "}}"));
  for (const char* loaded : {"src=\"http", "href", "url("}) CHECK_FALSE(holds(whole(), loaded));
  // What a condition leaves out asks for values that are there too, unless they are still to be measured.
  std::string all(prose());
  const std::string later = "{{if judged ", end = "{{end}}";
  for (size_t at; (at = all.find(later)) != std::string::npos;) {
    const size_t length = all.find("}}", at) + 2 - at;
    if (values().is(all.substr(at + 5, length - 7)))
      all.erase(at, length);
    else
      all.erase(at, all.find(end, at) + end.size() - at);
  }
  all = std::regex_replace(all, std::regex(R"(\{\{(else|end|if [^}]*)\}\})"), "");
  CHECK_FALSE(holds(fill(all), "{{"));
}

TEST_CASE("each claim that is refuted, or false by its source, is quoted with what is so") {
  for (const claims::Claim* claim : claims::builtin_table()) {
    const std::string verdict = fill("{{" + claim->id + " verdict}}");
    if (verdict.starts_with("refuted") || verdict.starts_with("false"))
      CHECK_MESSAGE(holds(whole(), "<dt><b>" + claim->id + ".</b> "), claim->id, " is ", verdict);
  }
}

TEST_CASE("claims that are called registered were committed before any run of theirs was kept") {
  if (run_command("git -C '" ISOBAR_SOURCE_DIR "' rev-parse").code != 0) return skip("no history is here");
  CHECK_FALSE(registrations().empty());
  for (const auto& registration : registrations()) {
    const std::string& commit = registration.first;
    const auto at_commit = [&](const std::string& path) {
      const Outcome shown =
          run_command(fmt::format("git -C '{}' show {}:{}", ISOBAR_SOURCE_DIR, commit, path));
      REQUIRE_MESSAGE(shown.code == 0, commit, " has no ", path, ": ", shown.err);
      return shown.out;
    };
    const std::string kept = at_commit("experiments/claims/full.json");
    for (const std::string& text : registration.second) {
      const bool in_texts = run_command(fmt::format("git -C '{}' cat-file -e {}:experiments/claims/texts",
                                                    ISOBAR_SOURCE_DIR, commit))
                                .code == 0;
      const std::string folder =
          in_texts ? "experiments/claims/texts" : "experiments/claims";  // of older commits
      CHECK(holds(at_commit(fmt::format("{}/{}.toml", folder, text)), "[[claim.part]]"));
      for (const claims::ClaimFile& file : claims::builtin_claims())
        for (const claims::Claim& claim : file.claims)
          for (const claims::Part& part : claim.parts)
            if (file.source.id == text && part.run.starts_with("ladder"))
              CHECK_MESSAGE(!holds(kept, part.run), claim.id, " reads ", part.run, ", which was kept at ",
                            commit);
    }
  }
}

TEST_CASE("a word without a value is an error that names its line") {
  const auto message = [](const std::string& text) { return message_of([&] { fill(text); }); };
  CHECK(message("a\nb {{Q99.1}}") == "article.html, line 2: there is no claim Q99");
  CHECK(message("{{D06.9}}") == "article.html, line 1: D06 has 5 parts; there is no part D06.9");
  CHECK(message("{{kept blog8 layer9.std}}") == "article.html, line 1: the kept run blog8 has no layer9.std");
  CHECK(message("{{said rules \"one in # persons\"}}") ==
        "article.html, line 1: the document rules has \"one in # persons\" 0 times; wanted once");
  CHECK(message("{{said rules \"#\"}}").ends_with("times; wanted once"));
  CHECK(message("{{figure none}}") == "article.html, line 1: there is no stored picture none");
  CHECK(message("{{chart none}}") == "article.html, line 1: there is no chart none");
  CHECK(message("{{closed none}}") == "article.html, line 1: the closed forms have no none");
  CHECK(message("\n{{if D06 refuted}}\n") == "article.html, line 2: {{if}} without {{end}}");
  CHECK(message("{{end}}") == "article.html, line 1: {{end}} without {{if}}");
  CHECK(message("{{D06.1") == "article.html, line 1: {{ without }}");
  CHECK(message("{{if D06 true}}{{end}}").find("wanted") != std::string::npos);
}

TEST_CASE("values are those of the kept runs, in the digits that are asked") {
  const double mean =
      spread_from(
          Kept::shipped().runs(claims::builtin_claims()).summaries.at("blog8")["measured"]["input.std"])
          .linear.mean;
  CHECK(fill("{{kept blog8 input.std:6}}") == fmt::format("{:.6g}", mean));
  CHECK(fill("{{D42.1 printed}} {{setting blog8 width}} {{D01.1 seeds}}") == "1.0405 512 20");
  CHECK(fill("{{said rules \"so from # seeds on: with 10\"}}") == "20");
  CHECK(fill("a{{if D06.1 does not hold}}b{{if not D06 refuted}}c{{else}}d{{end}}{{else}}e{{end}}f") ==
        "abdf");
  // The closed forms agree with every median of PyTorch's, and would not without the width.
  CHECK(fill("{{closed within}}") == fill("{{closed medians}}"));
  CHECK(std::stod(fill("{{closed lost_to_width:4}}")) > 50);
}

TEST_CASE("the verb writes the page, and says what --pdf needs where it is not there") {
  const TemporaryFolder folder;
  const Outcome run =
      run_command("PATH=/nowhere \"$BIN\"/isobar article -o a.html --pdf a.pdf", folder.path());
  CHECK(run.code == 2);
  CHECK(holds(run.err, "--pdf needs Chromium or Chrome, and none is in PATH"));
  const bool same = file_text(folder / "a.html") == whole();
  CHECK(same);
}

}  // namespace isobar::article_test
