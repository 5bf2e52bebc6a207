#include "file.h"

#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <cctype>
#include <iterator>
#include <set>
#include <sstream>

#include "../../data/file.h"
#include "../../data/utf8_stream.h"
#include "../run/lists.h"
#include "plan.h"

namespace isobar::fixtures {
extern const char claims_000[], claims_001[], claims_002[], claims_003[], claims_004[], claims_005[],
    claims_006[], claims_007[], claims_008[], claims_009[];
}  // namespace isobar::fixtures

namespace isobar::claims {
namespace {

constexpr size_t largest_file = size_t{1} << 20;  // bytes

// Which of the words stands in the field.
size_t one_of(TomlTable& table, const char* field, const std::vector<std::string>& words) {
  const std::string text = table.text(field);
  const auto word = std::ranges::find(words, text);
  if (word == words.end())
    table.refuse(table.line_of(field), fmt::format("{}: {}", field, not_one_of(words, text)));
  return static_cast<size_t>(word - words.begin());
}

Source source_of(TomlTable& table) {
  table.allow({"id", "title", "title_en", "author", "date", "address", "registered", "items", "paper_size",
               "paper_size_zh"});
  return {.id = table.text("id"),
          .title = table.text("title"),
          .title_en = table.text_or("title_en", ""),
          .author = table.text("author"),
          .date = table.text("date"),
          .address = table.text("address"),
          .registered = table.text_or("registered", ""),
          .items = table.texts("items")};
}

// at_most, at_least, between, equals, within, a word of tolerance.cpp or, for one_more_seed, printed: exactly
// one of them.
void read_bounds(TomlTable& table, Part& part) {
  Predicate& predicate = part.predicate;
  std::vector<std::string> given;
  for (const char* field : {"at_most", "at_least", "between", "equals", "within", "printed"})
    if (table.has(field)) given.emplace_back(field);
  for (const char* word : tolerance_words)
    if (table.has(word)) given.emplace_back(part.word = word);
  const bool printed = predicate.rule == Rule::one_more_seed;
  if (given.size() != 1 || (given.front() == "printed") != printed)
    table.refuse(table.line(),
                 fmt::format("wanted {}, got {}",
                             printed ? "printed, for the rule one_more_seed"
                                     : fmt::format("one of at_most, at_least, between, equals, within, {}",
                                                   fmt::join(tolerance_words, ", ")),
                             given.empty() ? "none" : fmt::format("{}", fmt::join(given, " and "))));
  const std::string& field = given.front();
  part.why = part.word.empty() ? table.phrase("why") : table.phrase_or_none("why");
  if (!part.word.empty()) {
    const Tolerance tolerance = read_tolerance(table, field.c_str());
    predicate.low = tolerance.low;
    predicate.high = tolerance.high;
    // A part's own words say where X comes from; the word says the rest.
    const auto more = [](std::string& text, const std::string& between, const std::string& word) {
      text += (text.empty() ? "" : between) + word;
    };
    more(part.why.en, "; ", tolerance.why.en);
    more(part.why.zh, "；", tolerance.why.zh);
    return;
  }
  if (field == "between") {
    const std::vector<double> bounds = table.numbers("between", 2);
    predicate.low = bounds[0];
    predicate.high = bounds[1];
    if (bounds[0] >= bounds[1])
      table.refuse(table.line_of("between"),
                   fmt::format("between: wanted the lower bound first, got [{}, {}]", bounds[0], bounds[1]));
    return;
  }
  const double bound = table.number(field.c_str());
  if (field == "within" && bound <= 0)
    table.refuse(table.line_of("within"), fmt::format("within: wanted a margin above 0, got {}", bound));
  if (field != "at_most") predicate.low = field == "within" ? -bound : bound;
  if (field != "at_least") predicate.high = bound;
}

// The margin of a "better" within which two are equal: of quotients a hundredth, as that of as_good; else what it says.
void read_margin(TomlTable& table, Part& part) {
  const bool of_quotient = bound_shown(part.predicate.low) == 1 || bound_shown(part.predicate.high) == 1;
  if (part.word == "better" && of_quotient) part.predicate.margin = 0.01;
  if (!table.has("equal_within")) return;
  if (part.word != "better")
    table.refuse(table.line_of("equal_within"),
                 "equal_within: is the margin of better; write better beside it");
  part.predicate.margin = table.number("equal_within");
  if (!(part.predicate.margin > 0))
    table.refuse(table.line_of("equal_within"),
                 fmt::format("equal_within: wanted a margin above 0, got {}", part.predicate.margin));
}

void check_predicate(TomlTable& table, const Predicate& predicate) {
  const auto not_positive = [](double bound) { return std::isfinite(bound) && bound <= 0; };
  if (predicate.log && (not_positive(predicate.low) || not_positive(predicate.high)))
    table.refuse(table.line_of("log"), "log: wanted a bound above 0, for logarithms");
  if (cannot_fail(predicate))
    table.refuse(table.line(), "no value could make this part fail; it tests nothing");
  if (cannot_hold(predicate)) table.refuse(table.line(), "no value could make this part hold");
}

int64_t word_count(const std::string& text) {
  std::istringstream words(text);
  return std::distance(std::istream_iterator<std::string>(words), {});
}

// What the parts of a claim may have in common: it stands in the claim then.
const std::vector<std::string> common_fields = {"run",    "rule",      "log",       "why",
                                                "why_zh", "full_only", "reach_run", "settings"};

// Which run of the file the field names.
const RunSpec& run_of(TomlTable& table, const char* field, const std::vector<RunSpec>& runs) {
  const std::string name = table.text(field);
  const auto run = std::ranges::find(runs, name, &RunSpec::name);
  if (run != runs.end()) return *run;
  std::vector<std::string> known;
  for (const RunSpec& one : runs) known.push_back(one.name);
  table.refuse(table.line_of(field), fmt::format("{}: wanted one of the file's runs ({}), got '{}'{}", field,
                                                 one_line(fmt::to_string(fmt::join(known, ", ")), 200),
                                                 one_line(name), did_you_mean(name, known)));
}

void read_reach(TomlTable& table, Part& part, const std::vector<RunSpec>& runs) {
  part.reach = table.texts("reach");
  for (const std::string& key : part.reach)
    if (const size_t end = key.rfind(".rung"); end != std::string::npos)
      table.refuse(table.line_of("reach"),
                   fmt::format("reach: wanted the keys of a ladder without their rungs, got '{}'; write '{}'",
                               one_line(key), one_line(key.substr(0, end))));
  if (!part.reach.empty())
    part.reach_run = table.has("reach_run") ? run_of(table, "reach_run", runs).name : part.run;
}

// Of several rungs or settings no second value is read.
void read_other(TomlTable& table, Part& part) {
  part.minus = table.text_or("minus", "");
  part.plus = table.text_or("plus", "");
  part.over = table.text_or("over", "");
  for (const char* word : {"minus", "plus", "over"}) {
    if (!table.has(word)) continue;
    if (table.flag("pooled"))
      table.refuse(table.line_of(word), fmt::format("{}: is not for a part with pooled; drop one", word));
    if (table.text(word) != part.other())
      table.refuse(table.line_of(word),
                   fmt::format("{}: wanted one of minus, plus and over, got several", word));
  }
}

// All rungs have a mean.
void check_pooled(const TomlTable& table, const Part& part) {
  if (!part.pooled || (part.predicate.rule == Rule::mean && !part.predicate.log)) return;
  table.refuse(
      table.line_of("pooled"),
      fmt::format("pooled: wanted the rule mean without log, got {}{}; take that rule, or drop pooled",
                  rule_words[static_cast<size_t>(part.predicate.rule)],
                  part.predicate.log ? " with log" : ""));
}

// Studies that measure the same in each setting of a balanced design.
const std::vector<std::string> studies_of_settings = {"settings", "digit_settings"};

// All settings have a mean.
void check_settings(const TomlTable& table, const Part& part, const RunSpec& run) {
  const int line = table.line_of("settings");
  if (std::ranges::count(studies_of_settings, run.study) == 0)
    table.refuse(
        line,
        fmt::format("settings: the run {} is of {}, which measures one setting; wanted a run of the study "
                    "{}, or no settings",
                    run.name, run.study, fmt::join(studies_of_settings, " or ")));
  if (part.predicate.rule != Rule::mean || part.predicate.log)
    table.refuse(line, "settings: all settings have a mean; take the rule mean, without log");
  if (part.pooled || !part.other().empty())
    table.refuse(line, "settings: is not for a part with pooled, minus, plus or over; drop one");
  if (const size_t end = part.key.rfind(".setting"); end != std::string::npos)
    table.refuse(part.line, fmt::format("key: wanted it without its setting, got '{}'; write '{}'",
                                        one_line(part.key), one_line(part.key.substr(0, end))));
}

Part part_of(TomlTable& table, const std::vector<RunSpec>& runs) {
  table.allow({"says",     "says_zh", "run",    "key",       "rule",         "log",       "at_most",
               "at_least", "between", "equals", "within",    "about",        "better",    "as_good",
               "printed",  "why",     "why_zh", "full_only", "reach",        "reach_run", "control",
               "pooled",   "minus",   "plus",   "over",      "equal_within", "settings",  "experiment"});
  Part part;
  part.says = table.phrase("says");
  part.run = table.text("run");
  part.key = table.text("key");
  part.line = table.line_of("key");
  read_other(table, part);
  part.predicate.rule = static_cast<Rule>(one_of(table, "rule", rule_words));
  part.predicate.log = table.flag("log");
  read_bounds(table, part);
  part.full_only = table.flag("full_only");
  part.control = table.flag("control");
  part.experiment = table.text_or("experiment", "");
  part.pooled = table.flag("pooled");
  check_pooled(table, part);
  part.settings = table.flag("settings");
  read_margin(table, part);
  const RunSpec& run = run_of(table, "run", runs);
  if (part.settings) check_settings(table, part, run);
  check_predicate(table, part.predicate);
  read_reach(table, part, runs);
  if (part.predicate.rule == Rule::time && run.study != "norm_speed")
    table.refuse(table.line_of("rule"), "rule: time is for the quotients of times of norm_speed; take mean");
  return part;
}

// A misspelled name would leave a control without parts, or parts without their control, in silence.
void check_experiments(const TomlTable& table, const Claim& claim) {
  for (const Part& part : claim.parts) {
    const auto is_its_other_half = [&](const Part& other) {
      return other.run == part.run && other.experiment == part.experiment && other.control != part.control;
    };
    if (!part.experiment.empty() && std::ranges::none_of(claim.parts, is_its_other_half))
      table.refuse(part.line, fmt::format("experiment: '{}' of run {} has {}; give {} the same name",
                                          one_line(part.experiment), part.run,
                                          part.control ? "a control and no other part" : "no control",
                                          part.control ? "its parts" : "its control"));
  }
}

// Small letters, and one blank for any white space: a quotation is compared as it reads.
std::string as_read(const std::string& text) {
  std::string result;
  for (const unsigned char c : text) {
    if (std::isspace(c) == 0)
      result += static_cast<char>(std::tolower(c));
    else if (!result.ends_with(' '))
      result += ' ';
  }
  return result;
}

// bears_out, contradicts or lacks: exactly one, and the quotation must have those words, or lack them.
void read_words(TomlTable& table, Passage& passage) {
  for (size_t i = 0; i < bearing_words.size(); ++i) {
    const char* field = bearing_words[i].c_str();
    if (!table.has(field)) continue;
    if (!passage.words.empty())
      table.refuse(table.line(), "wanted one of bears_out, contradicts and lacks, got two");
    passage.words = table.text(field);
    passage.bearing = static_cast<Bearing>(i);
    const bool there = as_read(passage.quote).find(as_read(passage.words)) != std::string::npos;
    if (there == (passage.bearing == Bearing::lacks))
      table.refuse(table.line_of(field),
                   fmt::format("{}: the quotation {} '{}'; copy the words from it", field,
                               there ? "says" : "does not say", one_line(passage.words)));
  }
  if (passage.words.empty())
    table.refuse(
        table.line(),
        "wanted one of bears_out, contradicts and lacks: words of the quotation that bear the claim out or "
        "contradict it, or words that the claim needs and the quotation lacks");
}

Passage passage_of(TomlTable& table) {
  table.allow(
      {"title", "address", "quote", "bears_out", "contradicts", "lacks", "reading", "reading_zh", "read"});
  Passage passage{.title = table.text("title"),
                  .address = table.text("address"),
                  .quote = table.text("quote"),
                  .reading = table.phrase("reading"),
                  .read = table.text("read")};
  read_words(table, passage);
  return passage;
}

// What a claim consists of must fit its kind.
void check_kind(const TomlTable& table, const Claim& claim) {
  const bool parts = claim.kind == Kind::measured || (claim.kind == Kind::definition && claim.test.empty());
  if (!claim.test.empty() && claim.kind != Kind::definition)
    table.refuse(claim.line, "has a test, which is for the kind definition; drop it");
  if (parts && claim.parts.empty()) table.refuse(claim.line, "has no part; add [[claim.part]], or a kind");
  if (!parts && !claim.parts.empty() && claim.kind != Kind::cited)
    table.refuse(claim.line, "has parts, which its kind does not take; drop one");
  if (claim.kind == Kind::source && claim.passages.empty())
    table.refuse(claim.line, "has no passage to be judged by; add [[claim.passage]]");
  if ((claim.kind == Kind::cited || claim.kind == Kind::not_run) && claim.note.en.empty())
    table.refuse(claim.line, "has no note; say why it is not judged");
}

Claim claim_of(TomlTable& table, const TomlTable& source, const ClaimFile& file) {
  std::vector<std::string> fields = {"id",      "also_in",    "quote",         "quote_en",   "says",
                                     "says_zh", "implied",    "implied_zh",    "no_source",  "no_source_zh",
                                     "kind",    "all",        "on_gpu",        "may",        "note",
                                     "note_zh", "remark",     "remark_zh",     "part",       "passage",
                                     "test",    "paper_size", "paper_size_zh", "depends_on", "depends_on_zh"};
  if (table.has("part")) fields.insert(fields.end(), common_fields.begin(), common_fields.end());
  table.allow(fields);
  Claim claim;
  claim.id = table.text("id");
  table.rename("claim " + claim.id);
  claim.line = table.line();
  for (const Claim& other : file.claims)
    if (other.id == claim.id)
      table.refuse(claim.line, fmt::format("its id is that of line {} too", other.line));
  std::vector<std::string> sources{file.source.id};
  for (const std::string& other : table.texts("also_in")) sources.push_back(other);
  claim.source = fmt::format("{}", fmt::join(sources, ", "));
  claim.quote = table.text("quote");
  claim.quote_en = table.text_or("quote_en", "");
  claim.says = table.phrase("says");
  claim.implied = table.phrase_or_none("implied");
  claim.no_source = table.phrase_or_none("no_source");
  if (table.has("kind")) claim.kind = static_cast<Kind>(one_of(table, "kind", kind_words));
  claim.test = table.text_or("test", "");
  claim.one_statement = table.flag("all");
  claim.on_gpu = table.flag("on_gpu");
  claim.may = table.flag("may");
  if (claim.may && claim.on_gpu) table.refuse(claim.line, "wanted one of may and on_gpu, got both");
  claim.remark = table.phrase_or_none("remark");
  claim.note = table.phrase_or_none("note");
  claim.depends_on = table.phrase_or_none("depends_on");
  if (const auto words = word_count(claim.depends_on.en); words > 4)
    table.refuse(
        table.line_of("depends_on"),
        fmt::format("depends_on: wanted at most four words, such as \"the optimizer\", got {}", words));
  if (!table.has("paper_size")) table.inherit(source, {"paper_size", "paper_size_zh"});
  claim.paper_size = table.phrase_or_none("paper_size");
  const auto refuse_alone = [](const TomlTable& of, bool reach) {
    if (of.has("reach_run") && !reach)
      of.refuse(of.line_of("reach_run"), "reach_run: is the run of a reach, and there is none; add reach");
  };
  for (TomlTable& part : table.tables("part", "claim.part", fmt::format("a part of claim {}", claim.id))) {
    refuse_alone(part, part.has("reach"));
    std::vector<std::string> inherited = common_fields;
    if (part.has("why")) std::erase(inherited, "why_zh");  // which translates the claim's own
    part.inherit(table, inherited);
    claim.parts.push_back(part_of(part, file.runs));
  }
  refuse_alone(table, std::ranges::any_of(claim.parts, [](const Part& part) { return !part.reach.empty(); }));
  check_experiments(table, claim);
  for (TomlTable& passage :
       table.tables("passage", "claim.passage", fmt::format("a passage of claim {}", claim.id)))
    claim.passages.push_back(passage_of(passage));
  check_kind(table, claim);
  return claim;
}

void check_runs_are_used(const TomlTable& table, const ClaimFile& file) {
  for (const RunSpec& run : file.runs) {
    const auto uses = [&](const Claim& claim) {
      return std::ranges::any_of(claim.parts, [&](const Part& part) { return part.reads(run.name); });
    };
    if (std::ranges::none_of(file.claims, uses))
      table.refuse(run.line, fmt::format("no part of a claim needs the run {}; drop it", run.name));
  }
}

void mark_parts_of_ladders(ClaimFile& file) {
  std::set<std::string> ladders;
  for (const Claim& claim : file.claims)
    for (const Part& part : claim.parts) ladders.insert(part.reach_run);
  for (Claim& claim : file.claims)
    for (Part& part : claim.parts) part.of_ladder = part.pooled || ladders.contains(part.run);
}

// The line of a dotted name of more than 32 parts, [a.a.a…] or a.a.a… = 1; 0: there is none. toml++ makes a
// table of each part, and ends them by recursion: 100,000 are too much for the stack.
int line_of_long_name(std::string_view text) {
  constexpr int most_dots = 32;  // in a line, outside of texts and comments
  int line = 1, dots = 0;
  std::string_view open;  // the marks, one or three, that begin the text that this place is in
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      dots = 0;
    } else if (open.empty() && c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (open.empty() && (c == '"' || c == '\'')) {
      open = text.substr(i, text.substr(i).starts_with(std::string(3, c)) ? 3 : 1);
      i += open.size() - 1;
    } else if (open.empty()) {
      if (c == '.' && ++dots > most_dots) return line;
    } else if (c == '\\' && open[0] == '"') {
      i += !text.substr(i + 1).starts_with('\n');
    } else if (text.substr(i).starts_with(open)) {
      i += open.size() - 1;
      // A text in three marks may end in two of its own.
      for (int own = 0; own < 2 && open.size() == 3 && text.substr(i + 1).starts_with(c); ++own) ++i;
      open = {};
    }
  }
  return 0;
}

toml::table parse_toml(std::string_view text, const std::string& path) {
  if (const int line = line_of_long_name(text); line > 0)
    throw_error(fmt::format("{}, line {}: a name has too many parts; write [claim], [run.NAME] and fields",
                            path, line));
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
  table.allow({"source", "run", "claim"});
  ClaimFile file{.path = path, .source = {}, .runs = {}, .claims = {}};
  std::vector<std::pair<std::string, TomlTable>> all_runs = table.named_tables("run");
  std::vector<TomlTable> claims = table.tables("claim", "claim", "a claim");
  TomlTable source = table.table("source");
  file.source = source_of(source);
  for (auto& [name, run] : all_runs) file.runs.push_back(read_run(name, run));
  std::ranges::sort(file.runs, {}, &RunSpec::line);
  for (TomlTable& claim : claims) file.claims.push_back(claim_of(claim, source, file));
  if (file.claims.empty()) table.refuse(1, "has no claims; add [[claim]]");
  check_runs_are_used(table, file);
  mark_parts_of_ladders(file);
  return file;
}

ClaimFile read_claims(const std::string& path) {
  ClaimFile file = parse_claims(read_file(path, largest_file), path);
  for (const Claim& claim : file.claims)
    check(claim.test.empty(),
          "{}, line {}: claim {}: has a test, which only a claim that isobar ships may name; "
          "add [[claim.part]]",
          path, claim.line, claim.id);
  return file;
}

const std::vector<ClaimFile>& builtin_claims() {
  static const std::vector<ClaimFile> files = [] {
    std::vector<ClaimFile> all;
    for (const char* text :
         {fixtures::claims_000, fixtures::claims_001, fixtures::claims_002, fixtures::claims_003,
          fixtures::claims_004, fixtures::claims_005, fixtures::claims_006, fixtures::claims_007,
          fixtures::claims_008, fixtures::claims_009})
      all.push_back(parse_claims(text, fmt::format("{:03}.toml", all.size())));
    for (ClaimFile& file : all) file.shipped = true;
    return all;
  }();
  return files;
}

std::vector<const Claim*> builtin_table() {
  std::vector<const Claim*> table;
  for (const ClaimFile& file : builtin_claims())
    for (const Claim& claim : file.claims) table.push_back(&claim);
  std::ranges::sort(table, {}, &Claim::id);
  return table;
}

}  // namespace isobar::claims
