#include "corpus.h"

#include "../../../data/shipped.h"
#include "../../../data/text_input.h"
#include "../../run/run.h"
#include "../../run/table.h"

namespace isobar {
namespace {

// Long: the sampling error of a loss on its validation part, about 1/√200,000, is far below the asked 0.05.
constexpr int64_t synthetic_length = 2'000'000;

const DataFile synthetic_file = {"synthetic", ""};

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

Corpus synthetic() {
  MarkovSource language;
  const std::string letters =
      MarkovSource::letters(language.generate(synthetic_length, Rng(0).split("corpus")));
  return {.text = TextCorpus::from_text(letters, "char"),
          .source = "synthetic",
          .file = synthetic_file,
          .language = std::move(language)};
}

// The path of the text that is wanted, and what is to be said of it.
Corpus found_text(const std::string& wanted) {
  Corpus corpus;
  corpus.source = wanted.empty()    ? find_tiny_shakespeare().string()
                  : wanted == "kjv" ? find_king_james().string()
                                    : wanted;
  if (wanted.empty()) corpus.passed_over = passed_over(corpus.source);
  corpus.notice = text_notice(corpus.source);
  return corpus;
}

// Where the text that is read by default is another than the one that comes with Isobar, the user is told.
void take_file(Corpus& corpus, const std::string& wanted, const std::string& text) {
  corpus.file = {file_name(corpus.source), checksum(text)};
  if (wanted.empty() && !is_shipped(corpus.file))
    corpus.passed_over = fmt::format(
        "ISOBAR_DATA: {} is not the Tiny Shakespeare that comes with Isobar: its xxh3 is {}; it is read as it is",
        corpus.source, corpus.file.xxh3);
}

}  // namespace

Corpus open_corpus(const std::string& wanted, const std::string& tokenizer) {
  const std::string kind = tokenizer.empty() ? "char" : tokenizer;
  if (wanted == "synthetic") return synthetic();
  if (TokenStore::is_one(wanted)) {
    check(tokenizer.empty(), "--tokenizer: {} brings its own; leave the option out", wanted);
    Corpus corpus{.text = {}, .source = wanted};
    corpus.store = std::make_unique<TokenStore>(wanted);
    corpus.file = {file_name(wanted), corpus.store->checksum()};
    return corpus;
  }
  Corpus corpus = found_text(wanted);
  const std::string text = read_text(corpus.source);
  corpus.text = TextCorpus::from_text(text, kind);
  take_file(corpus, wanted, text);
  return corpus;
}

Corpus open_corpus_with(const std::string& wanted, const Tokenizer& tokenizer) {
  if (TokenStore::is_one(wanted)) {
    Corpus corpus = open_corpus(wanted, "");
    check(corpus.tokenizer().to_json() == tokenizer.to_json(),
          "--corpus: {} was made with another tokenizer than the model; prepare it anew with the model's",
          wanted);
    return corpus;
  }
  Corpus corpus;
  std::string text;
  if (wanted == "synthetic") {
    corpus = synthetic();
    text = corpus.text.tokenizer->decode(corpus.text.tokens);
  } else {
    corpus = found_text(wanted);
    text = read_text(corpus.source);
    take_file(corpus, wanted, text);
  }
  corpus.text.tokenizer = tokenizer_from_json(tokenizer.to_json());
  try {
    corpus.text.tokens = tokenizer.encode(text);
  } catch (const Error& error) {
    throw_error(fmt::format("--corpus: {}: {}", corpus.source, error.what()));
  }
  return corpus;
}

DataFile file_of_corpus(const std::string& wanted) {
  if (wanted == synthetic_file.name) return synthetic_file;
  if (TokenStore::is_one(wanted)) return {file_name(wanted), TokenStore(wanted).checksum()};
  const std::string source = found_text(wanted).source;
  return {file_name(source), checksum(read_text(source))};
}

void Corpus::announce(Run& run, std::optional<bool> as_is) const {
  run.environment()["corpus"] = source;
  run.reads(file);
  if (!passed_over.empty()) run.warn("{}", passed_over);
  if (!notice.empty() && !as_is.value_or(false))
    run.warn("{}; it is read as it is{}", notice, as_is ? " (--as_is: without this line)" : "");
}

int32_t Corpus::first_token() const {
  if (!store) return text.tokens.front();
  int32_t token = 0;
  store->read(0, {&token, 1});
  return token;
}

TokenDataset Corpus::train(int64_t block_size) const {
  if (!store) return TokenDataset(text.train(), block_size, "training part");
  return TokenDataset(*store, 0, train_part(store->size()), block_size, "training part");
}

TokenDataset Corpus::validation(int64_t block_size) const {
  if (!store) return TokenDataset(text.validation(), block_size, "validation part");
  return TokenDataset(*store, train_part(store->size()), store->size(), block_size, "validation part");
}

bool is_tiny_shakespeare(const Corpus& corpus) {
  return corpus.file.name == "tinyshakespeare.txt" && is_shipped(corpus.file) && !corpus.store &&
         corpus.text.tokens.size() == 1'115'394;
}

double tokens_per_character(const Corpus& corpus) {
  const int64_t begin = train_part(corpus.tokens()), end = corpus.tokens();
  size_t characters = 0;
  std::vector<int32_t> block;
  for (int64_t place = begin; place < end; place += static_cast<int64_t>(block.size())) {
    block.resize(std::min<int64_t>(store_chunk, end - place));
    if (corpus.store)
      corpus.store->read(place, block);
    else
      std::copy_n(corpus.text.tokens.begin() + place, block.size(), block.begin());
    characters += display_width(corpus.tokenizer().decode(block));
  }
  return static_cast<double>(end - begin) / static_cast<double>(std::max<size_t>(characters, 1));
}

}  // namespace isobar
