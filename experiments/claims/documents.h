// Verdicts: the claims of the texts as documents show them, by the kept values. Nobody types them: isobar
// verify --keep and --renew write experiments/claims/verdicts.md and the README's block, and a test compares both.
#pragma once

#include "kept.h"

namespace isobar::claims {

// All claims with each part, a table for each text, and the runs that measured them.
std::string verdicts_page(const Kept& kept);

// The table of one file, by what Kept::runs() gave.
std::string verdicts_table(const ClaimFile& file, const Runs& kept);

// What of the texts runs where: experiments/claims/coverage.md.
std::string coverage_page();

// The README's blocks: what follows about norms, a sentence each, and some claims in plain words.
std::string readme_sentences_on_norms(const Kept& kept);
std::string readme_verdicts(const Kept& kept);

// The block of experiments/README.md: what studies say of themselves, and the seconds of verify's runs.
std::string studies_table(const Kept& kept);

// The text with this block between <!-- NAME --> and <!-- end of NAME -->. Throws Error without such lines.
std::string with_block(std::string_view document, const std::string& name, const std::string& block);

// Writes the page and the blocks into the source tree of this folder.
void renew_documents(const std::string& source, const Kept& kept);

}  // namespace isobar::claims
