// The verbs of `isobar`: each takes the words after its own name and returns the exit code.
#pragma once

#include <string>
#include <vector>

namespace isobar {
struct TextInput;  // data/text_input.h
}  // namespace isobar

namespace isobar::verbs {

using Words = std::vector<std::string>;

int verify(const Words& words);
int doubt(const Words& words);
int bench(const Words& words);
int report(const Words& words);
int facts(const Words& words);
int watch(const Words& words);
int sample(const Words& words);
int evaluate(const Words& words);
int export_model(const Words& words);
int import_model(const Words& words);
int tokenize(const Words& words);
int prepare(const Words& words);

// The study duel, which is compiled first where a contestant is a header.
int duel(const Words& given);
// duel --ledger FILE: a search, whose duels share one error rate.
int search(const Words& given);
// duel --table FILE: what is missing in a table of norms (duel/norm_table.h).
int table(const Words& given);

// Of texts: says on stderr of each file what it looks like if it hardly is a text, unless the user gave --as_is.
void warn_of(const TextInput& input);
inline constexpr const char* as_is_help = "do not warn if a file does not look like UTF-8 text";

}  // namespace isobar::verbs
