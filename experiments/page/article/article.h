// Article: the question, the method and what was found, for a reader who has never seen this project. Its text
// is article.html beside this file; what stands there between {{ and }} is filled in from the data of the
// repository, so that no number of the article is typed. values.h has the words.
#pragma once

#include "values.h"

namespace isobar::article {

// The text with each {{word …}} replaced by its value. {{if CONDITION}} … {{else}} … {{end}} keeps one of two
// parts. Throws Error, with the line, for a word that has no value and for an {{if}} without its {{end}}.
std::string filled(std::string_view text, const Values& values);

// The text as it is written, and the whole page: one HTML file that loads nothing.
std::string_view prose();
std::string page(const claims::Kept& kept);

}  // namespace isobar::article
