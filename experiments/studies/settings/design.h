// The settings in which comparisons are repeated: a fraction of a factorial design, sixteen of the 48 combinations of
// weights × embedding × optimizer × text × steps. README.md of this folder says how they were chosen.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "../../run/design.h"

namespace isobar::across {

// The std of the initial weights: 0.02, as in nanoGPT; 1/√width; 1.6/√width. Matrices that end a branch have
// 1/√(2 n_layer) of it.
enum class Weights { nanogpt, fan_in, large };
inline double init_std(Weights weights, int64_t width) {
  if (weights == Weights::nanogpt) return 0.02;
  return (weights == Weights::fan_in ? 1 : 1.6) / std::sqrt(static_cast<double>(width));
}

struct Setting {
  Weights weights;
  double embedding_std;
  const char* optimizer;  // "adamw", "muon"
  const char* text;       // "shakespeare", "synthetic"
  bool is_long;
};

// Any two factors are balanced: two of their levels occur together as often as their own frequencies say.
inline constexpr std::array<Setting, 16> settings = {{{Weights::nanogpt, 0.02, "adamw", "shakespeare", true},
                                                      {Weights::nanogpt, 0.02, "adamw", "synthetic", false},
                                                      {Weights::nanogpt, 1, "muon", "shakespeare", false},
                                                      {Weights::nanogpt, 1, "muon", "synthetic", false},
                                                      {Weights::fan_in, 0.02, "adamw", "shakespeare", false},
                                                      {Weights::fan_in, 0.02, "adamw", "synthetic", false},
                                                      {Weights::fan_in, 0.02, "muon", "shakespeare", false},
                                                      {Weights::fan_in, 0.02, "muon", "synthetic", true},
                                                      {Weights::fan_in, 1, "adamw", "shakespeare", false},
                                                      {Weights::fan_in, 1, "adamw", "synthetic", false},
                                                      {Weights::fan_in, 1, "muon", "shakespeare", true},
                                                      {Weights::fan_in, 1, "muon", "synthetic", false},
                                                      {Weights::large, 0.02, "muon", "shakespeare", false},
                                                      {Weights::large, 0.02, "muon", "synthetic", false},
                                                      {Weights::large, 1, "adamw", "shakespeare", false},
                                                      {Weights::large, 1, "adamw", "synthetic", true}}};

// How many steps trainings have.
struct Steps {
  int64_t few = 250, many = 750;

  int64_t of(const Setting& setting) const { return setting.is_long ? many : few; }
};

inline std::vector<Factor> factors(const Steps& steps) {
  std::vector<Factor> all = {{{"weights", "权重"}},
                             {{"embedding", "嵌入"}},
                             {{"optimizer", "优化器"}},
                             {{"text", "文本"}},
                             {{"steps", "步数"}}};
  const Phrase weights[] = {"0.02", {"1/√width", "1/√宽"}, {"1.6/√width", "1.6/√宽"}};
  for (const Setting& setting : settings) {
    all[0].levels.push_back(weights[static_cast<size_t>(setting.weights)]);
    all[1].levels.emplace_back(fmt::format("{:g}", setting.embedding_std));
    all[2].levels.emplace_back(std::string_view(setting.optimizer) == "muon" ? "Muon" : "AdamW");
    all[3].levels.push_back(std::string_view(setting.text) == "synthetic"
                                ? Phrase{"the synthetic language", "合成语言"}
                                : Phrase{"Tiny Shakespeare"});
    all[4].levels.emplace_back(fmt::format("{}", steps.of(setting)));
  }
  return all;
}

// "weights 0.02, embedding 1, Muon, the synthetic language, 250 steps"
inline Phrase name_of(const Steps& steps, size_t setting) {
  const std::vector<Factor> all = factors(steps);
  const auto level = [&](size_t factor) { return all[factor].levels[setting]; };
  return Phrase{"weights ", "权重 "} + level(0) + Phrase{", embedding ", "，嵌入 "} + level(1) +
         Phrase{", ", "，"} + level(2) + Phrase{", ", "，"} + level(3) + Phrase{", ", "，"} + level(4) +
         Phrase{" steps", " 步"};
}

// What the judge reads.
inline Json design_of(const Steps& steps) {
  std::vector<Phrase> names;
  for (size_t i = 0; i < settings.size(); ++i) names.push_back(name_of(steps, i));
  return design_json(factors(steps), names);
}

}  // namespace isobar::across
