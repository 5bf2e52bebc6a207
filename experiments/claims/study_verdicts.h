// What the texts claim of one run, judged as soon as it is measured: a study's own last word on the terminal.
#pragma once

#include <string>
#include <vector>

#include "../harness/run.h"

namespace isobar::claims {

// Says, for each claim that the run of this name (in the files of the texts) is enough to judge, what was
// printed, what this run measured, and the verdict.
void say_verdicts(Run& run, const std::string& name);

// The values that the texts print of `key` of this run, by the number that replaces the {}:
// printed_values("blog8", "layer{}.std", 8) are eight, NaN where nothing is printed.
std::vector<double> printed_values(const std::string& name, const std::string& key, size_t count);

}  // namespace isobar::claims
