#include "corpus.h"

#include <algorithm>

#include "../../data/corpus_path.h"

namespace isobar {
namespace {

// Long enough that the sampling error of a loss on its validation part, about 1/√200,000, stays far below the
// 0.05 nats that are asked of a model.
constexpr int64_t synthetic_length = 2'000'000;

Corpus synthetic(std::string note) {
  MarkovSource language;
  const std::string letters =
      MarkovSource::letters(language.generate(synthetic_length, Rng(0).split("corpus")));
  return {.text = TextCorpus::from_text(letters, "char"),
          .source = "synthetic",
          .note = std::move(note),
          .language = std::move(language)};
}

}  // namespace

Corpus open_corpus(const std::string& wanted, const std::string& tokenizer) {
  if (wanted == "synthetic") return synthetic("");
  if (!wanted.empty()) return {.text = TextCorpus::read(wanted, tokenizer), .source = wanted};
  const std::string found = find_tiny_shakespeare().string();
  if (!found.empty()) return {.text = TextCorpus::read(found, tokenizer), .source = found};
  return synthetic(
      "Tiny Shakespeare is not here: training on the synthetic language. Name a text with --corpus, set "
      "ISOBAR_DATA "
      "to a folder that holds tinyshakespeare.txt, or let ./run.sh fetch it.");
}

bool is_tiny_shakespeare(const TextCorpus& text) {
  return text.tokens.size() == 1'115'394 && text.tokenizer->vocabulary_size() == 65;
}

double tokens_per_character(const TextCorpus& text) {
  const std::string validation = text.tokenizer->decode(text.validation());
  // Every byte of UTF-8 but the continuation bytes 10xxxxxx starts a code point.
  const auto characters =
      std::count_if(validation.begin(), validation.end(), [](unsigned char c) { return (c & 0xc0) != 0x80; });
  return static_cast<double>(text.validation().size()) /
         static_cast<double>(std::max<ptrdiff_t>(characters, 1));
}

}  // namespace isobar
