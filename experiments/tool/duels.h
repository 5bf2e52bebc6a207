// Duels that isobar duel runs as processes of their own, for a search (search.cpp) or a table (table.cpp).
#pragma once

#include <optional>

#include "verbs.h"

namespace isobar::verbs {

// The value of a flag, "--ledger FILE" or "--ledger=FILE", which is removed from the words; none where it is not given, ""
// where it has no value.
std::optional<std::string> taken(Words& words, const std::string& flag);

// The number of "--check N"; 1 where N is missing. Throws Error for what is no such number.
int64_t number_to_check(const std::string& count);

// Runs isobar duel with these words in a process of its own, which a kill of this one ends. Returns its exit code, or
// 128 + its signal. `silent`: nothing of what it prints on stdout is seen.
int run_duel(const Words& words, bool silent = false);

}  // namespace isobar::verbs
