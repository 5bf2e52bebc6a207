// Plot: curves that the report draws, as data. A study says what belongs together; how it is drawn is the
// report's business.
//
//   run.plot({.title = "std of each layer's output", .x = "layer", .y = "std", .log = true, .curves = {…}});
#pragma once

#include <string>
#include <vector>

#include "json.h"
#include "stats.h"

namespace isobar {

enum class Role { measured, theory, printed };  // printed: the points of a source

struct PlotCurve {
  std::string label;
  Role role = Role::measured;
  std::vector<double> x = {}, y = {};       // of one length; a NaN or infinity leaves a gap
  std::vector<double> low = {}, high = {};  // of the same length, or empty: no band

  // A point over the seeds: the median, in the band from the least to the greatest value.
  void add(double at, const Spread& spread);
};

struct Plot {
  std::string title, x, y;  // the labels of the axes, with units
  bool log = false;         // the y axis
  std::vector<PlotCurve> curves;
  // One name for the same plot of other runs, which can be laid over this one: "std". Empty: made from the
  // title.
  std::string key = "";
  // Pieces of the keys of measured values that it shows, for the claims that they decide: {".std"}. Empty:
  // all.
  std::vector<std::string> figures = {};
  // Where x counts things, their names: tick[i] is at x = i, and no line joins the points.
  std::vector<std::string> ticks = {};
};

// {"key": …, "title": …, "x": …, "y": …, "log": …, "figures": […], "ticks": […], "curves": [{"label": …,
// "role": "measured", "points": [[x, low, y, high], …]}]}; where there is no band, low and high are y.
// Throws Error when lengths differ.
Json to_json(const Plot& plot);

// A chart of many rows over time, such as the std of every layer at every log step: a row per name, a column per
// x.
struct Heatmap {
  std::string title, x, value;  // what the columns count and the colours mean
  bool log = false;             // the colours
  std::vector<double> columns = {};
  std::vector<std::string> rows = {};
  std::vector<std::vector<double>> values = {};  // by row; not finite: left empty
};

// The same fields. Throws Error unless there is a value for each row and column.
Json to_json(const Heatmap& heatmap);

// How the values of modules are spread on a signed logarithmic scale, and how that changes over the steps.
struct Ridges {
  std::string title, title_zh;
  std::string quantity;  // "activation" or "gradient"
  std::vector<std::string> modules = {};
  std::vector<double> steps = {}, edges = {};                 // an edge more than bins
  std::vector<std::vector<std::vector<double>>> shares = {};  // of all values, by step, module and bin
  std::vector<std::vector<double>> zeros = {};                // the share of zeros, by step and module
};

// The same fields; shares are rounded to 1e-4. Throws Error unless there is one for each step, module and
// bin.
Json to_json(const Ridges& ridges);

}  // namespace isobar
