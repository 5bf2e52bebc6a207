// RunSpec, read: which study a file of claims asks for, and with which flags. A stranger's file names no program but the
// studies of this build, no path, and none of the flags that are the user's.
#pragma once

#include <string>
#include <vector>

#include "claim.h"
#include "toml_table.h"

namespace isobar::claims {

// The studies that a file may name.
const std::vector<std::string>& studies();

// The table `[run.NAME]`. Throws Error for what it may not say, with its line.
RunSpec read_run(const std::string& name, TomlTable& table);

}  // namespace isobar::claims
