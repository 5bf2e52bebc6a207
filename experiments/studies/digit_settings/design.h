// The settings in which comparisons of nets that learn digits are repeated: sixteen of the 24 combinations of
// weights × optimizer × batch × depth. README.md of this folder says how they were chosen.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "../../run/design.h"

namespace isobar::digit_settings {

struct Setting {
  const char* weights;    // "default", PyTorch's; "he_normal"; "orthogonal_sqrt2": names of nets/decay
  const char* optimizer;  // "sgd", with momentum; "adamw"
  bool large_batch, deep;
};

// PyTorch's weights with all eight combinations of optimizer, batch and depth; each of the others with the four of one
// half, in which every two of these three factors have each of their combinations once. So any two factors are balanced.
inline constexpr std::array<Setting, 16> settings = {{{"default", "sgd", false, false},
                                                      {"default", "sgd", false, true},
                                                      {"default", "sgd", true, false},
                                                      {"default", "sgd", true, true},
                                                      {"default", "adamw", false, false},
                                                      {"default", "adamw", false, true},
                                                      {"default", "adamw", true, false},
                                                      {"default", "adamw", true, true},
                                                      {"he_normal", "sgd", false, false},
                                                      {"he_normal", "sgd", true, true},
                                                      {"he_normal", "adamw", false, true},
                                                      {"he_normal", "adamw", true, false},
                                                      {"orthogonal_sqrt2", "sgd", false, true},
                                                      {"orthogonal_sqrt2", "sgd", true, false},
                                                      {"orthogonal_sqrt2", "adamw", false, false},
                                                      {"orthogonal_sqrt2", "adamw", true, true}}};

// The sizes for which the levels of batch and depth stand.
struct LevelSizes {
  int64_t small_batch = 16, large_batch = 64;  // images a step
  int64_t few_layers = 2, many_layers = 8;     // hidden layers, or blocks of two

  int64_t batch(const Setting& setting) const { return setting.large_batch ? large_batch : small_batch; }
  int64_t depth(const Setting& setting) const { return setting.deep ? many_layers : few_layers; }
};

inline std::vector<Factor> factors(const LevelSizes& sizes) {
  std::vector<Factor> all = {
      {{"weights", "权重"}}, {{"optimizer", "优化器"}}, {{"batch", "批大小"}}, {{"depth", "深度"}}};
  for (const Setting& setting : settings) {
    const std::string_view weights = setting.weights;
    all[0].levels.push_back(weights == "default"     ? Phrase{"PyTorch's default", "PyTorch 默认"}
                            : weights == "he_normal" ? Phrase{"He's", "He 初始化"}
                                                     : Phrase{"orthogonal · √2", "正交 · √2"});
    all[1].levels.emplace_back(std::string_view(setting.optimizer) == "sgd" ? "SGD" : "AdamW");
    all[2].levels.emplace_back(fmt::format("{}", sizes.batch(setting)));
    all[3].levels.emplace_back(fmt::format("{}", sizes.depth(setting)));
  }
  return all;
}

// "weights PyTorch's default, SGD, batch 16, depth 8"
inline Phrase name_of(const LevelSizes& sizes, size_t setting) {
  const std::vector<Factor> all = factors(sizes);
  const auto level = [&](size_t factor) { return all[factor].levels[setting]; };
  return Phrase{"weights ", "权重 "} + level(0) + Phrase{", ", "，"} + level(1) +
         Phrase{", batch ", "，批大小 "} + level(2) + Phrase{", depth ", "，深度 "} + level(3);
}

// What the judge reads.
inline Json design_of(const LevelSizes& sizes) {
  std::vector<Phrase> names;
  for (size_t i = 0; i < settings.size(); ++i) names.push_back(name_of(sizes, i));
  return design_json(factors(sizes), names);
}

}  // namespace isobar::digit_settings
