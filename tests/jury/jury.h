// The jury: wrong layers as students write them, and right ones that are hard to check, by hands that did not
// write check_layer. The diagnosis was tuned on one half; the other half was only counted (see README.md).
//
//   const bool listed = list_tuned({{"norms", "rms norm: weight left out of dx", {"missing factor"}, {}, make, x}});
//
// A file of rows lists them in one of the halves while the program starts.
#pragma once

#include "../../nn/check/check_layer.h"

namespace isobar {

struct JuryLayer {
  std::string family, name;
  // Causes (name_of) and names of checks that name this mistake rightly ("gradient" for those of gradients);
  // empty for a right layer.
  std::vector<std::string> right;
  std::vector<std::string> half;               // the right neighbourhood
  std::function<LayerMaker(const Rng&)> make;  // parameters and examples are drawn from the seed's rng
  std::function<LayerInputs(const Rng&)> x;
  CheckLayerOptions options = {};
};

std::vector<JuryLayer> tuned_jury();
std::vector<JuryLayer> counted_jury();

// Adds the rows to a half. Returns true, so that it can be called where a file's constants are made.
bool list_tuned(const std::vector<JuryLayer>& rows);
bool list_counted(const std::vector<JuryLayer>& rows);

}  // namespace isobar
