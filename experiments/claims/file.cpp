#include "file.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../harness/nearest.h"
#include "toml_table.h"

namespace isobar::fixtures {
extern const char claims_000[], claims_001[], claims_002[], claims_003[], claims_004[];
}  // namespace isobar::fixtures

namespace isobar::claims {
namespace {

constexpr size_t largest_file = size_t{1} << 20;  // bytes

template <class Value>
using Words = std::vector<std::pair<std::string, Value>>;

const Words<Rule> rules = {
    {"median", Rule::median}, {"every_seed", Rule::every_seed}, {"one_more_seed", Rule::one_more_seed}};
const Words<Standing> standings = {
    {"cited", Standing::cited}, {"no source", Standing::no_source}, {"not run", Standing::not_run}};

template <class Value>
Value one_of(TomlTable& table, const char* field, const Words<Value>& words) {
  const std::string text = table.text(field);
  std::vector<std::string> known;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    known.push_back(word);
  }
  table.refuse(table.line_of(field), fmt::format("{}: wanted one of {}, got '{}'{}", field,
                                                 fmt::join(known, ", "), text, did_you_mean(text, known)));
}

std::vector<std::string> words_between_spaces(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

Source source_of(TomlTable& table) {
  Source source{.id = table.text("id"),
                .title = table.text("title"),
                .title_en = table.text_or("title_en", ""),
                .author = table.text("author"),
                .date = table.text("date"),
                .address = table.text("address")};
  table.finish();
  return source;
}

RunSpec run_of(const std::string& name, TomlTable& table) {
  const auto flags = [&](const char* field) { return words_between_spaces(table.text_or(field, "")); };
  RunSpec run{.name = name,
              .study = table.text("study"),
              .flags = flags("flags"),
              .quick = flags("quick"),
              .full = flags("full"),
              .line = table.line()};
  table.finish();
  return run;
}

// at_most, at_least, between, equals or, for one_more_seed, printed: exactly one of them.
void read_bounds(TomlTable& table, Part& part) {
  const char* fields[] = {"at_most", "at_least", "between", "equals", "printed"};
  std::vector<std::string> given;
  for (const char* field : fields)
    if (table.has(field)) given.emplace_back(field);
  const bool printed = part.rule == Rule::one_more_seed;
  if (given.size() != 1 || (given.front() == "printed") != printed)
    table.refuse(table.line(),
                 fmt::format("wanted {}, got {}",
                             printed ? "printed, for the rule one_more_seed"
                                     : "one of at_most, at_least, between and equals",
                             given.empty() ? "none" : fmt::format("{}", fmt::join(given, " and "))));
  const char* field = given.front().c_str();
  if (given.front() == "between") {
    const std::vector<double> bounds = table.numbers(field, 2);
    part.low = bounds[0];
    part.high = bounds[1];
    if (part.low >= part.high)
      table.refuse(table.line_of(field),
                   fmt::format("between: wanted the lower bound first, got [{}, {}]", part.low, part.high));
    return;
  }
  const double bound = *table.number(field);
  if (given.front() != "at_most") part.low = bound;
  if (given.front() != "at_least") part.high = bound;
}

Part part_of(TomlTable& table, const std::vector<RunSpec>& runs) {
  Part part{.says = table.text("says"), .run = table.text("run"), .key = table.text("key")};
  part.line = table.line();
  part.rule = one_of(table, "rule", rules);
  read_bounds(table, part);
  part.why = table.text("why");
  std::vector<std::string> known;
  for (const RunSpec& run : runs) known.push_back(run.name);
  if (std::find(known.begin(), known.end(), part.run) == known.end())
    table.refuse(table.line_of("run"),
                 fmt::format("run: wanted one of the file's runs ({}), got '{}'{}", fmt::join(known, ", "),
                             part.run, did_you_mean(part.run, known)));
  table.finish();
  return part;
}

Claim claim_of(TomlTable& table, const ClaimFile& file) {
  Claim claim;
  claim.id = table.text("id");
  table.rename("claim " + claim.id);
  claim.line = table.line();
  std::vector<std::string> sources{file.source.id};
  for (const std::string& other : table.texts("also_in")) sources.push_back(other);
  claim.source = fmt::format("{}", fmt::join(sources, ", "));
  claim.printed = table.text("claim");
  claim.one_statement = table.flag("all");
  if (table.has("standing")) {
    claim.standing = one_of(table, "standing", standings);
    claim.note = table.text("note");
  } else {
    claim.note = table.text_or("left_out", "");
  }
  for (TomlTable& part : table.tables("part", fmt::format("a part of claim {}", claim.id)))
    claim.parts.push_back(part_of(part, file.runs));
  if ((claim.standing == Standing::tested) == claim.parts.empty())
    table.refuse(claim.line, claim.parts.empty() ? "has neither a part nor a standing; add [[claim.part]]"
                                                 : "has parts and a standing; drop one");
  for (const Claim& other : file.claims)
    if (other.id == claim.id) table.refuse(claim.line, fmt::format("its id is that of line {}", other.line));
  table.finish();
  return claim;
}

toml::table parse_toml(std::string_view text, const std::string& path) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw_error(fmt::format("{}, line {}: {}", path, error.source().begin.line, error.description()));
  }
}

}  // namespace

ClaimFile parse_claims(std::string_view text, const std::string& path) {
  const toml::table root = parse_toml(text, path);
  TomlTable table(root, path, "the file");
  ClaimFile file{.path = path, .source = {}, .runs = {}, .claims = {}};
  std::vector<std::pair<std::string, TomlTable>> all_runs = table.named_tables("run");
  std::vector<TomlTable> claims = table.tables("claim", "a claim");
  TomlTable source = table.table("source");
  file.source = source_of(source);
  for (auto& [name, run] : all_runs) file.runs.push_back(run_of(name, run));
  std::sort(file.runs.begin(), file.runs.end(),
            [](const RunSpec& a, const RunSpec& b) { return a.line < b.line; });
  for (TomlTable& claim : claims) file.claims.push_back(claim_of(claim, file));
  table.finish();
  if (file.claims.empty()) table.refuse(1, "has no claims; add [[claim]]");
  return file;
}

ClaimFile read_claims(const std::string& path) { return parse_claims(read_file(path, largest_file), path); }

const std::vector<ClaimFile>& builtin_claims() {
  static const std::vector<ClaimFile> files = [] {
    std::vector<ClaimFile> all;
    for (const char* text : {fixtures::claims_000, fixtures::claims_001, fixtures::claims_002,
                             fixtures::claims_003, fixtures::claims_004})
      all.push_back(parse_claims(text, fmt::format("{:03}.toml", all.size())));
    return all;
  }();
  return files;
}

std::vector<const Claim*> builtin_table() {
  std::vector<const Claim*> table;
  for (const ClaimFile& file : builtin_claims())
    for (const Claim& claim : file.claims) table.push_back(&claim);
  std::sort(table.begin(), table.end(), [](const Claim* a, const Claim* b) { return a->id < b->id; });
  return table;
}

}  // namespace isobar::claims
