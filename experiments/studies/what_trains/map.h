// Map: what was measured of every net, as text (map.json) and back; the kept one is a part of the program.
#pragma once

#include "search.h"

namespace isobar::trains {

struct MeasuredNet {
  Net net;
  double best_gain = 0, best_rate = 0;
  std::optional<Window> window = std::nullopt;         // none: it learns at no rate
  std::vector<std::pair<int64_t, double>> cells = {};  // octave and median gain, in the order of octaves
  // Of the first training: the rms of the first logits, and their relative change by the first step over the rate.
  double start_logits = 0, change_over_rate = 0;

  // The mean over the coarse rates of what a training misses of the best gain, one that is worse than blind guessing
  // counting as that: the learning-rate sensitivity of Wortsman et al. 2023 (arXiv 2309.14322), equation 1.
  double sensitivity() const;
};

struct Map {
  int64_t steps = 0;
  std::map<std::string, double> enough = {};  // by task: the gain that is learning
  std::map<std::string, double> best = {};    // by task: the best cell's gain
  std::vector<MeasuredNet> nets = {};

  // By scale or depth, which nets of a line train at some rate: those equal to `net` but for that one number.
  std::map<double, bool> along_scale(const Net& net) const;
  std::map<double, bool> along_depth(const Net& net) const;
};

Json to_json(const Map& map);
// Throws Error where the text is not a map's.
Map map_from(const std::string& text);
// fixtures/what_trains.json: of the full run.
const Map& kept_map();

}  // namespace isobar::trains
