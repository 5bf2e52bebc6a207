// A study with norms of the user's own: built against the library that this program belongs to.
#pragma once

#include "own_norm.h"

namespace isobar::duel {

// Where the library's CMake package is found: the prefix that this program is installed in; of a build
// tree, the package that is installed below it. "" for a program of the user's own, whose library CMake
// knows how to find.
std::string package_prefix();

// "isru.h and my_norm.h"
std::string names_of(const std::vector<OwnNorm>& norms);

struct OwnProgram {
  std::string study;    // its program's path
  std::string checker;  // the program that runs check_layer for each norm
  bool anew;            // something was compiled: it, or a header that it includes, was changed
  double seconds;       // that it took
};

// Makes the folder of a build, or takes the one that this user made before at this path: CMake runs what its files
// say. A note in the user's cache ($XDG_CACHE_HOME, ~/.cache) says which one she made; another one that isobar made,
// such as a copy of somebody's run, is removed and made anew. Throws Error where something else is there.
void take_program_folder(const std::string& path);

// Builds isobar::<study> with these norms in `folder`, which keeps what is built for the next time. Throws
// Error where CMake or a compiler is missing, and where a header does not compile, with the compiler's
// first lines.
OwnProgram build_with(const std::vector<OwnNorm>& norms, const std::string& study, const std::string& folder);

}  // namespace isobar::duel
