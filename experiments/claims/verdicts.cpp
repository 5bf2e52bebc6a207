#include "verdicts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../harness/about.h"
#include "../harness/table.h"
#include "results.h"

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

const std::string& title_of(const Source& source) {
  return source.title_en.empty() ? source.title : source.title_en;
}

// "D01 D41 `train_lm`" → the ids, and what follows them.
std::pair<std::vector<std::string>, std::string> claims_of(const std::string& text) {
  std::vector<std::string> ids;
  size_t at = 0;
  for (std::string id; at < text.size(); at += id.size() + 1) {
    id = text.substr(at, text.find(' ', at) - at);
    if (id.size() != 3 || !std::isupper(static_cast<unsigned char>(id[0])) ||
        !std::isdigit(static_cast<unsigned char>(id[1])))
      break;
    ids.push_back(id);
  }
  return {ids, at < text.size() ? text.substr(at) : ""};
}

// Adds the commands by which a claim is judged, those that are not there yet, or why there are none.
void add_runs(const ClaimFile& file, const std::string& id, std::vector<std::string>& runs) {
  const auto add = [&](const std::string& one) {
    if (std::ranges::find(runs, one) == runs.end()) runs.push_back(one);
  };
  const auto claim = std::ranges::find(file.claims, id, &Claim::id);
  check(claim != file.claims.end(), "{}: items: there is no claim {}", file.path, id);
  if (claim->kind == Kind::source) add(fmt::format("reads sources: `isobar verify --claim {}`", id));
  if (!claim->test.empty())
    add("tests/definitions_test.cpp");
  else if (claim->parts.empty() && claim->kind != Kind::source)
    add("cannot run here: " + claim->note);
  for (const Part& part : claim->parts) {
    const RunSpec& run = *std::ranges::find(file.runs, part.run, &RunSpec::name);
    add(fmt::format("`{}{}{}`", run.study, run.flags.empty() ? "" : " ", fmt::join(run.flags, " ")));
  }
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
      "All claims with what the last full runs measured of each part, generated by `build/bin/isobar verify --kept --renew --tree .`\n"
      "after a change of a claim or a rule; `isobar verify --keep` measures anew and writes this page too. Brackets hold the\n"
      "interval that decides ([claims/README.md](claims/README.md#rules)).\n";
  for (const ClaimFile& file : builtin_claims()) {
    text += fmt::format("\n## {} {}\n\n", file.source.id, title_of(file.source));
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

std::string coverage_page() {
  std::string text =
      "# What runs what\n\n"
      "The systems, listings, formulas, tables and experiments of the texts, generated by `build/bin/isobar verify --kept --renew --tree .`\n"
      "from the items of each file of claims, with the runs by which their claims are judged. Programs stand in `build/bin/`.\n";
  for (const ClaimFile& file : builtin_claims()) {
    text += fmt::format("\n## {} {}\n\n", file.source.id, title_of(file.source)) +
            heading({"item", "run by", "claims"});
    for (const std::string& item : file.source.items) {
      const size_t bar = item.find(" | ");
      check(bar != std::string::npos, "{}: wanted \"ITEM | CLAIMS\", got '{}'", file.path, item);
      const auto [claims, other] = claims_of(item.substr(bar + 3));
      std::vector<std::string> runs;
      for (const std::string& id : claims) add_runs(file, id, runs);
      if (!other.empty()) runs.push_back(other);
      text += row({item.substr(0, bar), fmt::format("{}", fmt::join(runs, ", ")),
                   fmt::format("{}", fmt::join(claims, " "))});
    }
  }
  return text;
}

std::string studies_table(const Kept& kept) {
  const auto cell = [](double seconds) { return seconds > 0 ? fmt::format("{:.0f}", seconds) : ""; };
  std::string text = heading({"study", "question", "quick, s", "full, s"});
  std::map<std::string, std::map<std::string, double>> seconds;  // by study or "all", and scale
  for (const std::string scale : {"quick", "full"})
    for (const auto& [run, of_run] : kept.seconds(scale))
      for (const std::string& study : {kept.run(run)["study"].get<std::string>(), std::string("all")})
        seconds[study][scale] += of_run;
  for (const Json& study : ask_studies()) {
    const std::string name = study["name"], page = study["page"];
    text += row({fmt::format("[{}]({})", name, page.substr(page.find('/') + 1)), study["question"],
                 cell(seconds[name]["quick"]), cell(seconds[name]["full"])});
  }
  return text + row({"all", "", cell(seconds["all"]["quick"]), cell(seconds["all"]["full"])});
}

std::string with_block(std::string_view document, const std::string& name, const std::string& block) {
  const std::string begin = fmt::format("<!-- {} -->\n", name),
                    end = fmt::format("<!-- end of {} -->\n", name);
  const size_t from = document.find(begin), to = document.find(end);
  check(from != std::string_view::npos && to != std::string_view::npos && from < to,
        "wanted the lines <!-- {0} --> and <!-- end of {0} -->, to write between", name);
  return std::string(document.substr(0, from + begin.size())) + block + std::string(document.substr(to));
}

void renew_documents(const std::string& source, const Kept& kept) {
  const auto renew = [&](const std::string& path, const std::string& name, const std::string& block) {
    write_file_atomically(source + path, with_block(read_file(source + path, most_bytes), name, block));
  };
  renew("/README.md", "verdicts", readme_verdicts(kept));
  renew("/experiments/README.md", "studies", studies_table(kept));
  write_file_atomically(source + "/experiments/verdicts.md", verdicts_page(kept));
  write_file_atomically(source + "/experiments/coverage.md", coverage_page());
}

}  // namespace isobar::claims
