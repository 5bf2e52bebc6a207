#include "reach_finding.h"

#include <set>

#include "../charts/shapes.h"

namespace isobar::claims {
namespace {

constexpr size_t fewest_rungs = 3;

// "48 wide" of "48 wide, 140 steps", where that tells the rungs apart.
std::vector<Phrase> short_names(const std::vector<Phrase>& names) {
  std::vector<Phrase> all;
  std::set<std::string> different;
  for (const Phrase& name : names) {
    all.emplace_back(name.en.substr(0, name.en.find(',')), name.zh.substr(0, name.zh.find("，")));
    different.insert(all.back().en);
  }
  return different.size() == names.size() ? all : names;
}

}  // namespace

Phrase optimizer_of(const std::string& key) {
  const std::pair<const char*, const char*> words[] = {
      {"adamw", "AdamW"}, {"muon", "Muon"}, {"sgd", "SGD"}, {"_minus_", " − "}};
  std::string text = key.substr(0, key.find('.'));
  for (const auto& [word, shown] : words)
    if (const size_t at = text.find(word); at != std::string::npos)
      text.replace(at, std::string_view(word).size(), shown);
  return text;
}

void read_reach(ReachFinding& finding, const Part& part, const Json& ladder) {
  const Json rungs = ladder.value("rungs", Json::array()),
             measured = ladder.value("measured", Json::object());
  for (size_t i = 0; i < rungs.size(); ++i) {
    const std::string key = fmt::format("{}.rung{}", finding.key, i + 1);
    if (!measured.contains(key)) continue;
    const Json& name = rungs[i].at("name");
    finding.rungs.emplace_back(name.at("en").get<std::string>(), name.value("zh", ""));
    finding.log2_compute.push_back(number_from(rungs[i].at("log2_compute")));
    finding.spreads.push_back(spread_from(measured[key]));
  }
  if (finding.rungs.size() >= fewest_rungs) {
    finding.reach = reach_of(part.predicate, finding.log2_compute, finding.spreads);
    return;
  }
  finding.none = fmt::format("the run {} measured '{}' on {} of {} rungs; wanted {} or more", part.reach_run,
                             finding.key, finding.rungs.size(), rungs.size(), fewest_rungs);
}

Phrase text_of(const ReachFinding& f) {
  Phrase text = f.optimizer + Phrase{": ", "："};
  if (!f.none.empty()) return text + Phrase{"no reach: ", "没有范围："} + f.none;
  const std::vector<Phrase> names = short_names(f.rungs);
  text += text_of(f.reach, names);
  if (f.reach.word != ReachWord::flips)
    text += filled({", {} to {}", "，{}至{}"}, names.front(), names.back());
  return f.kept ? text + Phrase{" (kept)", "（保存值）"} : text;
}

Phrase text_of(const std::vector<ReachFinding>& findings) {
  std::vector<Phrase> texts;
  for (const ReachFinding& finding : findings) texts.push_back(text_of(finding));
  return charts::joined(texts, "; ");
}

const char* word_of(ReachWord word) {
  constexpr const char* words[] = {"holds", "fails", "flips", "grows", "fades", "undecided"};
  return words[static_cast<size_t>(word)];
}

}  // namespace isobar::claims
