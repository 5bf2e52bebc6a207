// A test case that needs what is not here says so and is counted as skipped, not as passed:
//
//   if (!obstacle.empty()) return skip(obstacle);  // or goes on without the part that needs it
//
// At its end the test program prints `skipped: WHY [CASE]` for each, and it exits with 77 where no other case
// ran, which CTest tells as skipped.
#pragma once

#include <string>

namespace isobar {

void skip(const std::string& why);

}  // namespace isobar
