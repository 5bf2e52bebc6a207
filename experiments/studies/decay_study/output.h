// How results leave the study: `layers` of summary.json, layers.csv, series of run.h5, tables and charts.
#pragma once

#include "../../nets/decay/reference.h"

namespace isobar::decay {

// layers.csv: one row per layer, with median, min, max and nonfinite of every quantity.
Csv& open_layers_csv(Run& run);
// A layer, 0 the first: its row, its measured values "<prefix>layer8.…" (README.md explains them), each with the
// closed form beside it, and what it is in summary.json: {"layer": 8, "std": {…}, …, "theory": {…}}.
Json publish_layer(Run& run, Csv& csv, const std::string& prefix, const Result& result, size_t layer);
// The measured values "<prefix>…" of the whole net.
void measured_net(Run& run, const std::string& prefix, const Result& result);

// /series/<prefix><quantity>: one row per run, one column per layer.
void record_series(Run& run, const std::string& prefix, const Result& result);

// std and gradient norm of every layer beside theory and what the source printed (NaN where nothing).
struct PrintedColumns {
  std::vector<double> std, weight_gradient_norm;
};
void plot_layers(Run& run, const Result& result, const PrintedColumns& printed);

// The number of std and gradient norm of every seed and layer (bits.h): equal for equal bits.
std::string bits_of(const Result& result);

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
