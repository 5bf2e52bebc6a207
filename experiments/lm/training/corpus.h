// Which text a language model is trained on.
#pragma once

#include "../../../data/shipped.h"
#include "../../../data/synthetic.h"
#include "../../../data/token_store.h"

namespace isobar {

class Run;  // run/run.h

struct Corpus {
  TextCorpus text;                                      // empty where there is a store
  std::string source;                                   // the path, or "synthetic": differs between machines
  DataFile file = {};                                   // the same without its folder; the text's checksum
  std::optional<MarkovSource> language = std::nullopt;  // of the synthetic corpus: its exact floor
  std::unique_ptr<const TokenStore> store = nullptr;    // the tokens of a file that prepare wrote
  std::string notice = "";       // what the file looks like if it hardly is a text: text_notice()
  std::string passed_over = "";  // of ISOBAR_DATA: passed_over(), or that its text is another

  const Tokenizer& tokenizer() const { return store ? store->tokenizer() : *text.tokenizer; }
  int64_t tokens() const { return store ? store->size() : static_cast<int64_t>(text.tokens.size()); }
  int32_t first_token() const;
  // Records the source in the run's environment, and warns of what the user may not expect of it: of another file
  // than the one in ISOBAR_DATA, and of a file that hardly is a text unless `as_is`, the flag of programs that have it.
  void announce(Run& run, std::optional<bool> as_is = std::nullopt) const;
  // Of the tokens, the same whether they come from a text or from a store.
  std::string checksum() const { return store ? store->checksum() : tokens_checksum(text.tokens); }
  // The windows of either part. The corpus must outlive them.
  TokenDataset train(int64_t block_size) const;
  TokenDataset validation(int64_t block_size) const;
};

// `wanted` is the path of a text or of a token store, "synthetic", "kjv", or empty: Tiny Shakespeare. `tokenizer` is
// as make_tokenizer takes it; empty, it is char, or the store's. Throws Error where a file cannot be read.
Corpus open_corpus(const std::string& wanted, const std::string& tokenizer);
// The same with this very tokenizer. Throws Error where the text does not fit it, or the store has another.
Corpus open_corpus_with(const std::string& wanted, const Tokenizer& tokenizer);
// `file` of the corpus that open_corpus() opens.
DataFile file_of_corpus(const std::string& wanted);

// Whether this is the text that comes with Isobar, by the character.
bool is_tiny_shakespeare(const Corpus& corpus);
// Tokens that a character (Unicode code point) of the validation part takes on average.
double tokens_per_character(const Corpus& corpus);

}  // namespace isobar
