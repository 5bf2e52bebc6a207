#include "norms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "../run/stats.h"

namespace isobar::report {
namespace {

using charts::element;
using charts::Markup;

struct OutcomeClass {
  const char* outcome;
  Phrase word;
  const char* colour;  // its class in the style sheet
};
const OutcomeClass outcome_classes[] = {{"better", {"better", "较好"}, "good"},
                                        {"equal", {"equal", "相等"}, "read"},
                                        {"undecided", {"not decided", "未决出"}, "plain"},
                                        {"worse", {"worse", "较差"}, "bad"}};

Markup in_both(const char* tag, const Phrase& text, const charts::Attributes& attributes = {}) {
  return element(tag, attributes, Markup(text, "span"));
}

std::string nats(const Json& value) {
  const double number = number_from(value);
  if (!std::isfinite(number)) return charts::number(number);
  return (number < 0 ? "−" : "+") + fmt::format("{:.3f}", std::abs(number));
}

// "−0.002 [−0.021, +0.017]"
Phrase difference_of(const Json& result) {
  if (result.at("likeness") != "different") return {"the same function", "同一函数"};
  return nats(result.at("difference")) + " [" + nats(result.at("low")) + ", " + nats(result.at("high")) + "]";
}

// "–" where there is none.
std::string number_or_dash(const Json& value) {
  const double number = number_from(value);
  return std::isnan(number) ? "–" : charts::plain(number);
}

// The largest rate, the time of a step, and where signal and gradient die: of the norm, side 0, or of RMSNorm, side 1.
Markup cells_of_net(const Json& result, size_t side) {
  const auto of_side = [&](const char* field) { return number_or_dash(result.at(field).at(side)); };
  const Json& timing = result.at("timing");
  const std::string step =
      side == 1 ? "1"
                : charts::number(number_from(timing.at("step")), 2) + (timing.at("busy") == true ? "*" : "");
  Markup cells;
  for (const std::string& text :
       {of_side("largest_rates"), step, of_side("signal_dies"), of_side("gradient_dies")})
    cells += in_both("td", text);
  return cells;
}

// What the second round found, of a norm that has one.
Phrase second_of(const Json& norm, const std::string& text) {
  const Json &first = norm.at("results").at(text).at("outcome"), &second = norm.at("second").at(text);
  if (first != "better" && first != "worse") return "";
  if (second.is_null()) return {"not measured yet", "尚未测量"};
  for (const auto& [outcome, word, colour] : outcome_classes)
    if (second.at("outcome") == outcome) return word + " " + difference_of(second);
  return "";
}

Markup row_of(const Json& norm, const std::string& text, bool has_second) {
  const Json& result = norm.at("results").at(text);
  const Markup name = Markup(norm.at("title").get<std::string>()) +
                      element("small", {}, Markup(norm.at("formula").get<std::string>()));
  Markup cells = element("th", {{"scope", "row"}}, name) + in_both("td", difference_of(result)) +
                 in_both("td", fmt::format("{}", result.at("pairs").get<int64_t>())) +
                 cells_of_net(result, 0);
  if (has_second) cells += in_both("td", second_of(norm, text));
  return element("tr", {}, cells);
}

// The norms of an outcome on this text, from the least difference on.
std::vector<const Json*> norms_with(const Json& norms, const std::string& text, const std::string& outcome) {
  std::vector<const Json*> some;
  for (const Json& norm : norms)
    if (const Json& result = norm.at("results").at(text);
        !result.is_null() && result.at("outcome") == outcome)
      some.push_back(&norm);
  std::ranges::stable_sort(
      some, {}, [&](const Json* norm) { return number_from((*norm)["results"][text]["difference"]); });
  return some;
}

// Whether a norm has its "results" on this text, or its "second" ones.
auto has(const char* field, const std::string& text) {
  return [field, text](const Json& norm) { return !norm.at(field).at(text).is_null(); };
}

// "Tiny Shakespeare: 3 better, 11 equal, 10 not decided, 11 worse"
Phrase counts_of(const Json& norms, const std::string& text) {
  std::vector<Phrase> counts;
  const auto count = [&](size_t n, const Phrase& word) {
    if (n > 0) counts.push_back(fmt::format("{} ", n) + word);
  };
  for (const auto& [outcome, word, colour] : outcome_classes)
    count(norms_with(norms, text, outcome).size(), word);
  const auto missing = std::ranges::count_if(norms, std::not_fn(has("results", text)));
  count(static_cast<size_t>(missing), {"not measured yet", "尚未测量"});
  return (text == "shakespeare" ? "Tiny Shakespeare" : Phrase{"The synthetic language", "合成语言"}) + ": " +
         charts::joined(counts, ", ");
}

Markup table_of(const Json& norms, const std::string& text) {
  const bool has_second = std::ranges::any_of(norms, has("second", text));
  std::vector<Phrase> heads = {{"norm", "归一化"},   {"difference, nats", "差，奈特"},
                               {"pairs", "配对数"},  {"largest rate", "最大学习率"},
                               {"step", "每步耗时"}, {"signal", "信号"},
                               {"gradient", "梯度"}};
  if (has_second) heads.push_back({"with Muon", "用 Muon"});
  Markup head;
  for (const Phrase& name : heads) head += in_both("th", name);
  Markup table = element("thead", {}, element("tr", {}, head));
  if (const auto any = std::ranges::find_if(norms, has("results", text)); any != norms.end())
    table += element("tbody", {},
                     element("tr", {},
                             in_both("th", "RMSNorm", {{"scope", "row"}}) + in_both("td", "0") +
                                 in_both("td", "") + cells_of_net(any->at("results").at(text), 1) +
                                 (has_second ? in_both("td", "") : Markup())));
  for (const auto& [outcome, word, colour] : outcome_classes) {
    Markup rows;
    for (const Json* norm : norms_with(norms, text, outcome)) rows += row_of(*norm, text, has_second);
    if (rows.empty()) continue;
    const Markup name = in_both("th", word, {{"scope", "rowgroup"}}) +
                        in_both("td", "", {{"colspan", fmt::format("{}", heads.size() - 1)}});
    table += element("tbody", {}, element("tr", {{"class", colour}}, name) + rows);
  }
  return element("table", {}, table);
}

}  // namespace

Markup norms_section(const Json& facts) {
  if (facts.is_null()) return {};
  const std::string pairs = fmt::format("{}", facts.at("max_pairs").get<int64_t>());
  const Phrase note = {
      "Norms that papers propose, each in a duel with RMSNorm (isobar duel --table): language models of 4 blocks, 64 wide, "
      "250 steps of AdamW, each norm at its best learning rate, at most " +
          pairs +
          " pairs of seeds. The difference is the norm's loss minus RMSNorm's, with the interval that decides: below 0 the "
          "norm is better, and within 0.03 it is equal. The largest rate is the largest learning rate at which the net "
          "learns. A step's time is divided by that with RMSNorm; *: other programs were running. Signal and gradient: "
          "after so many layers of a plain chain with this norm they are a thousandth or a thousand times as large; ∞: "
          "never; –: there is none.",
      "论文提出的各种归一化，各与 RMSNorm 对决（isobar duel --table）：语言模型，4 块，宽 64，AdamW 训练 250 步，各取最佳学习率，至多 " +
          pairs +
          " 对种子。差为其损失减去 RMSNorm 的损失，附作判定的区间：小于 0 则较好，在 0.03 以内为相等。最大学习率：网络仍能学习的最大学习率。"
          "每步耗时为与 RMSNorm 之比；*：测时另有程序在运行。信号与梯度：在带此归一化的普通网络中，经过多少层后缩小到千分之一或增大到一千倍；"
          "∞：从不；–：没有。"};
  Markup tables;
  for (const Json& name : facts.at("texts")) {
    const std::string text = name;
    tables += element("details", {{"class", "fold"}},
                      in_both("summary", counts_of(facts.at("norms"), text)) +
                          element("div", {{"class", "wide"}}, table_of(facts.at("norms"), text)));
  }
  return element("section", {{"id", "norms"}, {"class", "appendix"}},
                 in_both("h2", {"Norms beside RMSNorm", "与 RMSNorm 相比的各种归一化"}) +
                     in_both("p", note, {{"class", "note"}}) + tables);
}

}  // namespace isobar::report
