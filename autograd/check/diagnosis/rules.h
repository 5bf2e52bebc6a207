// What may explain a wrong gradient. The dictionary generates matrices from J, the inputs and the shapes, and
// asks the solver whether T is a sum of them: T = c J, T = J v, T = J + c · 1, …. The rules know what cannot
// be said so. gradient_diagnosis.cpp holds the table of both. Each is silent unless it explains every entry,
// or what it says is so for entries that are wrong by far more than the tolerance.
#pragma once

#include "evidence.h"

namespace isobar {

using Found = std::optional<Diagnosis>;

// A diagnosis whose text begins with the name of its cause.
template <class... Args>
Diagnosis told(Cause cause, fmt::format_string<Args...> text, Args&&... args) {
  return {cause, fmt::format("{}: {}", name_of(cause), fmt::format(text, std::forward<Args>(args)...))};
}

// T = c · matrix, and what that means if c is 1.
struct Candidate {
  Cause cause;
  std::string text;
  Term matrix;
};
using Candidates = std::vector<Candidate>;

// dictionary.cpp: generators of candidates, the plainest first.
Candidates other_inputs(const Evidence& e);
Candidates late_factors(const Evidence& e);
Candidates moved_dimensions(const Evidence& e);
Candidates plain_dy(const Evidence& e);
// The candidate that T is a multiple of.
Found first_of(const Candidates& all, const Evidence& e);

// dictionary.cpp: what the solver's coefficients mean.
Found constant(const Evidence& e);
Found factor_left_out(const Evidence& e);
Found wrong_factor(const Evidence& e);
Found group_factor(const Evidence& e);
Found dy_added(const Evidence& e);
Found term_left_out(const Evidence& e);
Found product_rule(const Evidence& e);
Found lost_branch(const Evidence& e);

// rules.cpp: of the run itself, and of T as a whole.
Found broken(const Evidence& e);
Found upstream(const Evidence& e);
Found zero(const Evidence& e);
Found nearly_right(const Evidence& e);
Found signs(const Evidence& e);
Found sum_lost(const Evidence& e);
Found unknown(const Evidence& e);  // what else is worth telling

// place_rules.cpp: which entries are right, which are zero, and which are there and should not be.
Found contributions_lost(const Evidence& e);
Found indices_lost(const Evidence& e);
Found misplaced(const Evidence& e);
Found masked(const Evidence& e);
Found one_sided(const Evidence& e);
Found cross_talk(const Evidence& e);
Found sum_left_out(const Evidence& e);
Found mask_forgotten(const Evidence& e);

}  // namespace isobar
