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

// Where a study with these norms is built: a folder of the user's own cache ($XDG_CACHE_HOME, ~/.cache), one for each
// choice of program, study and headers. It may be removed at any time. Nothing that is run, or that CMake reads, is in a
// folder of results: such a folder may come from someone else. Throws Error where the user has no cache.
std::string program_folder(const std::vector<OwnNorm>& norms, const std::string& study);

// Makes this folder, and its parents, for this user alone. Throws Error where it, or a folder of isobar's that it is in,
// is a link, another user's, or open to others' writing.
void take_program_folder(const std::string& path);

// Builds isobar::<study> with these norms in their program_folder(), where it is found the next time. Throws
// Error where CMake or a compiler is missing, and where a header does not compile, with the compiler's
// first lines.
OwnProgram build_with(const std::vector<OwnNorm>& norms, const std::string& study);

}  // namespace isobar::duel
