// Answer: does a net train? From the formulas and the kept map; nothing is trained.
#pragma once

#include "map.h"
#include "prediction.h"

namespace isobar::trains {

// The rates at which a net is expected to learn: those of the measured net nearest to it, moved by what the formulas
// say that it differs; by the formulas alone where none is within two octaves of scale, depth and embedding together.
Borders expected_borders(const Map& map, const Net& net);

// The measured net that is nearest to a net, in octaves of scale, depth and embedding; null where none has its norm and
// optimizer.
const MeasuredNet* nearest_to(const Map& map, const Net& net);

// The answer as text, for a net of any depth, width and scale, and a rate where one is asked for (0: none).
//
//   transformer of 12 blocks, width 32, no norm, AdamW; weights of std 0.02 (scale 0.113), embedding of std 0.02
//   predicted: learns in 100 steps at rates from 0.0068 to 0.014 (1.0 octaves)
//   measured nearest: …
//   expected: …
//   so: no norm is needed: without one it trains at a std of its weights below 0.36
std::string answer(const Map& map, const Net& net, double rate);

// Whether the net trains, at `rate`, or at any for 0.
bool expected_to_train(const Map& map, const Net& net, double rate);

}  // namespace isobar::trains
