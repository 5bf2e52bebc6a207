#include "reach_finding.h"

#include <set>

#include "../page/charts/shapes.h"

namespace isobar::claims {
namespace {

constexpr size_t fewest_rungs = 3;

}  // namespace

std::vector<Phrase> ReachFinding::short_names() const {
  std::vector<Phrase> names;
  std::set<std::string> different;
  for (const Phrase& rung : rungs) {
    names.emplace_back(rung.en.substr(0, rung.en.find(',')), rung.zh.substr(0, rung.zh.find("，")));
    different.insert(names.back().en);
  }
  return different.size() == names.size() ? names : rungs;
}

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
  finding.rungs_of_ladder = rungs.size();
  if (finding.rungs.size() >= fewest_rungs) {
    finding.reach = reach_of(part.predicate, finding.log2_compute, finding.spreads);
    return;
  }
  finding.none = filled({"the run {} measured '{}' at {} of {} sizes; wanted {} or more",
                         "运行 {0} 仅在 {2}（共 {3}）个规模上测得“{1}”；至少要 {4} 个"},
                        part.reach_run, finding.key, finding.rungs.size(), rungs.size(), fewest_rungs);
}

Phrase text_of(const ReachFinding& f) {
  Phrase text = f.optimizer + Phrase{": ", "："};
  if (!f.none.en.empty()) return text + Phrase{"no reach: ", "无适用范围："} + f.none;
  text += text_of(f.reach, f.short_names());
  if (f.rungs.size() < f.rungs_of_ladder)
    text +=
        filled({", measured on {} of {}", "，在 {} / {} 个规模上测得"}, f.rungs.size(), f.rungs_of_ladder);
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
