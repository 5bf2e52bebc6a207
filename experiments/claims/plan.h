// The plan: which runs the files of claims need, each once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "claim.h"

namespace isobar::claims {

struct PlannedRun {
  std::string name;     // in the files
  std::string folder;   // of its results: those of the full scale do not replace those of the quick one
  std::string program;  // beside this one
  std::vector<std::string> arguments;
  std::string where;      // "mine.toml, line 9", for messages
  std::string path = "";  // of a program in its place, which the user named; empty: the one beside this one
  bool shipped = false;   // of a file that came along: it is trusted with all memory and time
};

// In the order of the files. `scale` is "quick" or "full". Throws Error where two files mean different runs by
// one name.
std::vector<PlannedRun> plan(const std::vector<ClaimFile>& files, std::string_view scale);

}  // namespace isobar::claims
