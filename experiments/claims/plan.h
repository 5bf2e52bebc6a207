// The plan: which runs reproduce makes, under the names that the table of claims uses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isobar::claims {

struct PlannedRun {
  std::string name;     // of its folder
  std::string program;  // beside reproduce
  std::vector<std::string> arguments;
};

// `scale` is "quick" or "full".
std::vector<PlannedRun> plan(std::string_view scale);

}  // namespace isobar::claims
