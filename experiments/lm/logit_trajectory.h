// Trajectory: the attention logits of one model while it trains.
#pragma once

#include <vector>

#include "../../nn/attention_logits.h"
#include "../harness/run.h"

namespace isobar {

// A value per log step, the largest over the layers.
struct Trajectory {
  std::vector<double> logit, capped, bound, val_loss;
  std::vector<std::vector<Csv::Cell>> rows;  // of logits.csv: one per log step and layer
  double past_bound = 0;     // how far a logit passed its layer's bound at worst, as a share of it
  double rebuild_error = 0;  // at worst

  // A log step. `row` holds the first cells of its rows: model, seed, step.
  void add(const std::vector<LogitPeaks>& layers, double loss, const std::vector<Csv::Cell>& row);
};

// Over the seeds, in their order.
using Series = std::vector<double> Trajectory::*;
std::vector<double> at_look(const std::vector<Trajectory>& runs, Series series, size_t number);
std::vector<double> at_end(const std::vector<Trajectory>& runs, Series series);
double worst(const std::vector<Trajectory>& runs, double Trajectory::*value);
// a / b, pair by pair.
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace isobar
