// What a trained model must have reached: our own ranges, and the floor that no model can go below.
#pragma once

#include "../harness/run.h"
#include "config.h"
#include "corpus.h"

namespace isobar {

void expect_results(Run& run, const LmConfig& config, const Corpus& corpus, double val_loss);

}  // namespace isobar
