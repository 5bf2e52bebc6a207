// Cost: what the runs of a stranger's file may take before somebody is asked, and roughly what one will take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../harness/json.h"

namespace isobar::claims {

struct Cost {
  double bytes = 0, seconds = 0;
};

// Told from the settings alone: layers, widths, rows, steps, seeds and how many nets there are to train. Of
// the runs of the texts within twenty times of what they took, but for three whose sizes no setting
// tells. That is enough to tell a slip or a bad joke from a study.
Cost cost_of(const Json& config, int threads);

// Half of this machine's memory, but at least 2 GiB (address space is counted, of which a program of many
// threads takes more than it uses), for each run; an hour for all of them.
Cost share();

// "3.9 GiB and about 60 min"
std::string cost_text(const Cost& cost);

// The command under which a program has that much address space and processor time, or what is left of it
// here.
std::vector<std::string> limited(const std::string& program, const std::vector<std::string>& arguments,
                                 const Cost& most, int threads);

}  // namespace isobar::claims
