// Trained on: what the nets behind a measured value were and learned from, made from the run's settings.
//
//   trained_on(summary, "pre.layernorm_minus_rmsnorm.share_of_gain").en
//   // "4 blocks of width 64, 250 steps on Tiny Shakespeare, best rate of 1e-3,3e-3"
#pragma once

#include "../page/charts/plot.h"
#include "../run/json.h"

namespace isobar::claims {

// `summary` is that of a run, `key` one of its measured values. Empty: no net was trained for it.
Phrase trained_on(const Json& summary, const std::string& key);

// Whether the study trains nets for the value of this key; without a key, whether it trains any. A study that
// trained_on.cpp does not know counts as one that does: its claims must have a paper_size.
bool trains(const std::string& study, const std::string& key = "");

}  // namespace isobar::claims
