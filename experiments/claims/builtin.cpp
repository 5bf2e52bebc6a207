// The files of claims that are part of the program: blog posts, and what papers beyond them found.
#include <algorithm>

#include <fmt/format.h>

#include "file.h"

namespace isobar::fixtures {
extern const char claims_000[], claims_001[], claims_002[], claims_003[], claims_004[], claims_005[];
}  // namespace isobar::fixtures

namespace isobar::claims {

const std::vector<ClaimFile>& builtin_claims() {
  static const std::vector<ClaimFile> files = [] {
    std::vector<ClaimFile> all;
    for (const char* text : {fixtures::claims_000, fixtures::claims_001, fixtures::claims_002,
                             fixtures::claims_003, fixtures::claims_004, fixtures::claims_005})
      all.push_back(parse_claims(text, fmt::format("{:03}.toml", all.size())));
    for (ClaimFile& file : all) file.shipped = true;
    return all;
  }();
  return files;
}

std::vector<const Claim*> builtin_table() {
  std::vector<const Claim*> table;
  for (const ClaimFile& file : builtin_claims())
    for (const Claim& claim : file.claims) table.push_back(&claim);
  std::sort(table.begin(), table.end(), [](const Claim* a, const Claim* b) { return a->id < b->id; });
  return table;
}

}  // namespace isobar::claims
