// Which text a language model is trained on.
#pragma once

#include <optional>
#include <string>

#include "../../data/synthetic.h"
#include "../../data/text.h"

namespace isobar {

struct Corpus {
  TextCorpus text;
  std::string source;                                   // the path, or "synthetic": differs between machines
  std::string note = "";                                // one line when the choice was made for the user
  std::optional<MarkovSource> language = std::nullopt;  // of the synthetic corpus: its exact floor
};

// `wanted` is a path, "synthetic", or empty: Tiny Shakespeare where find_tiny_shakespeare() sees it, else the
// synthetic language. Throws Error where a named file cannot be read.
Corpus open_corpus(const std::string& wanted, const std::string& tokenizer);

// Whether this is the text of 1,115,394 characters, 65 of them distinct, by the character.
bool is_tiny_shakespeare(const TextCorpus& text);
// Tokens that a character (Unicode code point) of the validation part takes on average.
double tokens_per_character(const TextCorpus& text);

}  // namespace isobar
