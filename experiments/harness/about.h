// About: what a program says of itself with --about. Whoever lists studies reads it: the tool, its
// completion, CTest, the documents, and tests, which run each study's preset tiny.
//
//   {"name": "majority", "question": "Does …?", "page": "experiments/majority/README.md", "ranks": true,
//    "presets": {"tiny": "--depths 1 --steps 2"}, "seconds": {"quick": 7.9, "full": 40.1},
//    "keys": ["layernorm_over_rmsnorm.L1.steps", …]}
//
// A preset stands for these flags; `seconds` and `keys` are of the runs kept for claims (claims/full.json).
#pragma once

#include "program.h"

namespace isobar {

Json about(const Program& program);

// The programs of experiments/ but isobar, in the order of the alphabet. CMake makes the list of the files.
const std::vector<std::string>& study_names();

// What those say that stand beside this very program.
std::vector<Json> ask_studies();

}  // namespace isobar
