// The control groups of Linux that this process is in, which bound its CPUs and its memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isobar {

// The folders of this process's control groups, each with its own limits, from its own one up to the root,
// for a controller ("cpu", "memory"): those of version 2, then those of version 1. Some may not exist.
std::vector<std::string> control_groups(std::string_view controller);

}  // namespace isobar
