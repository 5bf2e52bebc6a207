#include "../../data/token_store.h"

#include <doctest/doctest.h>
#include <xxhash.h>

#include "../../data/bpe.h"
#include "../../data/file.h"
#include "../file_size_limit.h"
#include "../message_of.h"
#include "../temporary_folder.h"

namespace isobar::token_store_test {

using Tokens = std::vector<int32_t>;

const std::string sentence = "the cat's hat, 2024: schöne Grüße ☃\r\n\n  end\xFF ";

std::shared_ptr<const Tokenizer> bpe() {
  static const std::shared_ptr<const Tokenizer> tokenizer = [] {
    WordCounts counts;
    counts.add({sentence});
    return std::make_shared<BpeTokenizer>(train_bpe(counts, {.vocab_size = 280}));
  }();
  return tokenizer;
}

// A text of this many bytes, most of it words of the sentence.
std::string text_of(size_t bytes) {
  std::string text;
  const Rng rng(1);
  for (uint64_t i = 0; text.size() < bytes; ++i)
    text += std::string_view(sentence).substr(rng.below(sentence.size(), i), 1 + rng.below(9, i));
  return text.substr(0, bytes);
}

void write_store(const std::string& path, const std::vector<std::string>& documents, size_t piece,
                 const std::shared_ptr<const Tokenizer>& tokenizer = bpe()) {
  TokenStoreWriter writer(path, tokenizer);
  for (const std::string& document : documents)
    for (size_t begin = 0; begin < document.size(); begin += piece)
      writer.add(std::string_view(document).substr(begin, piece), begin + piece >= document.size());
  writer.save();
}

Tokens all_tokens(const TokenStore& store) {
  Tokens tokens(store.size());
  store.read(0, tokens);
  return tokens;
}

// The tokens that a file gives, or the error.
std::string outcome(const std::string& path, const Tokens& wanted) {
  try {
    const TokenStore store(path);
    return all_tokens(store) == wanted ? "same" : "other tokens";
  } catch (const Error& error) {
    const std::string message = error.what();
    const bool clear = message.find(path) != std::string::npos && message.find('\n') == std::string::npos;
    return clear ? "refused" : "unclear: " + message;
  }
}

TEST_CASE("a token store gives back the tokens of its documents, separated") {
  const TemporaryFolder folder;
  const std::string path = folder / "tokens.safetensors";
  const std::vector<std::string> documents{text_of(70'000), "", "short", text_of(10)};
  const std::shared_ptr<const Tokenizer> kinds[] = {
      bpe(), std::make_shared<ByteTokenizer>(), std::make_shared<CharTokenizer>(text_of(70'000) + "short")};
  for (const std::shared_ptr<const Tokenizer>& tokenizer : kinds) {
    Tokens wanted;
    for (const std::string& document : documents) {
      if (document.empty()) continue;
      const Tokens tokens = tokenizer->encode(document), between = tokenizer->separator();
      if (!wanted.empty()) wanted.insert(wanted.end(), between.begin(), between.end());
      wanted.insert(wanted.end(), tokens.begin(), tokens.end());
    }
    write_store(path, documents, 1000, tokenizer);
    const TokenStore store(path);
    CHECK(store.size() == static_cast<int64_t>(wanted.size()));
    CHECK(store.size() > 2 * store_chunk);
    CHECK(store.documents() == 3);
    CHECK(store.tokenizer().to_json() == tokenizer->to_json());
    CHECK(all_tokens(store) == wanted);
    for (uint64_t i = 0; i < 200; ++i) {
      const int64_t begin = static_cast<int64_t>(Rng(2).below(wanted.size(), i));
      Tokens window(std::min<int64_t>(Rng(3).below(40'000, i), store.size() - begin));
      store.read(begin, window);
      CHECK(std::equal(window.begin(), window.end(), wanted.begin() + begin));
    }
    Tokens two(2);
    CHECK_THROWS_AS(store.read(store.size() - 1, two), Error);
    CHECK_THROWS_AS(store.read(-1, two), Error);
  }
}

TEST_CASE("a token store does not depend on how its text came in pieces") {
  const TemporaryFolder folder;
  const std::vector<std::string> documents{text_of(60'000), text_of(5)};
  write_store(folder / "whole.safetensors", documents, 1 << 20);
  for (const size_t piece : {7, 4096}) {
    write_store(folder / "pieces.safetensors", documents, piece);
    CHECK(file_text(folder / "pieces.safetensors") == file_text(folder / "whole.safetensors"));
  }
  CHECK(folder.names() == std::vector<std::string>{"pieces.safetensors", "whole.safetensors"});
}

TEST_CASE("batches from a token store are those from memory, bit for bit") {
  const TemporaryFolder folder;
  const std::string path = folder / "tokens.safetensors";
  write_store(path, {text_of(60'000)}, 4096);
  const TokenStore store(path);
  const Tokens tokens = all_tokens(store);
  const int64_t cut = train_part(store.size());
  const TokenDataset from_file[] = {{store, 0, cut, 64, "training part"},
                                    {store, cut, store.size(), 64, "validation part"}};
  const TokenDataset from_memory[] = {{std::span(tokens).first(cut), 64, "training part"},
                                      {std::span(tokens).subspan(cut), 64, "validation part"}};
  for (int part = 0; part < 2; ++part) {
    CHECK(from_file[part].size() == from_memory[part].size());
    for (uint64_t step = 0; step < 20; ++step) {
      const auto [x, y] = from_file[part].random_batch(12, Rng(step));
      const auto [wanted_x, wanted_y] = from_memory[part].random_batch(12, Rng(step));
      CHECK(x.to_vector<int64_t>() == wanted_x.to_vector<int64_t>());
      CHECK(y.to_vector<int64_t>() == wanted_y.to_vector<int64_t>());
    }
  }
  CHECK_THROWS_WITH_AS(TokenDataset(store, cut, store.size() + 1, 64, "part"),
                       doctest::Contains("wanted the part"), Error);
}

TEST_CASE("a cut or flipped token store is refused or gives the right tokens, never others") {
  const TemporaryFolder folder;
  const std::string path = folder / "tokens.safetensors";
  write_store(path, {text_of(40'000)}, 4096);
  const std::string whole = file_text(path);
  const Tokens wanted = all_tokens(TokenStore(path));
  REQUIRE(outcome(path, wanted) == "same");
  size_t refused = 0;
  for (uint64_t i = 0; i < 150; ++i) {
    std::string flipped = whole;
    // Every other one in the header.
    const uint64_t at = Rng(1).below(i % 2 == 0 ? whole.size() : 2048, i), bit = Rng(2).below(8, i);
    flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
    const std::string verdict = outcome(folder.write("flipped.safetensors", flipped), wanted);
    refused += verdict == "refused";
    INFO("byte ", at, ", bit ", bit, ": ", verdict);
    CHECK((verdict == "same" || verdict == "refused"));
  }
  CHECK(refused > 50);
  for (uint64_t i = 0; i < 20; ++i) {
    const size_t length = Rng(3).below(whole.size() - 1, i);
    CAPTURE(length);
    CHECK(outcome(folder.write("cut.safetensors", whole.substr(0, length)), wanted) == "refused");
  }
}

TEST_CASE("a file that is no token store, or pretends to be one, is refused") {
  const TemporaryFolder folder;
  const std::string path = folder / "tokens.safetensors";
  // A store of a hundred bytes, its checksums right, but for what `change` does to it.
  struct Parts {
    FileKind kind{"token store", 2, ""};
    std::map<std::string, std::string> metadata = {
        {"tokenizer", "{\"type\":\"byte\"}\n"}, {"documents", "1"}, {"text_bytes", "100"}};
    std::string name = "tokens", dtype = "I32", checksums_name = "checksums", checksums_dtype = "U8";
    Shape shape{100}, checksums_shape{1, 8};
    std::vector<int32_t> tokens = std::vector<int32_t>(100, 7);
    std::vector<uint64_t> checksums = {};
    std::string checksum_of_checksums = "";
  };
  const auto refusal = [&](const std::function<void(Parts&)>& change) {
    Parts parts;
    change(parts);
    if (parts.checksums.empty())
      parts.checksums = {XXH3_64bits(parts.tokens.data(), parts.tokens.size() * 4)};
    const std::string sums(reinterpret_cast<const char*>(parts.checksums.data()), parts.checksums.size() * 8);
    const uint64_t middle = parts.tokens.size() * 4;
    SafetensorsHeader header{
        {{parts.name, parts.dtype, parts.shape, 0, middle},
         {parts.checksums_name, parts.checksums_dtype, parts.checksums_shape, middle, middle + sums.size()}},
        parts.metadata};
    std::string bytes =
        checked_header(header, parts.kind,
                       parts.checksum_of_checksums.empty() ? checksum(sums) : parts.checksum_of_checksums);
    bytes.append(reinterpret_cast<const char*>(parts.tokens.data()), middle);
    folder.write("tokens.safetensors", bytes + sums);
    std::string message = message_of([&] { all_tokens(TokenStore(path)); });
    if (const size_t at = message.find(path); at != std::string::npos) message.replace(at, path.size(), "F");
    return message;
  };
  struct Case {
    std::function<void(Parts&)> change;
    std::string message;  // up to "…"
  };
  // One row a line reads best: the formatter would spread each over four.
  // clang-format off
  const std::vector<Case> cases = {
      {[](Parts&) {}, ""},
      {[](Parts& p) { p.kind.name = "checkpoint"; }, "F: is no isobar token store, but 'checkpoint'"},
      {[](Parts& p) { p.kind.version = 3; },
       "F: wanted an isobar token store of version 2, got version 3; prepare it again"},
      {[](Parts& p) { p.tokens[3] = 256; },
       "token store: F: token 256 is outside of the tokenizer's 0 … 255"},
      {[](Parts& p) { p.tokens[3] = -1; }, "token store: F: token -1 is outside of the tokenizer's 0 … 255"},
      {[](Parts& p) { p.checksums = {1}; },
       "token store: F: tokens 0 … 99 are damaged: their checksum is another; prepare it again"},
      {[](Parts& p) { p.checksum_of_checksums = std::string(16, '0'); },
       "token store: F: its checksums are damaged; prepare it again"},
      {[](Parts& p) { p.metadata["tokenizer"] = "{}"; }, "tokenizer: F: the file has no object…"},
      {[](Parts& p) { p.metadata["tokenizer"] = "{\"type\":\"word\"}"; }, "tokenizer: F: wanted type byte…"},
      {[](Parts& p) { p.metadata.erase("tokenizer"); }, "token store: F: its metadata have no tokenizer"},
  };
  // clang-format on
  for (const Case& one : cases) {
    const std::string message = refusal(one.change);
    const bool cut = one.message.ends_with("…");
    CHECK((cut ? message.substr(0, one.message.size() - 3) + "…" : message) == one.message);
  }
  for (const std::string number : {"", "x", "-1", "1.5", "1 ", "99999999999999999999"})
    CHECK(refusal([&](Parts& p) { p.metadata["documents"] = number; }) ==
          "token store: F: wanted a number as documents of its metadata");
  const std::string form =
      "token store: F: wanted tokens of U16 or I32, at least one, and 8 bytes of checksum for each 16384 of them";
  CHECK(refusal([](Parts& p) {
          p.tokens.clear();
          p.shape = {0};
          p.checksums_shape = {0, 8};
          p.checksums = {};
        }).find("F: ") != std::string::npos);
  // One row a line reads best: the formatter would spread each over four.
  // clang-format off
  const std::function<void(Parts&)> other_forms[] = {
      [](Parts& p) { p.name = "token"; },
      [](Parts& p) { p.checksums_name = "sums"; },
      [](Parts& p) { p.dtype = "F32"; },
      [](Parts& p) { p.dtype = "U32"; },
      [](Parts& p) { p.shape = {10, 10}; },
      [](Parts& p) { p.checksums_shape = {8}; },
      [](Parts& p) { p.checksums_dtype = "I64", p.checksums_shape = {1, 1}; },
      [](Parts& p) { p.checksums = {1, 2}, p.checksums_shape = {2, 8}; },
  };
  // clang-format on
  for (const auto& change : other_forms) CHECK(refusal(change) == form);
  folder.write("tokens.safetensors", "\x89HDF\r\n\x1a\n" + std::string(200, '\0'));
  CHECK(TokenStore::is_one(path));
  CHECK(
      message_of([&] { TokenStore store(path); }) ==
      path +
          ": is in HDF5, as isobar wrote it before version 0.3, and can no longer be read; prepare it again");
  CHECK_FALSE(TokenStore::is_one(folder.write("text.txt", "no store")));
  CHECK_FALSE(TokenStore::is_one(folder / "missing"));
  // No byte of a store, changed, makes a text of it.
  write_store(path, {"x"}, 10);
  const std::string whole = file_text(path);
  for (size_t byte = 0; byte < 100; ++byte) {
    std::string changed = whole;
    changed[byte] = static_cast<char>(changed[byte] ^ 64);
    CHECK(TokenStore::is_one(folder.write("tokens.safetensors", changed)));
  }
}

TEST_CASE("a token store that the disk has no room for leaves nothing behind") {
  const TemporaryFolder folder;
  const std::string path = folder / "tokens.safetensors";
  const auto bytes = std::make_shared<ByteTokenizer>();
  const auto write = [&] {
    write_store(path, std::vector<std::string>(20, text_of(100'000)), 100'000, bytes);
  };
  for (const rlim_t limit : {1 << 12, 3 << 19, 3 << 20}) {  // at once; with the first tokens; later
    CAPTURE(limit);
    std::string message;
    {
      const FileSizeLimit small(limit);
      message = message_of(write);
    }
    CHECK(message.find("File too large") != std::string::npos);
    CHECK(folder.names().empty());
  }
  write_store(path, {"old"}, 4096);
  {
    const FileSizeLimit small(3 << 20);
    CHECK(message_of(write) != "");
  }
  CHECK(folder.names() == std::vector<std::string>{"tokens.safetensors"});
  CHECK(TokenStore(path).size() == static_cast<int64_t>(bpe()->encode("old").size()));
}

TEST_CASE("a token store without a token, or without a folder, is refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(write_store(folder / "tokens.safetensors", {"", ""}, 10),
                       "token store: there is no text to prepare: all documents are empty", Error);
  CHECK(folder.names().empty());
  CHECK(message_of([&] {
          write_store(folder / "none/tokens.safetensors", {"x"}, 10);
        }).find("No such file") != std::string::npos);
}

}  // namespace isobar::token_store_test
