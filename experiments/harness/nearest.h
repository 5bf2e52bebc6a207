// The nearest name to one that nobody knows, for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace isobar {

// Levenshtein distance: single-byte insertions, deletions and replacements that lead from a to b.
size_t edit_distance(std::string_view a, std::string_view b);

// "; did you mean depth?" with the name of least distance (the first of equals), or "" when none is near:
// more than half of the letters would change.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace isobar
