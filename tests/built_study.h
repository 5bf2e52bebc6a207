// A built study as its users run it: the summary that it prints, and the flags that it refuses.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.h"

namespace isobar {

// The summary of build/bin/<study> with these arguments, in a folder of its own.
inline nlohmann::json summary_of(const std::string& study, const std::string& arguments) {
  const TemporaryFolder folder;
  const Outcome run = run_built(study, arguments + " --json --out " + folder / "run");
  INFO(study, " ", arguments, "\n", run.err);
  REQUIRE(run.code == 0);
  return nlohmann::json::parse(run.out);
}

// Each of these arguments ends the study with exit code 2 and one line that begins with its name.
inline void check_refuses(const std::string& study, const std::vector<std::string>& all_arguments) {
  for (const std::string& arguments : all_arguments) {
    const TemporaryFolder folder;
    const Outcome run = run_built(study, arguments + " --out " + folder / "run");
    INFO(study, " ", arguments, "\n", run.err);
    CHECK(run.code == 2);
    CHECK(run.err.starts_with(study + ": "));
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
}

}  // namespace isobar
