// The check of one gradient in check_layer's report: right, wrong with the cause, or skipped.
#pragma once

#include <string>
#include <vector>

#include "../check_layer.h"

namespace isobar {

// The result for one gradient; `mode` is appended to its name.
LayerCheck gradient_check(const Jacobian& j, double tolerance, const std::string& mode);

// Puts into the report the diagnosis and the worst entries of one wrong gradient, with the names of the
// others: the first whose cause is known, else the first. Does nothing if the report has a diagnosis.
void choose_diagnosis(LayerReport& report, const std::vector<Jacobian>& all, double tolerance);

}  // namespace isobar
