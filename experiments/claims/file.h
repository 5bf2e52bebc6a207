// Claim files: what one text says, as a person writes it down (TOML; format: README.md). It names studies of
// this build, their settings and measured values, but no commands and no paths.
#pragma once

#include <array>

#include "claim.h"
#include "toml_table.h"

namespace isobar::claims {

// Throws Error for the first mistake: "mine.toml, line 12: …", with the nearest name for one that is unknown.
ClaimFile read_claims(const std::string& path);
// The same for a text; `path` is for messages.
ClaimFile parse_claims(std::string_view text, const std::string& path);

// The texts that come with the program, in the order of their ids.
const std::vector<ClaimFile>& builtin_claims();
// Their claims, in the order of their ids.
std::vector<const Claim*> builtin_table();

// --- Words of tolerance: "about", "better" and "as good" have one bound each, for every claim of every file.
// A part that uses one says where its bound comes from by the word (README.md, Words).

// The fields of a part that are words.
inline constexpr std::array<const char*, 3> tolerance_words = {"about", "better", "as_good"};

// What a word wants, and why, in both languages.
struct Tolerance {
  double low, high;
  Phrase why;
};

// Of a word that the part has. Throws Error, with its line, for a value that the word does not take.
Tolerance read_tolerance(TomlTable& part, const char* word);

}  // namespace isobar::claims
