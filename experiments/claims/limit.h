// Limit: how much memory and time the runs of an untrusted file of claims may take.
#pragma once

#include <string>
#include <vector>

namespace isobar::claims {

struct Limit {
  double bytes = 0, seconds = 0;
};

// Returns half of this machine's memory for each run, but at least 2 GiB (address space is counted, of which a program
// of many threads takes more than it uses), and an hour for all runs together.
Limit limit_of_untrusted();

// Returns the arguments of /bin/sh that give a program so much address space and processor time, or what is left of it
// here.
std::vector<std::string> limited(const std::string& program, const std::vector<std::string>& arguments,
                                 const Limit& most, int threads);

}  // namespace isobar::claims
