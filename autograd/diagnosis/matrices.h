// What the rules of a gradient diagnosis work on: the two Jacobians as matrices, with one idea of "equal",
// and the ways in which the elements of a shape can be exchanged.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "../gradient_diagnosis.h"

namespace isobar {

// T and J, (numbers of y, numbers of the input). Entries of J near a kink are skipped: no rule is held to
// them.
class GradientMatrices {
 public:
  explicit GradientMatrices(const Jacobian& jacobian);

  int64_t rows() const { return jacobian_.rows; }
  int64_t columns() const { return jacobian_.columns; }
  double numeric(int64_t k, int64_t i) const { return jacobian_.numeric[k * columns() + i]; }
  double tape(int64_t k, int64_t i) const { return jacobian_.tape[k * columns() + i]; }
  bool skipped(int64_t k, int64_t i) const;

  // Equal to five digits, or both below what differences can tell from zero.
  bool same(double a, double b) const;
  bool negligible(double v) const { return same(v, 0); }

  // Whether T is what `rule(k, i)` says at every entry. A rule returns NaN where it makes no statement.
  template <class Rule>
  bool explained(const Rule& rule) const {
    if (jacobian_.tape.empty()) return false;
    for (int64_t k = 0; k < rows(); ++k)
      for (int64_t i = 0; i < columns(); ++i) {
        const double wanted = skipped(k, i) ? tape(k, i) : rule(k, i);
        if (wanted == wanted && !same(tape(k, i), wanted)) return false;
      }
    return true;
  }
  // The c that brings c J nearest to T.
  double common_ratio() const;

 private:
  const Jacobian& jacobian_;
  double floor_;
};

// What a mean may run over: every product of extents of y and of the inputs, with its name, each once.
std::vector<std::pair<std::string, double>> counts_of(const Jacobian& jacobian);

// Every set of dimensions of a shape of this many, the last dimension alone first.
std::vector<std::vector<int>> sets_of_dimensions(int count);
// Every two dimensions with more than one element.
std::vector<std::pair<int, int>> pairs_of_dimensions(const Shape& shape);

// places[i] is the position of element i after the elements are written with dimensions a and b swapped and
// read as if they were not.
std::vector<int64_t> transposed_places(const Shape& shape, int a, int b);

// Element i comes from places[i], or is zero where that is −1.
struct Move {
  std::string name;  // "shifted by one"
  std::vector<int64_t> places;
};
std::vector<Move> moves_along(const Shape& shape, int dim);

}  // namespace isobar
