// What the dictionary and the rules of a gradient diagnosis work on: the two Jacobians as matrices with one
// idea of "equal", the solver, and the ways in which the elements of a shape can be grouped and read.
#pragma once

#include <cmath>
#include <optional>
#include <utility>

#include "../gradient_diagnosis.h"
#include "differences.h"

namespace isobar {

// inner_products.cpp: products inside a formula, seen from outside. Where the formula holds h = x wᵀ or h = x w and uses
// w nowhere else, the Jacobian by w is that by h times x: J_w[k, (o, c)] = Σ_p J_h[k, (p, o)] x[p, c], p the
// rows of x. Solved for J_h, it tells the part of the Jacobian by x that goes through h.
struct InnerProduct {
  std::string x, name;  // "x", "x·w"
  Values path;          // the part of the Jacobian by x that goes through h
};
// Every product that the Jacobians are enough to find. A row of y must use fewer rows of x than x has
// columns.
std::vector<InnerProduct> inner_products(const std::vector<Jacobian>& all);

// How often each column stands in the sum that comes nearest to a target; 0 for one that is a sum of those
// before it.
struct Fit {
  Values times;
  bool independent = true;  // of one another
};
Fit least_squares(std::vector<Values> columns, Values target);

// What is known of a function beside the one gradient: the Jacobians by all its inputs, the tensors that its
// formula may be made of (inputs, y, parts of them), and the products inside that could be found.
struct Context {
  std::vector<Jacobian> all;
  std::vector<NamedInput> known;
  std::vector<InnerProduct> inner;
};

struct Entry {
  int64_t k, i;  // dy's number and the input's
};
using Entries = std::vector<Entry>;
// A matrix as large as J; NaN where it says nothing.
using Term = std::function<double(int64_t k, int64_t i)>;

// T and J of one input, (numbers of y, numbers of the input). Entries of J near a kink are skipped: nothing
// is held to them.
class Evidence {
 public:
  Evidence(const Jacobian& jacobian, const Context& context);

  int64_t rows() const { return j.rows; }
  int64_t columns() const { return j.columns; }
  double numeric(int64_t k, int64_t i) const { return j.numeric[k * columns() + i]; }
  // A Jacobian of the tape is computed only where it is wrong.
  double tape(int64_t k, int64_t i) const { return (j.tape.empty() ? j.numeric : j.tape)[k * columns() + i]; }
  bool skipped(int64_t k, int64_t i) const { return std::isnan(numeric(k, i)); }
  const Entries& entries() const {
    return entries_;
  }  // that are not skipped, from the largest of T to the least

  // Equal to five digits, or both below what differences can tell from zero; where f rounds to f32, to the
  // digits that are left.
  bool same(double a, double b) const;
  bool negligible(double v) const { return same(v, 0); }
  bool is(double coefficient, double wanted) const {
    return std::abs(coefficient - wanted) <= precision_ * std::max(1.0, std::abs(wanted));
  }
  // Whether a and b differ by far more than the tolerance: the only errors that are evidence of a cause.
  bool apart(double a, double b) const;
  bool right_at(int64_t k, int64_t i) const { return skipped(k, i) || same(tape(k, i), numeric(k, i)); }
  bool right_in_column(int64_t i) const;
  bool elementwise() const { return elementwise_; }  // J and T are zero away from the diagonal

  template <class Predicate>
  bool everywhere(const Predicate& holds) const {
    return std::all_of(entries_.begin(), entries_.end(), [&](const Entry& at) { return holds(at.k, at.i); });
  }

  // The solver: the coefficients with which the terms, and `base`, add up to `to` at all of these entries, by
  // least squares; nothing if they do not. The terms must say something of half of the entries: 0/0 agrees
  // with everything.
  std::optional<Values> solve(const Entries& over, const Term& to, const std::vector<Term>& terms,
                              const Term& base = nullptr) const;
  // The c with which T = c · term, where that is so at an entry that is wrong.
  std::optional<double> multiple(const Term& term) const;

  const Jacobian& j;
  const Context& context;
  const Term slope = [this](int64_t k, int64_t i) { return numeric(k, i); };
  const Term given = [this](int64_t k, int64_t i) { return tape(k, i); };

 private:
  double largest_ = 0, floor_ = 0, precision_ = 0;
  bool elementwise_ = false;
  Entries entries_;
};

// Every set of dimensions of a shape of this many, the last dimension alone first.
std::vector<std::vector<int>> sets_of_dimensions(int count);
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

// A dimension of y and one of the input, of the same extent.
std::vector<std::pair<Axis, Axis>> equal_axes(const Jacobian& j);

}  // namespace isobar
