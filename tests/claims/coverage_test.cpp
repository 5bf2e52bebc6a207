// What of the texts runs where: the items of the files of claims, which experiments/coverage.md is made of.
#include <doctest/doctest.h>

#include <regex>
#include <set>

#include "../../experiments/claims/file.h"
#include "../run.h"

namespace isobar::coverage_test {

TEST_CASE("each item of the texts names claims, a command that its program takes, or why there is none") {
  std::set<std::string> named, known;
  for (const claims::ClaimFile& file : claims::builtin_claims())
    for (const std::string& item : file.source.items) {
      CAPTURE(item);
      const std::string how = item.substr(item.find(" | ") + 3);
      const std::regex claim("\\b[A-Z][0-9]{2}\\b"), command("`(\\w+)([^`]*)`");
      const std::sregex_iterator claims(how.begin(), how.end(), claim),
          commands(how.begin(), how.end(), command), end;
      CHECK((claims != end || commands != end || how.starts_with("cannot run here: ")));
      for (auto at = claims; at != end; ++at) named.insert(at->str());
      for (auto at = commands; at != end; ++at) {
        const Outcome outcome = run_built((*at)[1], (*at)[2].str() + " --print-config");
        INFO(outcome.err);
        CHECK(outcome.code == 0);
      }
    }
  for (const claims::Claim* claim : claims::builtin_table()) known.insert(claim->id);
  CHECK(named == known);
}

}  // namespace isobar::coverage_test
