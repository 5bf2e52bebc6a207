// The rules of the gradient diagnosis. Each one knows one kind of mistake by what it leaves in T, and is
// silent unless it explains every entry, or what it says is so for entries that are wrong by far more than
// the tolerance. gradient_diagnosis.cpp holds the table of them.
#pragma once

#include <optional>

#include "evidence.h"

namespace isobar {

using Found = std::optional<Diagnosis>;

// plain_rules.cpp: of the run itself, and of T as a whole.
Found broken(const Evidence& e);
Found upstream(const Evidence& e);
Found zero(const Evidence& e);
Found nearly_right(const Evidence& e);
Found constant(const Evidence& e);
Found signs(const Evidence& e);
Found swapped_inputs(const Evidence& e);
Found unknown(const Evidence& e);  // what else is worth telling

// place_rules.cpp: right numbers, and where they stand.
Found exchanged(const Evidence& e);
Found indices_lost(const Evidence& e);
Found contributions_lost(const Evidence& e);
Found misplaced(const Evidence& e);
Found masked(const Evidence& e);
Found one_sided(const Evidence& e);

// link_rules.cpp: which indices of dy and of the input are linked.
Found cross_talk(const Evidence& e);
Found sum_left_out(const Evidence& e);

// factor_rules.cpp: what dy is multiplied by. v is an input, y, or a curve of one of them.
Found slope_left_out(const Evidence& e);
Found factor_left_out(const Evidence& e);
Found factor_late(const Evidence& e);
Found wrong_factor(const Evidence& e);
Found group_factor(const Evidence& e);

// term_rules.cpp: terms of the formula, and paths.
Found dy_added(const Evidence& e);
Found term_left_out(const Evidence& e);
Found product_rule(const Evidence& e);
Found lost_branch(const Evidence& e);
Found sum_lost(const Evidence& e);
Found mask_forgotten(const Evidence& e);

}  // namespace isobar
