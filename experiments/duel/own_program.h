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

// Builds isobar::<study> with these norms in `folder`, which keeps what is built for the next time. Throws
// Error where CMake or a compiler is missing, and where a header does not compile, with the compiler's
// first lines.
OwnProgram build_with(const std::vector<OwnNorm>& norms, const std::string& study, const std::string& folder);

}  // namespace isobar::duel
