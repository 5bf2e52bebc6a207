// Drawings: the charts of documents, drawn from kept values and closed forms.
#pragma once

#include "../claims/kept.h"

namespace isobar::facts {

// The chart of that name as SVG, by what judged claims say of their parts (claims::to_json). Throws Error for another
// name.
std::string drawing(const std::string& name, const claims::Runs& runs,
                    const std::map<std::string, Json>& claims);

// The names of all charts.
std::vector<std::string> drawing_names();

}  // namespace isobar::facts
