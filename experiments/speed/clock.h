// Timing by rounds: in each round every step has its turn, so that a slow moment of the machine hits all
// alike.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace isobar::speed {

using Step = std::function<void()>;

// Seconds of one step, by step and round. Each turn repeats its step for about `turn_seconds`, how often
// being found out before the first round. Between turns the order stays.
std::vector<std::vector<double>> time_rounds(const std::vector<Step>& steps, int64_t rounds,
                                             double turn_seconds);

// a = b + s · c (McCalpin's STREAM triad) over three arrays of `count` floats, with plain stores: 12 bytes an
// element, the measure for what memory delivers.
Step triad_step(int64_t count);

}  // namespace isobar::speed
