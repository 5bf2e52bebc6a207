// The same training for several seeds: each has a run in DIR/seed_<seed>, and DIR what they have in common.
#pragma once

#include "../run/run.h"
#include "training/config.h"

namespace isobar {

// In a run's environment: the checksum of the weights that --init_from names.
inline constexpr const char* init_from_key = "init_from";

// Calls train(part, config) for one seed after the other, unless its folder holds a finished run with these
// settings, of the same sources, data and first weights, or of others and --accept-old is given; one that stopped goes
// on from its newest checkpoint. In the end `run` has the curves of all, the
// losses over the seeds and a chart. Throws Error where a folder holds another run.
void train_seeds(Run& run, const LmConfig& config,
                 const std::function<void(Run& part, const LmConfig& config)>& train);

}  // namespace isobar
