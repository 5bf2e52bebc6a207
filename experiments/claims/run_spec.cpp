#include "run_spec.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../data/utf8_stream.h"
#include "../harness/about.h"
#include "../harness/nearest.h"

namespace isobar::claims {
namespace {

std::vector<std::string> words_between_spaces(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Flags that belong to whoever runs `verify`, or that name files: a claim file says what is run, not where.
const std::vector<std::string> users_flags = {
    "out",    "threads", "config",    "print_config", "json",  "force",
    "resume", "help",    "help_all",  "version",      "mnist", "seed",
    "h",      "profile", "log_level", "rank_timeout", "about"};

// The flags of a field, each checked as far as a text can tell. What the study itself says of them comes later.
std::vector<std::string> flags_of(TomlTable& table, const char* field) {
  std::vector<std::string> words = words_between_spaces(table.text_or(field, ""));
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (std::find(users_flags.begin(), users_flags.end(), setting_of(name)) != users_flags.end())
      table.refuse(table.line_of(field),
                   fmt::format("{}: {} is not for a file of claims to say; drop it", field, name));
    const bool corpus = setting_of(name) == "corpus";
    const std::string value = words[i].size() > name.size()    ? words[i].substr(name.size() + 1)
                              : corpus && i + 1 < words.size() ? words[i + 1]
                                                               : "";
    if (corpus && value != "synthetic")
      table.refuse(table.line_of(field), fmt::format("{}: wanted --corpus synthetic or no --corpus, got '{}'",
                                                     field, one_line(value)));
    if (words[i].find('/') != std::string::npos)
      table.refuse(
          table.line_of(field),
          fmt::format("{}: '{}' looks like a path; a file of claims names none", field, one_line(words[i])));
  }
  return words;
}

}  // namespace

std::string setting_of(const std::string& word) {
  if (word.size() < 2 || word[0] != '-' || std::isdigit(static_cast<unsigned char>(word[1])) != 0 ||
      word[1] == '.')
    return "";
  std::string name = word.substr(0, word.find('='));
  name.erase(0, name.find_first_not_of('-'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<std::string> studies() {
  std::vector<std::string> names = study_names();
  std::erase(names, "train_lm");  // its flags name files
  return names;
}

RunSpec read_run(const std::string& name, TomlTable& table) {
  table.allow({"study", "flags", "quick", "full"});
  RunSpec run{
      .name = name, .study = table.text("study"), .flags = {}, .quick = {}, .full = {}, .line = table.line()};
  if (!std::all_of(name.begin(), name.end(),
                   [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }))
    table.refuse(run.line, "wanted a name of letters, digits and _");
  const std::vector<std::string> known = studies();
  if (std::find(known.begin(), known.end(), run.study) == known.end())
    table.refuse(table.line_of("study"),
                 fmt::format("study: wanted one of {}, got '{}'{}", fmt::join(known, ", "),
                             one_line(run.study), did_you_mean(run.study, known)));
  run.flags = flags_of(table, "flags");
  run.quick = flags_of(table, "quick");
  run.full = flags_of(table, "full");
  return run;
}

}  // namespace isobar::claims
