// Claim files: what one text says, as a person writes it down (TOML; the format is in README.md of this folder).
// A file names studies of this build, their settings and their measured values; it runs no commands and names
// no paths.
//
//   const ClaimFile file = read_claims("mine.toml");
//   for (const ClaimFile& builtin : builtin_claims()) …      // those of the texts
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "claim.h"

namespace isobar::claims {

// Throws Error for the first mistake: "mine.toml, line 12: …", with the nearest name for one that is unknown.
ClaimFile read_claims(const std::string& path);
// The same for a text; `path` is for messages.
ClaimFile parse_claims(std::string_view text, const std::string& path);

// The texts that come with the program, in the order of their ids.
const std::vector<ClaimFile>& builtin_claims();
// Their claims, in the order of their ids.
std::vector<const Claim*> builtin_table();

}  // namespace isobar::claims
