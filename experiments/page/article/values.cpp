#include "values.h"

#include <fmt/ranges.h>

#include <set>

#include "../../claims/results.h"
#include "../../nets/decay/reference.h"
#include "../../run/environment.h"
#include "../../run/lists.h"
#include "../charts/shapes.h"
#include "../closed_forms.h"
#include "documents.h"
#include "pictures.h"

namespace isobar::article {
namespace {

using charts::element;
using charts::Markup;

std::string escaped(const std::string& text) { return Markup(text).text(); }

std::string number(double value, int digits) {
  check(!std::isnan(value), "this value is not a number");
  return charts::number(value, digits);
}

Markup row(const char* tag, const std::vector<std::string>& cells) {
  Markup row;
  for (const std::string& cell : cells) row += element(tag, {}, Markup(cell));
  return element("tr", {}, row);
}

std::string closed(const std::string& what, int digits) {
  static const facts::ClosedForms forms = facts::beside_pytorch();
  const std::map<std::string, double> values = {{"all_nets", decay::depth_reference().size()},
                                                {"nets", forms.nets},
                                                {"medians", forms.medians},
                                                {"within", forms.within},
                                                {"largest", forms.largest},
                                                {"lost_to_width", facts::lost_to_width()}};
  const auto found = values.find(what);
  check(found != values.end(), "the closed forms have no {}", what);
  return number(found->second, digits);
}

// “The translation” (as printed). Fonts for paper lack the green mark of tables.
std::string quoted(const Json& claim) {
  const std::string english = claim.at("quote_en"), mark = "✅";
  std::string quote = claim.at("quote");
  if (const size_t at = quote.find(mark); at != std::string::npos) quote.replace(at, mark.size(), "✓");
  const std::string text = "<q>" + escaped(english.empty() ? quote : english) + "</q>";
  return english.empty() ? text : text + " (<span lang=\"zh\">" + escaped(quote) + "</span>)";
}

// What follows from each passage that was read.
std::string readings(const Json& claim) {
  std::string text;
  for (const Json& passage : claim.at("passages"))
    text += (text.empty() ? "" : " ") + escaped(passage.at("reading"));
  return text;
}

// Whether the claim is of one of these sources: "002, 003" is of both.
bool is_of(const claims::Judged& judged, const Words& sources) {
  return std::ranges::any_of(
      sources, [&](const std::string& id) { return judged.claim->source.find(id) != std::string::npos; });
}

// "AdamW: fades, Muon: undecided"
std::string reach_words(const Json& part) {
  Words words;
  for (const Json& reach : part.at("reaches"))
    if (reach.contains("word"))
      words.push_back(reach.at("optimizer").get<std::string>() + ": " + reach.at("word").get<std::string>());
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string registered() {
  std::string text;
  for (const auto& [commit, texts] : registrations())
    text += fmt::format(
        "The claims and bounds of the sources {} were committed as <code>{}</code>, before their first run.",
        fmt::join(texts, ", "), commit);
  return text;
}

Words split(const std::string& text) {
  Words words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// D06.1, the first part of D06: the claim, and the part's place; no place in D06.
std::pair<std::string, size_t> claim_and_part(const std::string& word) {
  const size_t dot = word.find('.');
  if (dot == std::string::npos) return {word, 0};
  const std::string part = word.substr(dot + 1);
  check(!part.empty() && part.find_first_not_of("0123456789") == std::string::npos && part != "0",
        "wanted a part as D06.1, got {}", word);
  return {word.substr(0, dot), std::stoul(part)};
}

}  // namespace

std::map<std::string, Words> registrations() {
  std::map<std::string, Words> texts;
  for (const claims::ClaimFile& file : claims::builtin_claims())
    if (!file.source.registered.empty()) texts[file.source.registered].push_back(file.source.id);
  return texts;
}

Values::Values(const claims::Kept& kept) : kept_(kept), runs_(kept.runs(claims::builtin_claims())) {
  for (const claims::Claim* claim : claims::builtin_table()) {
    judged_.push_back(claims::judge_kept(*claim, runs_));
    claims_[claim->id] = to_json(judged_.back());
  }
}

const Json& Values::claim(const std::string& id) const {
  const auto found = claims_.find(id);
  check(found != claims_.end(), "there is no claim {}", id);
  return found->second;
}

const Json& Values::measured(const std::string& run, const std::string& key) const {
  const auto summary = runs_.summaries.find(run);
  check(summary != runs_.summaries.end(), "there is no kept run {}", run);
  check(summary->second["measured"].contains(key), "the kept run {} has no {}", run, key);
  return summary->second["measured"][key];
}

std::string Values::html(const std::string& word) const {
  std::string name = word;
  int digits = 2;
  if (const size_t colon = word.rfind(':');
      colon != std::string::npos && colon + 2 == word.size() && std::isdigit(word.back())) {
    digits = word.back() - '0';
    name = word.substr(0, colon);
  }
  const Words words = split(name);
  check(!words.empty(), "{{{{}}}} has no word");
  const std::string& first = words[0];
  const auto rest = [&](size_t at) {
    check(name.size() > at, "{} wants words after it", first);
    return name.substr(at);
  };
  if (first == "count") return count(rest(6));
  if (first == "kept" || first == "setting") return kept_value(words, digits);
  if (first == "closed") return closed(rest(7), digits);
  const Words others(words.begin() + 1, words.end());
  if (first == "verdicts") return verdicts(others);
  if (first == "reach") return reach(others);
  if (first == "ladder") return ladder(others);
  if (first == "wrong") return wrong(others);
  if (first == "sources") return sources();
  if (first == "registrations") return registered();
  if (first == "version") return isobar_version();
  if (first == "date") return date();
  if (first == "quoted") return quoted(claim(rest(7)));
  if (first == "figure") return stored_picture(rest(7));
  if (first == "chart") return drawn_picture(rest(6), runs_);
  if (first == "exact" && words.size() == 3) return exact(words[1], words[2]);
  if (first == "said" || first == "table") {
    const size_t quote = name.find('"');
    check(words.size() > 2 && quote != std::string::npos && name.back() == '"' && quote + 1 < name.size(),
          "wanted {} DOCUMENT \"WORDS\"", first);
    const std::string quoted = name.substr(quote + 1, name.size() - quote - 2);
    return first == "said" ? said(words[1], quoted) : table_of(words[1], quoted);
  }
  return value_of_part(words, digits);
}

const Json& Values::part(const std::string& name) const {
  const auto [id, place] = claim_and_part(name);
  const Json& parts = claim(id)["parts"];
  check(place > 0 && place <= parts.size(), "{} has {} parts; there is no part {}", id, parts.size(), name);
  return parts[place - 1];
}

std::string Values::value_of_part(const Words& words, int digits) const {
  const std::string& name = words[0];
  const std::string field = words.size() > 1 ? words[1] : "value";
  if (name.find('.') == std::string::npos) {
    const Json& of = claim(name);
    if (field == "readings") return readings(of);
    check(of.contains(field) && of[field].is_string(), "{} has no {}; {}.1 is its first part", name, field,
          name);
    return escaped(of[field]);
  }
  const Json& found = part(name);
  check(found["not_run"] == "", "{}: {}", name, found["not_run"].get<std::string>());
  const double value = number_from(found["value"]);
  if (field == "over_printed") return number(value / number_from(found["printed"]), digits);
  if (field == "seeds") return fmt::format("{}", found["n"].get<int64_t>());
  if (field == "interval")
    return charts::interval(number_from(found["interval"][0]), number_from(found["interval"][1]));
  if (field == "printed") return charts::plain(number_from(found["printed"]));
  check(found.contains(field), "{} has no {}", name, field);
  return found[field].is_string() ? escaped(found[field]) : number(number_from(found[field]), digits);
}

// "refuted", of all claims; "trained refuted", of those that read trained nets; "claims", "trained", "texts".
std::string Values::count(const std::string& what) const {
  if (what == "texts") return fmt::format("{}", claims::builtin_claims().size());
  const bool trained = what.starts_with("trained");
  const std::string verdict = what == "claims" || what == "trained" ? "" : what.substr(trained ? 8 : 0);
  check(verdict.empty() || std::ranges::count(claims::verdict_words, verdict) > 0, "count: {}",
        not_one_of(claims::verdict_words, verdict));
  return fmt::format("{}", std::ranges::count_if(judged_, [&](const claims::Judged& judged) {
                       return (verdict.empty() || judged.verdict == verdict) &&
                              (!trained || !claims::trained_on(judged).en.empty());
                     }));
}

std::string Values::date() const {
  std::string newest;
  for (const auto& [name, summary] : runs_.summaries)
    newest = std::max<std::string>(newest, kept_.run(name).at("date"));
  return newest;
}

std::string Values::kept_value(const Words& words, int digits) const {
  check(words.size() == 3, "wanted {} RUN KEY", words[0]);
  if (words[0] == "kept") return number(spread_from(measured(words[1], words[2])).linear.mean, digits);
  const auto summary = runs_.summaries.find(words[1]);
  check(summary != runs_.summaries.end() && summary->second["config"].contains(words[2]),
        "there is no kept run {} with a setting {}", words[1], words[2]);
  const Json& setting = summary->second["config"][words[2]];
  return escaped(setting.is_string() ? setting.get<std::string>() : setting.dump());
}

std::string Values::verdicts(const Words& sources) const {
  Markup rows =
      row("th", {"claim", "what the text says", "measured, in the part that decides", "verdict", "reach"});
  for (const claims::Judged& judged : judged_) {
    if (!is_of(judged, sources) || judged.claim->kind != claims::Kind::measured) continue;
    const claims::Finding* part = claims::deciding_part(judged);
    const bool made = part != nullptr && part->not_run.empty();
    const Json& parts = claim(judged.claim->id)["parts"];
    rows += row(
        "td",
        {judged.claim->id, judged.claim->says.en,
         made ? fmt::format("{}: {}", part->part->says.en, claims::value_text(*part)) : "", judged.verdict,
         part == nullptr ? "" : reach_words(parts[static_cast<size_t>(part - judged.findings.data())])});
  }
  return element("table", {{"class", "verdicts"}}, rows).text();
}

std::string Values::sources() const {
  Markup rows =
      row("th", {"", "title", "author, date", "claims", "confirmed", "refuted", "partly", "open", "other"});
  for (const claims::ClaimFile& file : claims::builtin_claims()) {
    std::map<std::string, int> counts;
    for (const claims::Claim& one : file.claims) {
      const std::string verdict = claim(one.id)["verdict"];
      const bool open =
          verdict == "too few seeds" || verdict == "rule does not hold" || verdict == claims::not_kept;
      ++counts[open                                                             ? "open"
               : verdict.starts_with("refuted") || verdict.starts_with("false") ? "refuted"
               : verdict.starts_with("partly")                                  ? "partly"
               : verdict == "confirmed" || verdict.starts_with("true")          ? "confirmed"
                                                                                : "other"];
    }
    const claims::Source& source = file.source;
    const std::string author = source.author.starts_with("unknown") ? "not known" : source.author;
    Words cells = {source.id, source.title_en.empty() ? source.title : source.title_en,
                   author + ", " + source.date, fmt::format("{}", file.claims.size())};
    for (const char* kind : {"confirmed", "refuted", "partly", "open", "other"})
      cells.push_back(counts[kind] == 0 ? "–" : fmt::format("{}", counts[kind]));
    rows += row("td", cells);
  }
  return rows.text();
}

std::string Values::wrong(const Words& sources) const {
  std::string text;
  for (const claims::Judged& judged : judged_) {
    if (!is_of(judged, sources) ||
        !(judged.verdict.starts_with("refuted") || judged.verdict.starts_with("false")))
      continue;
    const claims::Finding* part = claims::deciding_part(judged);
    text +=
        fmt::format("<dt><b>{}.</b> {}</dt><dd>{}</dd>", judged.claim->id, quoted(claim(judged.claim->id)),
                    part == nullptr ? readings(claim(judged.claim->id))
                                    : escaped(part->part->says.en + ": " + claims::value_text(*part) +
                                              "; wanted " + claims::text_of(part->part->predicate).en));
  }
  return text;
}

std::string Values::reach(const Words& sources) const {
  // Claims share parts: of one measured value and one wish there is one row.
  std::vector<std::pair<std::string, Json>> shared;
  for (const claims::Judged& judged : judged_)
    for (const Json& part : claim(judged.claim->id)["parts"]) {
      if (!is_of(judged, sources) || reach_words(part).empty()) continue;
      const auto same = [&](const auto& one) {
        return one.second["key"] == part["key"] && one.second["wanted"] == part["wanted"];
      };
      const auto found = std::ranges::find_if(shared, same);
      if (found == shared.end())
        shared.emplace_back(judged.claim->id, part);
      else
        found->first += " " + judged.claim->id;
    }
  Markup rows = row("th", {"claims", "part", "measured at the claim's size", "outcome", "reach"});
  for (const auto& [ids, part] : shared)
    rows += row("td", {ids, part["says"], part["measured"], part["outcome"], reach_words(part)});
  return element("table", {{"class", "verdicts"}}, rows).text();
}

std::string Values::ladder(const Words& names) const {
  std::string climbs = "the operations of a training";
  std::vector<std::pair<std::string, Json>> parts;
  for (const std::string& name : names) {
    const size_t equals = name.find('=');
    if (name == "tokens") {
      climbs = "letters a parameter";
      continue;
    }
    check(equals != std::string::npos, "wanted tokens, or a chart of a ladder as DyT=H04.1, got {}", name);
    parts.emplace_back(name.substr(0, equals), part(name.substr(equals + 1)));
  }
  return ladder_picture(parts, climbs);
}

std::string Values::exact(const std::string& run, const std::string& key) const {
  const double value = number_from(measured(run, key).at("values").at(0));
  const Json line = kept_.run(run);
  const std::string flags = line.at("flags");
  const std::string command =
      fmt::format("build/bin/{}{}{} --json --force | grep -A2 '\"{}\"'", line.at("study").get<std::string>(),
                  flags.empty() ? "" : " ", flags, key);
  return element("td", {}, Markup(fmt::format("{:.9g}", value))).text() +
         element("td", {}, element("code", {}, Markup(command))).text();
}

bool Values::is(const std::string& condition) const {
  const Words words = split(condition);
  check(words.size() > 1, "wanted a condition as \"D06 refuted\", got {}", condition);
  const std::string& first = words[0];
  if (first == "not") return !is(condition.substr(condition.find("not ") + 4));
  if (first == "judged")
    return claims_.contains(words[1]) && claims_.at(words[1])["verdict"] != claims::not_kept;
  if (first == "reach")
    return std::ranges::any_of(judged_, [&](const claims::Judged& judged) {
      return is_of(judged, words) &&
             std::ranges::any_of(claim(judged.claim->id)["parts"],
                                 [](const Json& part) { return !reach_words(part).empty(); });
    });
  const std::string wanted = condition.substr(condition.find(' ') + 1);
  if (first.find('.') == std::string::npos) {
    check(std::ranges::count(claims::verdict_words, wanted) > 0, "{}",
          not_one_of(claims::verdict_words, wanted));
    return claim(first)["verdict"] == wanted;
  }
  const Words outcomes = {"holds", "does not hold", "too few seeds", "machine too busy",
                          "rule does not hold"};
  check(std::ranges::count(outcomes, wanted) > 0, "{}", not_one_of(outcomes, wanted));
  return part(first)["outcome"] == wanted;
}

}  // namespace isobar::article
