// What a chart shows, as data: curves, maps and ridges. A study says what belongs together; how it is drawn
// is the charts' business. The standard library is enough, so that a study in a browser can make one too.
//
//   run.plot({.title = {"std of each layer", "各层的标准差"}, .x = …, .y = "std", .log = true, .curves = {…}});
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace isobar {

struct Spread;  // run/stats.h

// A text for a reader, in English and in Chinese; what is the same in both, such as a symbol, stands once.
struct Phrase {
  std::string en, zh;

  Phrase() = default;
  Phrase(const char* both) : en(both) {}
  Phrase(std::string both) : en(std::move(both)) {}
  Phrase(std::string english, std::string chinese) : en(std::move(english)), zh(std::move(chinese)) {}
  bool operator==(const Phrase&) const = default;
  const std::string& in_chinese() const { return zh.empty() ? en : zh; }
  bool one() const { return in_chinese() == en; }
  friend Phrase operator+(const Phrase& a, const Phrase& b) {
    return {a.en + b.en, a.one() && b.one() ? "" : a.in_chinese() + b.in_chinese()};
  }
  Phrase& operator+=(const Phrase& more) { return *this = *this + more; }
};

enum class Role { measured, theory, printed };  // printed: the points of a source

struct PlotCurve {
  Phrase label;
  Role role = Role::measured;
  std::vector<double> x = {}, y = {};       // of one length; a NaN leaves a gap
  std::vector<double> low = {}, high = {};  // of the same length, or empty: no band
  int colour = -1;                          // its number in the palette; -1: as its role and place demand
  std::string run = "";                     // where curves of several runs are one plot: its own

  // A point over the seeds: the median, in the band from the least to the greatest value.
  void add(double at, const Spread& spread);
};

struct Plot {
  Phrase title, x, y;  // the labels of the axes, with units
  bool log = false;    // the y axis
  std::vector<PlotCurve> curves = {};
  // The name that the same plot has in other runs, to lay them over each other: "std". Empty: from the title.
  std::string key = "";
  // Pieces of the keys of the measured values that it shows, for their claims: {".std"}. Empty: all.
  std::vector<std::string> figures = {};
  // Where x counts things, their names: tick[i] is at x = i, and no line joins the points.
  std::vector<std::string> ticks = {};
};

// Many rows over time, such as the std of every layer at every log step: a row per name, a column per x.
struct Heatmap {
  Phrase title, x, value;  // what the columns count and the colours mean
  bool log = false;        // the colours
  std::vector<double> columns = {};
  std::vector<std::string> rows = {};
  std::vector<std::vector<double>> values = {};  // by row; NaN: left empty
};

// How the values of modules are spread on a signed logarithmic scale, and how that changes over the steps.
struct Ridges {
  Phrase title;
  std::string quantity;  // "activation" or "gradient"
  std::vector<std::string> modules = {};
  std::vector<double> steps = {}, edges = {};                 // an edge more than bins
  std::vector<std::vector<std::vector<double>>> shares = {};  // of all values, by step, module and bin
  std::vector<std::vector<double>> zeros = {};                // the share of zeros, by step and module
};

}  // namespace isobar
