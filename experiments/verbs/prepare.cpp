// isobar prepare: turns text of any size into a token store, from which train_lm streams.
//
//   isobar prepare corpus.txt -o tokens.safetensors                                    tokens are characters
//   isobar prepare --tokenizer bpe.json --field text a.jsonl b.jsonl.gz -o tokens.safetensors
//   train_lm --corpus tokens.safetensors
//
// Text files may be many, of any size and compressed (.gz); with --field they are JSON lines.
#include <CLI/CLI.hpp>

#include "../../data/text_input.h"
#include "../../data/token_store.h"
#include "../harness/tool.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

struct PrepareLine {
  TextInput input;
  std::string tokenizer = "char", output;
};

// A char tokenizer takes a pass over the text of its own.
std::shared_ptr<const Tokenizer> tokenizer_for(const PrepareLine& line) {
  if (line.tokenizer != "char") return make_tokenizer(line.tokenizer, "");
  for (const std::string& path : line.input.paths)
    check(
        !std::filesystem::is_fifo(path) && !std::filesystem::is_character_file(path),
        "{} can be read only once, but char tokens take two passes; use --tokenizer byte or a tokenizer.json",
        path);
  CharacterSet characters;
  TextFeed feed;
  int64_t documents = 0;
  read_documents(line.input, [&](std::string_view piece, bool last) {
    feed.add(piece, last, [&](const TextPart& part) { return characters.add(part); });
    documents += last;
  });
  if (documents > 1) characters.add({"\n"});  // between them
  return std::make_shared<CharTokenizer>(characters.characters());
}

void write_store(const PrepareLine& line) {
  refuse_as_output(line.input, line.output);
  const std::shared_ptr<const Tokenizer> tokenizer = tokenizer_for(line);
  TokenStoreWriter writer(line.output, tokenizer);
  read_documents(line.input, [&](std::string_view piece, bool last) { writer.add(piece, last); });
  writer.save();
  const int64_t train = train_part(writer.tokens());
  fmt::print(
      "{}: {} tokens of {} kinds from {} bytes; documents: {}; {} tokens to train on, {} to validate\n",
      line.output, writer.tokens(), tokenizer->vocab_size(), writer.text_bytes(), writer.documents(), train,
      writer.tokens() - train);
}

}  // namespace

int prepare(const Words& words) {
  PrepareLine line;
  Tool tool("isobar prepare", "Turns text of any size into a token store, from which train_lm streams.",
            "isobar prepare corpus.txt -o tokens.safetensors\ntrain_lm --corpus tokens.safetensors");
  tool.app().add_option("FILE", line.input.paths, "text files; .gz is decompressed")->required();
  tool.app()
      .add_option("-o,--output", line.output, "the token store to write")
      ->type_name("FILE")
      ->take_last()
      ->required();
  tool.option("--tokenizer", line.tokenizer, "char, byte, or a tokenizer.json");
  tool.option("--field", line.input.field, "the files are JSON lines with their text under this name");
  return tool.run(words, [&] { write_store(line); });
}

}  // namespace isobar::verbs
