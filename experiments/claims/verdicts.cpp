#include "verdicts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../harness/terminal.h"
#include "judging.h"

namespace isobar::claims {
namespace {

constexpr size_t most_bytes = size_t{1} << 24;  // of a document
const std::vector<std::string> readme_claims = {"D01", "D06", "D18", "A13", "G06"};

// A row of a table; a bar or a break would end the cell.
std::string row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) {
    text += ' ';
    for (const char c : cell) text += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
    text += " |";
  }
  return text + "\n";
}

std::string heading(const std::vector<std::string>& cells) {
  std::string rule = "|";
  for (size_t i = 0; i < cells.size(); ++i) rule += "---|";
  return row(cells) + rule + "\n";
}

// What a part's row shows: measured, asked, outcome.
std::vector<std::string> shown(const Json& part) {
  const std::string not_run = part["not_run"];
  return {part["measured"], part["wanted"],
          not_run.empty() ? part["outcome_text"].get<std::string>() : not_kept};
}

std::string claim_rows(const ClaimFile& file, const Claim& claim, const Runs& runs) {
  const Judged judged = judge_kept(claim, runs);
  const Json json = to_json(judged);
  const std::string head = fmt::format("{} {}: {}", file.source.id, claim.id, judged.verdict);
  std::string text;
  for (const Json& part : json["parts"]) {
    std::vector<std::string> cells{text.empty() ? head : "", text.empty() ? says_text(judged) : "",
                                   part["says"]};
    for (const std::string& cell : shown(part)) cells.push_back(cell);
    cells.push_back(part["run"]);
    text += row(cells);
  }
  if (text.empty()) text = row({head, claim.says, judged.reason, "", "", "", ""});
  return text;
}

std::string runs_table(const Kept& kept) {
  std::string text = heading({"run", "study", "commit", "date", "machine", "full run, s"});
  for (const auto& [name, seconds] : kept.seconds("full")) {
    const Json run = kept.run(name);
    const std::string flags = run["flags"];
    text +=
        row({name, fmt::format("`{}{}{}`", run["study"].get<std::string>(), flags.empty() ? "" : " ", flags),
             run["commit"], run["date"],
             fmt::format("{}, {} threads", run["cpu"].get<std::string>(), run["threads"].get<int64_t>()),
             fmt::format("{}", seconds)});
  }
  return text;
}

// "37 confirmed, 15 refuted and 2 not run here"
std::string counts_text(const std::vector<Judged>& all) {
  std::vector<std::string> words = verdict_words(), counts;
  words.emplace_back(not_kept);
  for (const std::string& word : words) {
    const auto count = std::ranges::count(all, word, &Judged::verdict);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, word));
  }
  const std::string last = counts.back();
  counts.pop_back();
  return counts.empty() ? last : fmt::format("{} and {}", fmt::join(counts, ", "), last);
}

}  // namespace

std::string verdicts_page(const Kept& kept) {
  const Runs runs = kept.runs(builtin_claims());
  std::string text =
      "# Verdicts\n\n"
      "All claims with what the last full runs measured of each part. `isobar verify --keep` measures anew and writes this\n"
      "page, `isobar verify --kept --renew` writes it after a change of a claim or a rule; nobody edits it.\n"
      "Brackets hold the interval that decides ([claims/README.md](claims/README.md#rules)).\n";
  for (const ClaimFile& file : builtin_claims()) {
    text += fmt::format("\n## {} {}\n\n", file.source.id,
                        file.source.title_en.empty() ? file.source.title : file.source.title_en);
    text += heading({"claim", "says", "part", "measured", "asked", "outcome", "run"});
    for (const Claim& claim : file.claims) text += claim_rows(file, claim, runs);
  }
  return text + "\n## The runs\n\n" + runs_table(kept);
}

std::string readme_verdicts(const Kept& kept) {
  const Runs runs = kept.runs(builtin_claims());
  std::vector<Judged> all;
  for (const Claim* claim : builtin_table()) all.push_back(judge_kept(*claim, runs));
  std::string text = heading({"text, claim", "says", "measured", "asked", "verdict"});
  for (const std::string& id : readme_claims) {
    const auto found = std::ranges::find(all, id, [](const Judged& judged) { return judged.claim->id; });
    check(found != all.end(), "verdicts.cpp: the README wants a claim {}, which is none", id);
    const Finding* deciding = deciding_part(*found);
    const Json part = to_json(*found)["parts"].at(static_cast<size_t>(deciding - found->findings.data()));
    const std::vector<std::string> cells = shown(part);
    const std::string measured = cells[0].empty() ? cells[2] : cells[0];
    const std::string trained =
        deciding->trained.en.empty() ? "" : fmt::format(" ({})", deciding->trained.en);
    text += row({found->claim->source + " " + id, found->claim->says + trained,
                 part["says"].get<std::string>() + ": " + measured, cells[1], found->verdict});
  }
  std::vector<std::string> refuted;
  for (const Judged& judged : all)
    if (judged.verdict == "refuted" && judged.claim->source.find("003") != std::string::npos)
      refuted.push_back(judged.claim->id);
  const std::string prose = fmt::format(
      "The part that decides each claim stands here; [experiments/verdicts.md]"
      "(experiments/verdicts.md) has them all. The verdicts of all {} claims: {}. Refuted of text 003 are {}.",
      all.size(), counts_text(all), fmt::join(refuted, ", "));
  return fmt::format("{}\n{}\n", text, fmt::join(wrapped(prose, 110), "\n"));
}

std::string with_verdicts(std::string_view document, const std::string& block) {
  const std::string_view begin = "<!-- verdicts -->\n", end = "<!-- end of verdicts -->\n";
  const size_t from = document.find(begin), to = document.find(end);
  check(from != std::string_view::npos && to != std::string_view::npos && from < to,
        "wanted the lines <!-- verdicts --> and <!-- end of verdicts -->, to write the verdicts between");
  return std::string(document.substr(0, from + begin.size())) + block + std::string(document.substr(to));
}

void renew_documents(const std::string& source, const Kept& kept) {
  const std::string readme = source + "/README.md";
  const std::string text = with_verdicts(read_file(readme, most_bytes), readme_verdicts(kept));
  write_file_atomically(source + "/experiments/verdicts.md", verdicts_page(kept));
  write_file_atomically(readme, text);
}

}  // namespace isobar::claims
