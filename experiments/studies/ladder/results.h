// Results: what the trainings of a ladder's rungs say of its contestants, seed by seed.
#pragma once

#include "../../claims/reach.h"
#include "../../run/run.h"
#include "../../run/sweep.h"
#include "config.h"

namespace isobar::ladder {

// One contestant on one rung with one optimizer: its search for a rate, and its trainings at the best one.
struct Cell {
  size_t rung;
  std::string optimizer, net;
  Sweep sweep = {};
  double rate = 0;
  std::vector<duel::Trained> trained = {};  // seed by seed
};

struct Results {
  std::vector<Rung> rungs;  // those measured
  std::vector<Phrase> names;
  std::vector<double> log2_compute;  // of a training's operations; of tokens a parameter where those climb
  std::vector<Cell> cells;           // rung by rung
  double blind_loss = 0;             // of the letters' frequencies

  // Null where the optimizer has no such net.
  const Cell* find(size_t rung, const std::string& optimizer, const std::string& net) const;
};

// Names and compute of the rungs, once their trainings are there.
void name_rungs(const Config& config, Results& results);

// Measures each comparison on each rung, and shows them; writes pairs.csv and rates.csv.
void publish(Run& run, const Config& config, const Results& results);

// The highest rung's comparisons with rmsnorm as those below foretell them: foretold.csv. Where that rung was
// measured, how many of the intervals cover it.
void publish_foretold(Run& run, const Config& config, const Results& results);

}  // namespace isobar::ladder
