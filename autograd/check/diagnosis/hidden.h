// Products inside a formula, seen from outside. Where the formula holds h = x wᵀ or h = x w and uses w
// nowhere else, the Jacobian by w is that by h times x: J_w[k, (o, c)] = Σ_p J_h[k, (p, o)] x[p, c], p the
// rows of x. Solved for J_h, it tells the part of the Jacobian by x that goes through h.
#pragma once

#include <optional>

#include "../jacobian.h"

namespace isobar {

struct Hidden {
  std::string x, name;       // "x", "x·w"
  std::vector<double> path;  // the part of the Jacobian by x that goes through h
};

// Every product that the Jacobians are enough to find. A row of y must use fewer rows of x than x has
// columns.
std::vector<Hidden> hidden_products(const std::vector<Jacobian>& all);

// How often each column stands in the sum that comes nearest to a target; 0 for one that is a sum of those
// before it.
struct Fit {
  std::vector<double> times;
  bool independent = true;  // of one another
};
Fit least_squares(std::vector<std::vector<double>> columns, std::vector<double> target);

}  // namespace isobar
