#include "norm_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <toml++/toml.h>

#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../../data/utf8_stream.h"
#include "../claims/toml_table.h"
#include "../run/lists.h"
#include "config.h"
#include "contestant.h"
#include "own_norm.h"

namespace isobar::duel {
namespace {

namespace fs = std::filesystem;

constexpr size_t largest_table = size_t{1} << 22;
constexpr const char* repair_of_line =
    "remove the line, and isobar duel --table measures the norm again, or restore the file";

std::string header_hash_of(const NormTable& table, const std::string& contestant) {
  const std::string header = header_in(table.words_of(contestant));
  return header.empty() ? "" : checksum(read_file(header, largest_table));
}

// One line, numbers in as few digits as read back exactly. "xxh3", the last field, is of the text before it.
std::string line_of(Json result) {
  result.erase("xxh3");
  const std::string text = with_named_infinities(result).dump();
  result["xxh3"] = checksum(text);
  return with_named_infinities(result).dump() + "\n";
}

bool is_row_name(const std::string& text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

// The names of the flags in a text: "--optimizer" of "--optimizer=muon".
std::set<std::string> flags_in(const std::string& text) {
  std::set<std::string> names;
  for (std::string word : shell_words(text).value_or(std::vector<std::string>())) {
    if (!word.starts_with("--") && word != "-o") continue;
    word.resize(std::min(word.find('='), word.size()));
    if (word.size() > 2) std::replace(word.begin() + 2, word.end(), '-', '_');
    names.insert(word);
  }
  return names;
}

// Throws Error where this is no contestant, and where a flag of its own would stand where the second round has another.
void check_contestant(const NormTable& table, const std::string& contestant) {
  const std::string words = table.words_of(contestant), header = header_in(words);
  if (header.empty())
    parse_contestant(words);
  else
    check(fs::is_regular_file(header), "there is no file '{}'", header);
  if (!contestant.starts_with("--")) return;
  const std::set<std::string> own = flags_in(contestant);
  for (const std::string& flag : flags_in(table.second_flags))
    check(!own.contains(flag),
          "contestant '{}': has {} of its own, and second_flags has it for both sides; drop one of both",
          one_line(contestant), flag);
}

ListedNorm norm_from(claims::TomlTable& row, const NormTable& table) {
  row.allow({"name", "title", "contestant", "formula", "source", "about"});
  ListedNorm norm{.name = row.text("name"),
                  .title = row.text("title"),
                  .contestant = row.text("contestant"),
                  .formula = row.text("formula"),
                  .source = row.text("source"),
                  .about = row.text("about"),
                  .line = row.line()};
  row.rename("norm " + norm.name);
  if (!is_row_name(norm.name))
    row.refuse(row.line_of("name"),
               fmt::format("name: wanted lower-case letters, digits and _, got '{}'", one_line(norm.name)));
  for (const ListedNorm& other : table.norms) {
    if (other.name == norm.name)
      row.refuse(row.line_of("name"),
                 fmt::format("name: wanted one that no other norm has, got that of line {}", other.line));
    if (other.contestant == norm.contestant)
      row.refuse(row.line_of("contestant"),
                 fmt::format("contestant: wanted one that is not in the table, got that of {}, line {}: '{}'",
                             other.name, other.line, one_line(norm.contestant)));
  }
  try {
    check_contestant(table, norm.contestant);
  } catch (const Error& error) {
    row.refuse(row.line_of("contestant"), error.what());
  }
  return norm;
}

std::string flags_from(claims::TomlTable& top, const char* field) {
  std::string text = top.text_or(field, "");
  if (!shell_words(text)) top.refuse(top.line_of(field), fmt::format("{}: a quote is not closed", field));
  const std::set<std::string> given = flags_in(text);
  for (const char* own :
       {"--task", "--max_pairs", "--seed", "--out", "--share", "--force", "--config", "--accept_old", "-o"})
    if (given.contains(own))
      top.refuse(top.line_of(field), fmt::format("{}: a table has {} for itself; leave it out", field, own));
  return text;
}

void read_flags(claims::TomlTable& top, NormTable& table) {
  table.flags = flags_from(top, "flags");
  table.second_flags = flags_from(top, "second_flags");
  const std::set<std::string> first = flags_in(table.flags), second = flags_in(table.second_flags);
  if (second.empty() && top.has("second_flags"))
    top.refuse(top.line_of("second_flags"),
               fmt::format("second_flags: wanted flags such as --optimizer muon, got '{}'",
                           one_line(table.second_flags)));
  for (const std::string& flag : second)
    if (first.contains(flag))
      top.refuse(top.line_of("second_flags"),
                 fmt::format("second_flags: flags has {} too; drop one of both", flag));
}

void read_heading(claims::TomlTable& top, NormTable& table) {
  top.allow({"against", "flags", "second_flags", "max_pairs", "texts", "norm"});
  read_flags(top, table);
  table.against = top.text_or("against", table.against);
  try {
    check_contestant(table, table.against);
  } catch (const Error& error) {
    top.refuse(top.line_of("against"), error.what());
  }
  const double pairs = top.number("max_pairs");
  if (pairs < 1 || pairs > 1e6 || pairs != std::floor(pairs))
    top.refuse(top.line_of("max_pairs"),
               fmt::format("max_pairs: wanted a whole number from 1 to 1000000, got {}", pairs));
  table.max_pairs = static_cast<int64_t>(pairs);
  table.texts = top.texts("texts");
  for (const std::string& text : table.texts)
    if (text != "shakespeare" && text != "synthetic")
      top.refuse(top.line_of("texts"),
                 fmt::format("texts: wanted shakespeare or synthetic, got '{}'", one_line(text)));
  if (table.texts.empty() || std::set(table.texts.begin(), table.texts.end()).size() != table.texts.size())
    top.refuse(top.line_of("texts"), "texts: wanted a list of one or more texts, each once");
}

// The outcome decides nothing that more pairs could change.
bool is_final(const Json& result, int64_t max_pairs) {
  return result["outcome"] != "undecided" || result["max_pairs"] >= max_pairs;
}

constexpr const char* key_fields[] = {"norm",  "text",        "contestant",  "against",
                                      "flags", "header_xxh3", "against_xxh3"};

bool has_key(const Json& result, const Json& key) {
  return std::ranges::all_of(key_fields, [&](const char* field) { return result[field] == key[field]; });
}

}  // namespace

std::string NormTable::flags_of(Round round) const {
  if (round == Round::first || second_flags.empty()) return flags;
  return flags.empty() ? second_flags : flags + " " + second_flags;
}

std::string NormTable::results_path() const { return fs::path(path).replace_extension(".jsonl").string(); }

std::string NormTable::words_of(const std::string& contestant) const {
  const std::string header = header_in(contestant), folder = fs::path(path).parent_path().string();
  if (header.empty() || folder.empty() || fs::path(header).is_absolute()) return contestant;
  return replaced(contestant, header, folder + "/" + header);
}

NormTable read_norm_table(const std::string& path) {
  NormTable table;
  table.path = path;
  const std::string text = read_file(path, largest_table);
  toml::table parsed;
  try {
    parsed = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw_error(fmt::format("{}, line {}: {}", path, error.source().begin.line, error.description()));
  }
  claims::TomlTable top(parsed, path, "the table of norms");
  read_heading(top, table);
  for (claims::TomlTable& row : top.tables("norm", "norm", "norm"))
    table.norms.push_back(norm_from(row, table));
  check(!table.norms.empty(), "{}: wanted norms, each begun by a line [[norm]], got none", path);
  return table;
}

NormResults::NormResults(const NormTable& table) : table_(table) {
  const std::string path = table.results_path();
  if (!fs::exists(path)) return;
  const std::string file = read_file(path, largest_table);
  for (size_t begin = 0, number = 1; begin < file.size(); ++number) {
    const size_t end = std::min(file.find('\n', begin), file.size() - 1) + 1;
    const std::string line = file.substr(begin, end - begin);
    begin = end;
    Json result = parse_json<Json>(line);
    check(result.is_object() && line_of(result) == line,
          "{}, line {}: wanted a line as isobar wrote it, got another; {}", path, number, repair_of_line);
    for (const char* field : key_fields)
      check(result.contains(field) && result[field].is_string(), "{}, line {}: wanted {}, got none; {}", path,
            number, field, repair_of_line);
    check(result.contains("outcome") && result.contains("max_pairs"),
          "{}, line {}: wanted outcome and max_pairs; {}", path, number, repair_of_line);
    const std::string norm = result["norm"], text_of_line = result["text"], flags = result["flags"];
    check(std::ranges::count(table.norms, norm, &ListedNorm::name) > 0,
          "{}, line {}: wanted a norm of {}, got '{}'; remove the line, or give the norm back to the table",
          path, number, table.path, Shown{norm});
    for (const Json& other : lines_)
      check(
          other["norm"] != norm || other["text"] != text_of_line || other["flags"] != flags,
          "{}, line {}: wanted one result for each norm, text and flags, got another of {} on {}; remove one "
          "of both lines",
          path, number, norm, Shown{text_of_line});
    lines_.push_back(std::move(result));
  }
}

Json NormResults::key_of(const ListedNorm& norm, const std::string& text, Round round) const {
  return {{"norm", norm.name},
          {"text", text},
          {"contestant", norm.contestant},
          {"against", table_.against},
          {"flags", table_.flags_of(round)},
          {"header_xxh3", header_hash_of(table_, norm.contestant)},
          {"against_xxh3", header_hash_of(table_, table_.against)}};
}

const Json* NormResults::of(const ListedNorm& norm, const std::string& text, Round round) const {
  if (round == Round::second && !wants_second(norm, text)) return nullptr;
  const Json key = key_of(norm, text, round);
  const auto found = std::ranges::find_if(
      lines_, [&](const Json& line) { return has_key(line, key) && is_final(line, table_.max_pairs); });
  return found == lines_.end() ? nullptr : &*found;
}

bool NormResults::wants_second(const ListedNorm& norm, const std::string& text) const {
  if (table_.second_flags.empty()) return false;
  const Json* const first = of(norm, text);
  return first != nullptr && ((*first)["outcome"] == "better" || (*first)["outcome"] == "worse");
}

void NormResults::add(Json result) {
  const auto norm_of = [&](const Json& line) {
    return std::ranges::find(table_.norms, line["norm"].get<std::string>(), &ListedNorm::name);
  };
  const ListedNorm& norm = *norm_of(result);
  const std::string text_of_result = result["text"];
  const Json first = key_of(norm, text_of_result), second = key_of(norm, text_of_result, Round::second);
  std::erase_if(lines_, [&](const Json& line) {
    return line["norm"] == result["norm"] && line["text"] == result["text"] &&
           (line["flags"] == result["flags"] || !(has_key(line, first) || has_key(line, second)));
  });
  lines_.push_back(std::move(result));
  const auto place_of = [&](const Json& line) {
    return std::tuple(norm_of(line) - table_.norms.begin(), line["text"].get<std::string>(),
                      line["flags"] != table_.flags);
  };
  std::ranges::sort(lines_, {}, place_of);
  std::string text;
  for (const Json& line : lines_) text += line_of(line);
  write_file_atomically(table_.results_path(), text);
}

Json result_in(const std::string& folder) {
  const Json summary = parse_json<Json>(read_file(folder + "/summary.json", size_t{1} << 26));
  const Json& measured = summary.at("measured");
  const auto of_both = [&](const char* key) {
    return Json{measured.at(std::string("a.") + key).at("median"),
                measured.at(std::string("b.") + key).at("median")};
  };
  const auto mean_of = [&](const char* key) { return measured.at(key).value("mean", Json("nan")); };
  Json result = {{"outcome", summary.at("outcome")},
                 {"likeness", summary.at("likeness")},
                 {"difference", mean_of("a_minus_b")},
                 {"low", summary.at("interval").at(0)},
                 {"high", summary.at("interval").at(1)},
                 {"pairs", measured.at("a_minus_b").at("values").size()},
                 {"losses", {mean_of("a.val_loss"), mean_of("b.val_loss")}},
                 {"rates", of_both("learning_rate")},
                 {"largest_rates", of_both("largest_stable_rate")},
                 {"signal_dies", of_both("signal_dies")},
                 {"gradient_dies", of_both("gradient_dies")},
                 {"pairs_xxh3", checksum(read_file(folder + "/pairs.csv", size_t{1} << 26))}};
  result["timing"] = summary.at("timing").at("a_over_b");
  result["commit"] = summary.at("environment").at("commit");
  return result;
}

std::string difference_of_results(const Json& kept, const Json& again) {
  for (const auto& [field, value] : again.items()) {
    if (field == "timing" || field == "commit") continue;
    const std::string there = kept.contains(field) ? kept[field].dump() : "missing", here = value.dump();
    if (there != here)
      return fmt::format("{} is {} in the results, and {} when it is run again", field, there, here);
  }
  return "";
}

Json facts_of(const NormTable& table) {
  const NormResults results(table);
  Json norms = Json::array();
  for (const ListedNorm& norm : table.norms) {
    Json& one = norms.emplace_back(Json{{"name", norm.name},
                                        {"title", norm.title},
                                        {"contestant", norm.contestant},
                                        {"formula", norm.formula},
                                        {"source", norm.source},
                                        {"about", norm.about},
                                        {"results", Json::object()},
                                        {"second", Json::object()}});
    for (const std::string& text : table.texts)
      for (const auto& [field, round] : {std::pair("results", Round::first), {"second", Round::second}}) {
        const Json* const result = results.of(norm, text, round);
        one[field][text] = result == nullptr ? Json() : *result;
      }
  }
  return {{"against", table.against},     {"flags", table.flags}, {"second_flags", table.second_flags},
          {"max_pairs", table.max_pairs}, {"texts", table.texts}, {"norms", std::move(norms)}};
}

}  // namespace isobar::duel
