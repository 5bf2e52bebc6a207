// Provenance: what a run's numbers come from besides its settings: the sources of its program, and the data that it
// read. Results that are there already count only where both are the same now.
//
//   const std::string change = change_since(old["environment"], provenance(isobar_sources(), data));
//   if (!change.empty()) run.say("{}: measured anew\n", change);
#pragma once

#include "../../data/shipped.h"
#include "json.h"

namespace isobar {

// A hash of the C++ files that this program's numbers are computed by: those of the library, and of experiments/ those
// that its study includes. Builds of one tree agree, whatever their compilers and paths; documents, claims, tests and
// other studies do not count. Of a program that this tree's build did not make, such as a study with a norm of the
// user's own, it is the checksum of its machine code. run/sources.cmake writes it at each build.
std::string isobar_sources();

// {"version": "0.3.0", "sources": "0c34a35692c9b7f3", "data": {"tinyshakespeare.txt": "6572a3fb9fde75d3"}}, as a run's
// "environment" in summary.json has them.
Json provenance(const std::string& sources, const Json& data);

// The data of these names that a program would read now: "tinyshakespeare.txt", "kjv.txt", and for any "mnist/…" all
// files of digits. Without those that cannot be found.
Json data_now(const Json& names);

// Why the numbers of `then`, a run's environment, may be others now: "the sources of its program have changed since
// commit 2ca2793a1b2c". Empty where they are the same.
std::string change_since(const Json& then, const Json& now);

}  // namespace isobar
