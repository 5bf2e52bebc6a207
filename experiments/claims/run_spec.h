// RunSpec, read: which study a file of claims asks for, and with which flags. A stranger's file names no program but the
// studies of this build, no path, and none of the flags that are the user's.
#pragma once

#include <string>
#include <vector>

#include "claim.h"
#include "toml_table.h"

namespace isobar::claims {

// The studies that a file may name.
std::vector<std::string> studies();

// "print_config" of the words --print-config, --print_config and --print-config=1; empty for a word that is
// no flag.
std::string setting_of(const std::string& word);

// The table `[run.NAME]`. Throws Error for what it may not say, with its line.
RunSpec read_run(const std::string& name, TomlTable& table);

}  // namespace isobar::claims
