// Design: the settings of a study that repeats its comparisons in several, as the judge reads them
// (claims/over_settings.h).
#pragma once

#include <vector>

#include "../page/charts/plot.h"
#include "json.h"

namespace isobar {

// One factor of a design, such as the optimizer: its name, and the name of its level in each setting.
struct Factor {
  Phrase name;
  std::vector<Phrase> levels = {};
};

// {"factors": […], "settings": [{"name": …, "levels": […]}, …]}. `names` has the name of each setting.
inline Json design_json(const std::vector<Factor>& factors, const std::vector<Phrase>& names) {
  const auto both = [](const Phrase& phrase) { return Json{{"en", phrase.en}, {"zh", phrase.in_chinese()}}; };
  Json of_factors = Json::array(), settings = Json::array();
  for (const Factor& factor : factors) of_factors.push_back(both(factor.name));
  for (size_t i = 0; i < names.size(); ++i) {
    Json levels = Json::array();
    for (const Factor& factor : factors) levels.push_back(both(factor.levels[i]));
    settings.push_back({{"name", both(names[i])}, {"levels", levels}});
  }
  return {{"factors", of_factors}, {"settings", settings}};
}

}  // namespace isobar
