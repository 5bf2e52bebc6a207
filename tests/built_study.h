// A built study as its users run it: the summary that it prints.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

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

}  // namespace isobar
