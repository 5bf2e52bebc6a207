// Documents: numbers and tables that documents of the repository have, for the article: what was simulated or
// timed stands there, and is checked there.
#pragma once

#include <string>

namespace isobar::article {

// The number at # of the only place of the document that has these words; … stands for anything within a line.
// Throws Error where there is none, or more than one. Documents are "rules" (claims/rules.md), "ladder"
// (studies/ladder/README.md) and "bench" (tests/bench/README.md).
std::string said(const std::string& document, const std::string& words);

// The table whose first cell is this one, as HTML.
std::string table_of(const std::string& document, const std::string& first_cell);

}  // namespace isobar::article
