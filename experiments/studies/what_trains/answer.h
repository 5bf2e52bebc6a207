// Answer: does a net train? From the formulas and the kept map; nothing is trained.
#pragma once

#include "map.h"

namespace isobar::trains {

// The answer as text, for a net of any depth, width and scale, and a rate where one is asked for (0: none).
//
//   transformer of 12 blocks, width 768, no norm, AdamW; weights of std 0.02 (scale 0.554), embedding of std 0.02
//   predicted: learns in 100 steps at rates from 0.0012 to 0.021 (4.1 octaves)
//   …
std::string answer(const Map& map, const Net& net, double rate);

// Whether the net trains, by the formulas alone: at `rate`, or at any for 0.
bool predicted_to_train(const Map& map, const Net& net, double rate);

}  // namespace isobar::trains
