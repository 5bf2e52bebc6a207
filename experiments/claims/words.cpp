#include "words.h"

#include <algorithm>

namespace isobar::claims {

std::string text_of(const Verdict& verdict) {
  return verdict.word + (verdict.detail.en.empty() ? "" : ": " + verdict.detail.en);
}

Verdict todays_verdict(const std::string& word) {
  static const struct {
    const char* before;
    Verdict now;
  } table[] = {{"confirmed", {"true"}},
               {"refuted", {"false"}},
               {"refuted at this size", {"false", {"at this size", "在此规模上"}}},
               {"partly", {"depends", {"on the part", "取决于部分"}}},
               {"too few seeds", {"open", {"more seeds", "增加种子"}}},
               {"rule does not hold", {"open", {"another statistic", "换一个统计量"}}},
               {"machine too busy", {"open", {"an idle machine", "空闲的机器"}}},
               {"needs the full run", {"open", {"isobar verify --full", "isobar verify --full"}}},
               {"not borne out on this CPU", {"false", {"on this CPU", "在此 CPU 上"}}},
               {"not borne out on the task tried", {"false", {"on the task tried", "在所试任务上"}}},
               {"by definition", {"true"}},
               {"true by its source", {"true"}},
               {"false by its source", {"false"}},
               {"partly by its source", {"depends", {"on the part", "取决于部分"}}},
               {"cited, not checked", {"not tested", {"the text could not be read", "所说的文本无法读到"}}},
               {"not run here", {"not tested", {"a run could not be made", "所需的运行无法进行"}}},
               {"cannot be judged",
                {"not tested", {"the file asks for what there is not", "文件所要的运行或数值并不存在"}}}};
  const auto* found = std::ranges::find(table, word, [](const auto& row) { return std::string(row.before); });
  return found == std::end(table) ? Verdict{word} : found->now;
}

void use_todays_words(Json& claim) {
  const std::string word = claim.value("verdict", "");
  if (const Verdict verdict = todays_verdict(word); verdict.word != word)
    claim.update({{"verdict", verdict.word},
                  {"detail", verdict.detail.en},
                  {"detail_zh", verdict.detail.in_chinese()},
                  {"how", word == "by definition"           ? "proof"
                          : word.ends_with("by its source") ? "source"
                                                            : ""}});
  if (claim.contains("parts"))
    for (Json& part : claim["parts"])
      if (const std::string outcome = part.value("outcome", "");
          outcome == "too few seeds" || outcome == "machine too busy" || outcome == "rule does not hold")
        part["outcome"] = "open";
}

}  // namespace isobar::claims
