// What the rules of a gradient diagnosis work on: the two Jacobians as matrices, with one idea of "equal",
// and the ways in which the elements of a shape can be grouped and exchanged.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "../gradient_diagnosis.h"
#include "differences.h"
#include "hidden.h"

namespace isobar {

// What is known of a function beside the one gradient: the Jacobians by all its inputs, the tensors that its
// formula may be made of (inputs, y, parts of them), and the products inside that could be found.
struct Context {
  std::vector<Jacobian> all;
  std::vector<NamedInput> known;
  std::vector<Hidden> hidden;
};

// T and J of one input, (numbers of y, numbers of the input). Entries of J near a kink are skipped: no rule is
// held to them.
class Evidence {
 public:
  Evidence(const Jacobian& jacobian, const Context& context);

  int64_t rows() const { return j.rows; }
  int64_t columns() const { return j.columns; }
  double numeric(int64_t k, int64_t i) const { return j.numeric[k * columns() + i]; }
  // A Jacobian of the tape is computed only where it is wrong.
  double tape(int64_t k, int64_t i) const {
    return j.tape.empty() ? numeric(k, i) : j.tape[k * columns() + i];
  }
  bool skipped(int64_t k, int64_t i) const;

  // Equal to five digits, or both below what differences can tell from zero; where f rounds to f32, to the digits
  // that are left.
  bool same(double a, double b) const;
  double precision() const { return precision_; }  // relative, of same()
  bool negligible(double v) const { return same(v, 0); }
  // Whether a and b differ by far more than the tolerance: the only errors that are evidence of a cause.
  bool apart(double a, double b) const;
  bool right_at(int64_t k, int64_t i) const { return skipped(k, i) || same(tape(k, i), numeric(k, i)); }
  bool right_in_column(int64_t i) const;

  // Whether `holds(k, i)` at every entry that is not skipped.
  template <class Predicate>
  bool everywhere(const Predicate& holds) const {
    for (int64_t k = 0; k < rows(); ++k)
      for (int64_t i = 0; i < columns(); ++i)
        if (!skipped(k, i) && !holds(k, i)) return false;
    return true;
  }
  // Whether T is what `rule(k, i)` says everywhere. A rule returns NaN where it says nothing, as of a skipped J;
  // it must make a statement on half of the entries, because 0/0 agrees with everything.
  template <class Rule>
  bool explained(const Rule& rule) const {
    int64_t said = 0, open = 0;
    const bool holds = !j.tape.empty() && everywhere([&](int64_t k, int64_t i) {
      const double wanted = rule(k, i);
      ++(std::isnan(wanted) ? open : said);
      return std::isnan(wanted) || (std::isfinite(wanted) && same(tape(k, i), wanted));
    });
    return holds && said >= open && said > 0;
  }
  // The c that brings c J nearest to T.
  double common_ratio() const;
  // J and T are zero away from the diagonal: y is a curve of each element of the input.
  bool elementwise() const;

  const Jacobian& j;
  const Context& context;

 private:
  double largest_ = 0, floor_, precision_;
};

// Every set of dimensions of a shape of this many, the last dimension alone first.
std::vector<std::vector<int>> sets_of_dimensions(int count);
// Every two dimensions with more than one element.
std::vector<std::pair<int, int>> pairs_of_dimensions(const Shape& shape);
// The elements of a shape, in groups that run over these dimensions.
std::vector<std::vector<int64_t>> groups_along(const Shape& shape, const std::vector<int>& dims);

// One dimension of y or of the input, as a coordinate of an entry (k, i).
struct Axis {
  bool of_y;
  int dim;
  int64_t extent, stride;

  int64_t at(int64_t position) const { return position / stride % extent; }
  int64_t at(int64_t k, int64_t i) const { return at(of_y ? k : i); }
};
// The dimensions with more than one element.
std::vector<Axis> axes_of(const Shape& shape, bool of_y);

// places[i] is the position of element i after the elements are written with dimensions a and b swapped and
// read as if they were not.
std::vector<int64_t> transposed_places(const Shape& shape, int a, int b);

}  // namespace isobar
