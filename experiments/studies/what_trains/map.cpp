#include "map.h"

#include <algorithm>

#include "../../../data/json_text.h"
#include "../../run/stats.h"

namespace isobar::fixtures {
extern const char what_trains[];
}

namespace isobar::trains {
namespace {

template <class Value>
std::map<double, bool> along(const Map& map, const Net& like, Value Net::*value) {
  std::map<double, bool> trains;
  for (const MeasuredNet& one : map.nets) {
    Net same = one.net;
    same.*value = like.*value;
    if (same == like) trains[static_cast<double>(one.net.*value)] = one.window.has_value();
  }
  return trains;
}

Json json_of(const std::optional<int64_t>& octave) { return octave ? Json(*octave) : Json(); }

std::optional<int64_t> octave_from(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<int64_t>());
}

}  // namespace

double MeasuredNet::sensitivity() const {
  const Rates rates = rates_of(net.optimizer);
  double missed = 0, n = 0;
  for (const auto& [octave, gain] : cells)
    if (octave >= rates.first && octave <= rates.last && (octave - rates.first) % 2 == 0) {
      missed += best_gain - std::max(gain, 0.0);
      ++n;
    }
  return missed / n;
}

std::map<double, bool> Map::along_scale(const Net& net) const { return along(*this, net, &Net::scale); }
std::map<double, bool> Map::along_depth(const Net& net) const { return along(*this, net, &Net::depth); }

Json to_json(const Map& map) {
  Json nets = Json::array();
  for (const MeasuredNet& one : map.nets) {
    Json json = one.net.settings();
    json["width"] = one.net.width;
    json["best_gain"] = one.best_gain;
    json["best_rate"] = one.best_rate;
    json["start_logits"] = one.start_logits;
    json["change_over_rate"] = one.change_over_rate;
    if (one.window)
      json["window"] = {json_of(one.window->below), one.window->low, one.window->high,
                        json_of(one.window->above)};
    Json cells = Json::array();
    for (const auto& [octave, gain] : one.cells) cells.push_back({octave, gain});
    json["cells"] = cells;
    nets.push_back(json);
  }
  return {{"steps", map.steps}, {"enough", map.enough}, {"best", map.best}, {"nets", nets}};
}

Map map_from(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  check(json.is_object() && json.contains("nets"), "map.json: wanted a map of what_trains, got other text");
  Map map{.steps = json.at("steps"), .enough = json.at("enough"), .best = json.at("best")};
  for (const Json& one : json.at("nets")) {
    MeasuredNet net;
    net.net = {.task = one.at("task"),
               .norm = one.at("norm"),
               .optimizer = one.at("optimizer"),
               .depth = one.at("depth"),
               .width = one.at("width"),
               .scale = one.at("scale"),
               .embedding_std = one.value("embedding_std", 1.0)};
    net.best_gain = number_from(one.at("best_gain"));
    net.best_rate = one.at("best_rate");
    net.start_logits = number_from(one.at("start_logits"));
    net.change_over_rate = number_from(one.at("change_over_rate"));
    if (one.contains("window")) {
      const Json& window = one["window"];
      net.window = Window{.low = window.at(1),
                          .high = window.at(2),
                          .below = octave_from(window.at(0)),
                          .above = octave_from(window.at(3))};
    }
    for (const Json& cell : one.at("cells")) net.cells.emplace_back(cell.at(0), number_from(cell.at(1)));
    map.nets.push_back(net);
  }
  return map;
}

const Map& kept_map() {
  static const Map map = map_from(fixtures::what_trains);
  return map;
}

}  // namespace isobar::trains
