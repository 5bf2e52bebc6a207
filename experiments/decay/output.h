// How results leave the study: `layers` of summary.json, layers.csv, series of run.h5, tables and charts.
#pragma once

#include "reference.h"

namespace isobar::decay {

// {"layer": 1, "std": {…}, "mean": {…}, …, "theory": {…}}; layer 0 is the first.
Json layer_json(const Result& result, size_t layer);

// layers.csv: one row per layer, with median, min, max and nonfinite of every quantity.
Csv& open_layers_csv(Run& run);
void add_row(Csv& csv, const Result& result, size_t layer);

// /series/<prefix><quantity>: one row per run, one column per layer.
void record_series(Run& run, const std::string& prefix, const Result& result);

// std and gradient norm of every layer beside theory and what the source printed (NaN where nothing).
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

// --- The values that decide claims: measured over the seeds, each with the closed form beside it.

// Of one layer, 0 the first; "<prefix>layer8" and
//   .std  .grad_norm  .std_norm      of its output, of its weight, after its norm (where it has one)
//   .ratio                           std over the std of the layer below
//   .output_mean_over_std  .linear_mean_over_std    |mean| / std of its output, and after W1
//   .along_one  .linear_along_one                   share of the rows along (1, …, 1) of the same two
void measured_layer(Run& run, const std::string& prefix, const Result& result, size_t layer);

// Of the whole net; "<prefix>" and
//   grad_norm.last_over_first  grad_norm.first_over_last  std.last_over_first
//   grad_norm.squared_growth         of the squared gradient norm, per layer going down: the geometric mean over the
//                                    middle half of the layers
//   ratio.last_over_second           .ratio of the last layer over that of layer 2: 1 where it is constant
//   output_mean.lowest  .highest  linear_mean.lowest  .highest    signed, over all layers of a seed's net
void measured_net(Run& run, const std::string& prefix, const Result& result);

}  // namespace isobar::decay
