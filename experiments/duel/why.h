// Why: which measured fact explains that one of both is better. Each reason is an experiment or a comparison of
// what was trained; one that accounts for less than half of the difference explains nothing.
#pragma once

#include "findings.h"
#include "trainings.h"

namespace isobar::duel {

// The gain of a contestant's norm; NaN where it has none.
double gain_of(const Contestant& contestant, int64_t width);

// May train a few nets more: the worse side with the gain of the better one. All ranks call it.
std::vector<Reason> reasons_of(
    const Findings& found, const std::function<std::vector<Trained>(double rate, double gain)>& train_loser);

}  // namespace isobar::duel
