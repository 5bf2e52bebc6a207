// The page's table of norms: what a duel of each with RMSNorm found (duel/norm_table.h), for each text.
#pragma once

#include "../run/json.h"
#include "charts/shapes.h"

namespace isobar::report {

// A section with the id "norms", in both languages, without a script: of each text a table that can be unfolded, whose rows
// are in the order of their outcomes. `facts` are those of duel::facts_of(); of null it is empty.
charts::Markup norms_section(const Json& facts);

}  // namespace isobar::report
