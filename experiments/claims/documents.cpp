#include "documents.h"

#include <fmt/ranges.h>

#include <cctype>

#include "../../data/file.h"
#include "../run/lists.h"
#include "../run/program.h"
#include "results.h"

namespace isobar::claims {
namespace {

constexpr size_t most_bytes = size_t{1} << 24;  // of a document

// What the README says in plain words. {D18.1} is the value of the first part of D18, in two digits, {D23} D23's verdict.
struct Sentence {
  std::string text;
  std::vector<std::pair<std::string, bool>> holds;  // parts; where one came out otherwise, it is left out
};

const std::vector<Sentence> readme_sentences = {
    {"On Tiny Shakespeare, small language models with RMSNorm and with LayerNorm without bias end within 1 % of what "
     "is learned. The claim asks the same of a synthetic language, and its verdict is \"{D23}\" (D23).",
     {{"D23.1", true}}},
    {"RMSNorm is {D18.1} times as fast as LayerNorm on a CPU, each as one fused op, and not 7.7 times as fast "
     "(D18).",
     {{"D18.1", false}}},
    {"In a trained language model the centring of LayerNorm adds nothing. Without it the model loses less than "
     "1 % of what it learned (G03).",
     {{"G03.1", true}}},
    {"Eight plain layers do not stop the gradient: in training, the first layer moves {D07.2} times as far as "
     "the last layer. In a hundred plain layers it does not move (D07).",
     {{"D07.2", false}, {"D07.3", true}}},
    {"Deep nets can do without norms: with Fixup, 1000 residual blocks learn digits to an accuracy of {F16.8} "
     "(F16).",
     {{"F16.8", true}}},
    {"BatchNorm makes gradients explode in a plain ReLU chain: their square grows by a factor of {G06.1} per "
     "layer (G06).",
     {{"G06.1", true}}},
    {"BatchNorm does not help by steadying the inputs of layers. With noise that moves them more, training "
     "still takes {B12.4} of the steps without a norm (B12).",
     {{"B12.4", false}}},
    {"Whether an elementwise function replaces RMSNorm depends on the text: DyISRU is better on Tiny Shakespeare "
     "and worse on a synthetic language (F20).",
     {{"F20.5", false}, {"F20.6", true}}}};

// A claim of the README's table: what the text says, and what was measured.
struct PlainRow {
  std::string part, says, measured;  // "D18.1" has the size of the net
  std::string size = "";             // where it was not trained
};

const std::vector<PlainRow> readme_rows = {
    {"D01.1", "the std falls over eight layers from 0.8932 to 0.0163", "from {D01.1} to {D01.8}",
     "before training"},
    {"D06.1", "the gradient norm of the first of eight layers is 0.000012", "{D06.1}", "before training"},
    {"D12.1", "with RMSNorm the std stays between 0.98 and 1.01", "{D12.1} after block 1", "before training"},
    {"D18.1", "RMSNorm is 7.7 times as fast as LayerNorm, on a GPU", "{D18.1} times, on a CPU", "1000 × 512"},
    {"A13.1", "RMSNorm is as good as LayerNorm in a language model",
     "difference in loss: {A13.1} of what is learned"},
    {"D09.1", "1000 layers cannot be trained at all",
     "accuracy {D09.1} in a plain chain, {D09.5} with Fixup"},
    {"D29.1", "post-norm is hard to train when it is deep",
     "at a rate of 0.01: {D29.1} of what pre-norm learns; at 0.003: {D29.3}"},
    {"G06.1", "BatchNorm makes gradients explode in a plain chain",
     "their square grows {G06.1} times per layer", "before training"}};

// The claim of "D18", or of its part "D18.1".
const Judged& claim_in(const std::vector<Judged>& all, const std::string& name) {
  const std::string id = name.substr(0, name.find('.'));
  const auto claim = std::ranges::find(all, id, [](const Judged& judged) { return judged.claim->id; });
  check(claim != all.end(), "documents.cpp: the README wants the claim {}, and there is none", id);
  return *claim;
}

// The part that "D18.1" names: the first one of D18.
Json part_of(const std::vector<Judged>& all, const std::string& name) {
  const Judged& claim = claim_in(all, name);
  const size_t part = std::stoul(name.substr(claim.claim->id.size() + 1)) - 1;
  check(part < claim.findings.size(), "documents.cpp: the README wants the part {}, and there is none", name);
  return to_json(claim)["parts"][part];
}

// The text with the value of its part for each {D18.1}, and the verdict for each {D18}.
std::string with_values(std::string text, const std::vector<Judged>& all) {
  for (size_t begin; (begin = text.find('{')) != std::string::npos;) {
    const size_t end = text.find('}', begin);
    const std::string name = text.substr(begin + 1, end - begin - 1);
    const bool verdict = name.find('.') == std::string::npos;
    const Json value = verdict ? Json() : part_of(all, name)["value"];
    text.replace(begin, end + 1 - begin,
                 verdict           ? claim_in(all, name).verdict
                 : value.is_null() ? not_kept
                                   : fmt::format("{:.2g}", value.get<double>()));
  }
  return text;
}

std::vector<Judged> judge_all(const Kept& kept) {
  const Runs runs = kept.runs(builtin_claims());
  std::vector<Judged> all;
  for (const Claim* claim : builtin_table()) all.push_back(judge_kept(*claim, runs));
  return all;
}

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
  const std::string not_run = part["not_run"], reach = part["reach"];
  return {part["measured"], part["wanted"],
          (not_run.empty() ? part["outcome_text"].get<std::string>() : not_kept) +
              (reach.empty() ? "" : "; " + reach)};
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
  if (text.empty()) text = row({head, claim.says.en, judged.reason.en, "", "", "", ""});
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

// How well the rungs of each ladder foretold its highest one.
std::string foretold_text(const Runs& runs) {
  std::string text;
  for (const auto& [name, summary] : runs.summaries) {
    const Json measured = summary.value("measured", Json::object());
    if (!measured.contains("foretold.covered")) continue;
    const auto value = [&](const char* key) { return spread_from(measured[key]).median; };
    text += fmt::format(
        "\n`{}`: {:.0f} % of the intervals that its lower rungs foretold of the highest cover what was measured; their "
        "median width is {:.2g} times that of the seeds' own.\n",
        name, 100 * value("foretold.covered"), value("foretold.width_over_seeds"));
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
    add("tests/claims/definitions_test.cpp");
  else if (claim->parts.empty() && claim->kind != Kind::source)
    add("cannot run here: " + claim->note.en);
  for (const Part& part : claim->parts) {
    const RunSpec& run = *std::ranges::find(file.runs, part.run, &RunSpec::name);
    add(fmt::format("`{}{}{}`", run.study, run.flags.empty() ? "" : " ", shell_line(run.flags)));
  }
}

// "37 confirmed, 15 refuted and 2 not run here"
std::string counts_text(const std::vector<Judged>& all) {
  std::vector<std::string> words = verdict_words, counts;
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
      "interval that decides ([the rules](rules.md)).\n";
  text += fmt::format("\nAll {} claims: {}.\n", builtin_table().size(), counts_text(judge_all(kept)));
  for (const ClaimFile& file : builtin_claims()) {
    text += fmt::format("\n## {} {}\n\n", file.source.id, title_of(file.source));
    if (const std::string& commit = file.source.registered; !commit.empty())
      text += fmt::format("Claims and bounds were written before the first run: commit {}.\n\n", commit);
    text += verdicts_table(file, runs);
  }
  return text + "\n## The runs\n\n" + runs_table(kept) + foretold_text(runs);
}

std::string verdicts_table(const ClaimFile& file, const Runs& kept) {
  std::string text = heading({"claim", "says", "part", "measured", "asked", "outcome", "run"});
  for (const Claim& claim : file.claims) text += claim_rows(file, claim, kept);
  return text;
}

std::string readme_sentences_on_norms(const Kept& kept) {
  const std::vector<Judged> all = judge_all(kept);
  std::string text;
  for (const Sentence& sentence : readme_sentences) {
    const bool follows = std::ranges::all_of(sentence.holds, [&](const auto& wanted) {
      const Json part = part_of(all, wanted.first);
      return part["not_run"] == "" && part["outcome"] == (wanted.second ? "holds" : "does not hold");
    });
    if (!follows) continue;
    for (const std::string& line : wrapped("- " + with_values(sentence.text, all), 110))
      text += (line.starts_with("- ") ? "" : "  ") + line + "\n";
  }
  return text;
}

std::string readme_verdicts(const Kept& kept) {
  const std::vector<Judged> all = judge_all(kept);
  std::string text = heading({"claim", "the text says", "measured here", "size of the net", "verdict"});
  for (const PlainRow& plain : readme_rows) {
    const Judged& judged = claim_in(all, plain.part);
    const std::string trained = part_of(all, plain.part)["trained_on"];
    std::string size = trained.substr(0, std::min(trained.find(", best rate"), trained.find(", rate")));
    const std::string& of_text = judged.claim->paper_size.en;
    if (!size.empty() && !of_text.starts_with("not stated")) size += "; the text: " + of_text;
    text += row({judged.claim->id, plain.says, with_values(plain.measured, all),
                 size.empty() ? plain.size : size, judged.verdict});
  }
  return text;
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
    text += row({fmt::format("[{0}]({1}#{0})", name, page.substr(page.find('/') + 1)), study["question"],
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
  renew("/README.md", "norms", readme_sentences_on_norms(kept));
  renew("/README.md", "verdicts", readme_verdicts(kept));
  renew("/experiments/README.md", "studies", studies_table(kept));
  write_file_atomically(source + "/experiments/claims/verdicts.md", verdicts_page(kept));
  write_file_atomically(source + "/experiments/claims/coverage.md", coverage_page());
}

}  // namespace isobar::claims
