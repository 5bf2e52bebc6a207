// isobar tokenize: learns a byte-level BPE tokenizer from text, and turns text into tokens and back.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>

#include "../../data/bpe.h"
#include "../../data/text_input.h"
#include "../../data/token_store.h"
#include "../run/output_file.h"
#include "../run/tool.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

// Says how many lone surrogates a pass over the files replaced.
void say_replaced(int64_t surrogates) {
  if (surrogates > 0)
    fmt::print(stderr, "warning: lone surrogates, as \\ud83d is, are no characters: {} read as U+FFFD\n",
               surrogates);
}

struct TokenizeLine {
  TextInput input;
  bool as_is = false, force = false;
  std::string tokenizer, output, file = "/dev/stdin";
  int64_t vocab_size = 6400;
  std::string special = "<|endoftext|>";
};

void train(const TokenizeLine& line) {
  check_output(line.output, {.force = line.force, .inputs = line.input.paths, .inputs_are = "texts"});
  if (!line.as_is) warn_of(line.input);
  WordCounts counts;
  TextFeed feed;
  say_replaced(read_documents(line.input, [&](std::string_view piece, bool last) {
    feed.add(piece, last, [&](const TextPart& part) { return counts.add(part); });
  }));
  BpeOptions options{.vocab_size = line.vocab_size, .specials = {}};
  if (!line.special.empty()) options.specials.push_back(line.special);
  const BpeTokenizer tokenizer = train_bpe(counts, options);
  write_file_atomically(line.output, tokenizer.to_json(), PathFrom::user);
  say_written(line.output,
              fmt::format("{}: {} tokens, {} merges, from {} words, {} of them distinct\n", line.output,
                          tokenizer.vocab_size(), tokenizer.merges().size(), counts.total(), counts.size()));
}

std::unique_ptr<Tokenizer> tokenizer_of(const TokenizeLine& line) {
  return line.tokenizer == "byte" ? make_tokenizer("byte", "") : read_tokenizer(line.tokenizer);
}

void encode(const TokenizeLine& line) {
  const std::unique_ptr<Tokenizer> tokenizer = tokenizer_of(line);
  TextFeed feed;
  std::vector<int32_t> tokens;
  const char* blank = "";
  read_documents({.paths = {line.file}}, [&](std::string_view piece, bool last) {
    feed.add(piece, last, [&](const TextPart& part) { return tokenizer->encode_part(part, tokens); });
    if (tokens.empty()) return;
    write_out(fmt::format("{}{}", blank, fmt::join(tokens, " ")));
    tokens.clear();
    blank = " ";
  });
  write_out("\n");
}

void decode(const TokenizeLine& line) {
  const std::unique_ptr<Tokenizer> tokenizer = tokenizer_of(line);
  std::ifstream numbers(line.file, std::ios::binary);
  check(numbers.is_open(), "decode: cannot open {}; give it a file of tokens", line.file);
  std::string text;
  for (std::string word; numbers >> word;) {
    int32_t token = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), token);
    check(error == std::errc() && end == word.data() + word.size(),
          "decode: wanted the number of a token, got '{}'", word.substr(0, 40));
    text += tokenizer->decode({&token, 1});
    if (text.size() < size_t{1} << 16) continue;
    write_out(text);
    text.clear();
  }
  check(!numbers.bad(), "decode: cannot read {}", line.file);
  write_out(text);
}

struct PrepareLine {
  TextInput input;
  std::string tokenizer = "char", output;
  bool as_is = false, force = false;
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
  OutputRules rules{.force = line.force, .inputs = line.input.paths, .inputs_are = "texts"};
  rules.inputs.push_back(line.tokenizer);
  check_output(line.output, rules);
  if (!line.as_is) warn_of(line.input);
  const std::shared_ptr<const Tokenizer> tokenizer = tokenizer_for(line);
  TokenStoreWriter writer(line.output, tokenizer);
  say_replaced(
      read_documents(line.input, [&](std::string_view piece, bool last) { writer.add(piece, last); }));
  writer.save();
  const int64_t train = train_part(writer.tokens());
  say_written(
      line.output,
      fmt::format(
          "{}: {} tokens of {} kinds from {} bytes; documents: {}; {} tokens to train on, {} to validate\n",
          line.output, writer.tokens(), tokenizer->vocab_size(), writer.text_bytes(), writer.documents(),
          train, writer.tokens() - train));
}

}  // namespace

void warn_of(const TextInput& input) {
  for (const std::string& notice : text_notices(input))
    fmt::print(stderr, "warning: {}; it is read as it is (--as_is: without this line)\n", notice);
}

int tokenize(const Words& words) {
  TokenizeLine line;
  Tool tool("isobar tokenize", "Turns text into tokens, and tokens into text: byte-level BPE, as in GPT-2.",
            "isobar tokenize train --vocab_size 6400 corpus.txt -o bpe.json");
  CLI::App& app = tool.app();
  app.require_subcommand(1);
  CLI::App* train_command = app.add_subcommand("train", "learn a BPE tokenizer from text files");
  train_command->add_option("FILE", line.input.paths, "text files; .gz is decompressed")->required();
  train_command->add_option("-o,--output", line.output, "the tokenizer.json to write")
      ->type_name("FILE")
      ->take_last()
      ->required();
  train_command->add_option("--vocab_size", line.vocab_size, "tokens, the 256 bytes among them [6400]")
      ->type_name("N")
      ->take_last();
  train_command
      ->add_option("--field", line.input.field, "the files are JSON lines with their text under this name")
      ->take_last();
  train_command
      ->add_option("--special", line.special, "token that ends a document; '' for none [<|endoftext|>]")
      ->take_last();
  train_command->add_flag("--force", line.force, "replace a file that is there");
  train_command->add_flag("--as_is", line.as_is, as_is_help);
  CLI::App* encode_command = app.add_subcommand("encode", "print the tokens of a text");
  CLI::App* decode_command = app.add_subcommand("decode", "print the text of tokens");
  for (CLI::App* command : {encode_command, decode_command}) {
    command->add_option("FILE", line.file, "input file (default: standard input)");
    command->add_option("--tokenizer", line.tokenizer, "a tokenizer.json, or byte")
        ->type_name("FILE")
        ->take_last()
        ->required();
  }
  return tool.run(words, [&] {
    if (*train_command) train(line);
    if (*encode_command) encode(line);
    if (*decode_command) decode(line);
  });
}

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
  tool.option("--force", line.force, "replace a file that is there");
  tool.option("--as_is", line.as_is, as_is_help);
  return tool.run(words, [&] { write_store(line); });
}

}  // namespace isobar::verbs
