// What check_layer says of a gradient: right, wrong and why, or skipped.
#pragma once

#include <string>
#include <vector>

#include "../check_layer.h"

namespace isobar {

// The line of one gradient; `mode` goes behind its name.
LayerCheck gradient_check(const Jacobian& j, double tolerance, const std::string& mode);

// Keeps, of the wrong gradients, the diagnosis and the worst entries of the first whose cause is known, else
// of the first; and the names of the others. Does nothing where the report has a diagnosis already.
void choose_diagnosis(LayerReport& report, const std::vector<Jacobian>& all, double tolerance);

}  // namespace isobar
