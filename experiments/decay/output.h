// How the study's results leave it: the `layers` of summary.json, layers.csv, the series of run.h5, and the
// table and charts on the terminal.
#pragma once

#include <string>
#include <vector>

#include "../harness/run.h"
#include "agreement.h"
#include "reference.h"
#include "result.h"

namespace isobar::decay {

// {"layer": 1, "std": {…}, "mean": {…}, …, "theory": {…}}; layer 0 is the first.
Json layer_json(const Result& result, size_t layer);

// layers.csv: one row per layer, with median, min, max and nonfinite of every quantity.
Csv& open_layers_csv(Run& run);
void add_row(Csv& csv, const Result& result, size_t layer);

// /series/<prefix><quantity>: one row per run, one column per layer.
void record_series(Run& run, const std::string& prefix, const Result& result);

// std and gradient norm of every layer beside theory and what the source printed of them (by layer, NaN where
// nothing).
struct PrintedColumns {
  std::vector<double> std, weight_gradient_norm;
};
void plot_layers(Run& run, const Result& result, const PrintedColumns& printed);

// At most 24 layers, evenly chosen, as a table; std and gradient norm as charts.
void print_layers(Run& run, const Result& result);

// --- for depth_table
// A cell of the reference, the same of ours, and theory's prediction with how ours agrees with it.
struct ComparedCell {
  std::string quantity;  // "std.output" or "grad_norm.weight"
  ReferenceCell reference;
  Comparison ours;
  Prediction theory;
  Agreement agreement;
};
std::vector<ComparedCell> compare(const Result& result, const Reference& reference);
bool all_agree(const std::vector<ComparedCell>& cells);
// {"topology": …, …, "agrees": true, "cells": [{"quantity": "std.output", "layer": 1, …}, …]}
Json compared_json(const Config& config, const std::vector<ComparedCell>& cells);

// One row per net, and a chart of the deepest nets' first gradients.
void print_comparison(Run& run, const std::vector<std::pair<Config, std::vector<ComparedCell>>>& nets);

}  // namespace isobar::decay
