// What the study says: a line per net, the table, one sentence per claim, computed from the numbers.
#pragma once

#include <string>
#include <vector>

#include "../harness/run.h"
#include "digits.h"
#include "outcome.h"

namespace isobar::depth {

void print_question(Run& run, const Config& config, const Digits& digits, const std::vector<Kind>& kinds);
// One net at one depth.
void print_line(Run& run, const Kind& kind, const Cell& cell);
// The table of accuracies, and the sentences of findings(), which the summary has too.
void print_results(Run& run, const Config& config, const std::vector<Result>& results);

// "source and claim: what was seen", for each claim that these results bear on.
std::vector<std::string> findings(const std::vector<Result>& results);

// Our own measurement against what must hold: Fixup and ReZero start as the identity, so at step 0 their loss
// is the same at every depth and W1 has no gradient; and without a norm the gradient of a plain chain falls
// as decay_study's closed form says.
void expect_identities(Run& run, const Config& config, const std::vector<Result>& results);

}  // namespace isobar::depth
