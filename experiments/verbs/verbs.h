// The verbs of `isobar`: each takes the words after its own name and returns the exit code.
#pragma once

#include <string>
#include <vector>

namespace isobar::verbs {

using Words = std::vector<std::string>;

int verify(const Words& words);
int report(const Words& words);
int article(const Words& words);
int watch(const Words& words);
int sample(const Words& words);
int evaluate(const Words& words);
int export_model(const Words& words);
int import_model(const Words& words);
int tokenize(const Words& words);
int prepare(const Words& words);

// The study duel, which is compiled first where a contestant is a header.
int duel(const Words& given);

}  // namespace isobar::verbs
