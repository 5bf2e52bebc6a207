// The words of a verdict and its two tags, as documents, page, terminal, JSON and CSV have them.
#pragma once

#include <string>
#include <vector>

#include "../page/charts/plot.h"
#include "../run/json.h"

namespace isobar::claims {

// Every word that a verdict can be, in the order in which they are counted.
inline const std::vector<std::string> verdict_words = {"true",          "false", "depends",
                                                       "no difference", "open",  "not tested"};
// How a verdict is known: an identity or a count, a text that was read, values of seeds.
inline const std::vector<std::string> how_words = {"proof", "source", "measured"};
// Where it holds, from the widest on. A claim whose parts differ has the narrowest.
inline const std::vector<std::string> where_words = {"any net", "before training", "this CPU",
                                                     "small nets, many settings", "small nets, one setting"};

// What a reader needs beside the word: on what it depends, what ends an open one, why one is not tested.
struct Verdict {
  std::string word = "";
  Phrase detail = {};
};

// "depends: on the optimizer", "open: about 37 seeds, 2 min", "true".
std::string text_of(const Verdict& verdict);

// What a verdict of version 0.3 is today, for the summaries that it wrote; a word that was none stays.
Verdict todays_verdict(const std::string& word);
// Writes them into a claim of such a summary, and into its parts.
void use_todays_words(Json& claim);

}  // namespace isobar::claims
