// The same training for several seeds: a folder DIR/seed_<seed> with a run of its own for each, and in DIR
// what they have in common.
#pragma once

#include "../harness/run.h"
#include "config.h"

namespace isobar {

// Calls train(part, config) for the seeds seed … seed + config.seeds − 1, one after the other, with the
// config of a single one. A seed whose folder holds a finished run with these settings is not trained again,
// and one that stopped goes on from its newest checkpoint, unless the run is forced. In the end `run` has the
// curves of all, the losses over the seeds and a chart. Throws Error where a folder holds another run.
void train_seeds(Run& run, const LmConfig& config,
                 const std::function<void(Run& part, const LmConfig& config)>& train);

}  // namespace isobar
