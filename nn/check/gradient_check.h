// The checks of gradients in check_layer's report: right, wrong with the cause, or skipped.
#pragma once

#include "check_layer.h"

namespace isobar {

// The result for one gradient with its diagnosis; `mode` is appended to its name.
LayerCheck gradient_check(const Jacobian& j, const Diagnosis& found, double tolerance,
                          const std::string& mode);

// If a gradient is wrong and the report has no diagnosis yet, puts it there: the names of the wrong gradients
// and of the right ones, what that means, the plainest cause, and the worst entries.
void choose_diagnosis(LayerReport& report, const std::vector<Jacobian>& all, double tolerance,
                      const std::string& mode);

}  // namespace isobar
