#include "../../data/text.h"

#include <doctest/doctest.h>

#include <set>

#include "../../data/shipped.h"
#include "../message_of.h"
#include "gzipped.h"

namespace isobar::text_test {

// Views of a corpus, and of tokens, that ends with the statement.
template <class Corpus>
constexpr bool outlives_its_tokens = requires {
  std::declval<Corpus>().train();
}
|| requires { std::declval<Corpus>().validation(); };
static_assert(!outlives_its_tokens<TextCorpus>);
static_assert(!outlives_its_tokens<const TextCorpus>);
static_assert(outlives_its_tokens<TextCorpus&>);
static_assert(outlives_its_tokens<const TextCorpus&>);
static_assert(!std::is_constructible_v<TokenDataset, std::vector<int32_t>, int64_t, std::string_view>);
static_assert(std::is_constructible_v<TokenDataset, std::vector<int32_t>&, int64_t, std::string_view>);

std::vector<int32_t> count_up(int32_t length) {
  std::vector<int32_t> tokens(length);
  for (int32_t i = 0; i < length; ++i) tokens[i] = i;
  return tokens;
}

TEST_CASE("corpus reads Tiny Shakespeare as nanoGPT does") {
  const TextCorpus corpus = TextCorpus::read(find_tiny_shakespeare(), "char");
  CHECK(corpus.tokenizer->vocab_size() == 65);
  CHECK(corpus.train().size() ==
        1003854);  // the sizes that nanoGPT's data/shakespeare_char/prepare.py states
  CHECK(corpus.validation().size() == 111540);
  CHECK(corpus.tokenizer->decode(corpus.train().first(14)) == "First Citizen:");
}

TEST_CASE("a corpus is the text of its file, compressed or not, byte for byte") {
  const TemporaryFolder folder;
  const std::string text("line one\r\nline two\0 and \xFF", 25);
  for (const auto& path : {folder.write("a.txt", text), folder.write("a.txt.gz", gzipped(text))}) {
    const TextCorpus corpus = TextCorpus::read(path, "char");
    CHECK(corpus.tokenizer->decode(corpus.tokens) == text);
  }
}

TEST_CASE("corpus gives the first nine tenths to training and the rest to validation") {
  const TextCorpus ten = TextCorpus::from_text("abcdefghij", "byte");
  CHECK(ten.tokenizer->decode(ten.train()) == "abcdefghi");
  CHECK(ten.tokenizer->decode(ten.validation()) == "j");
  for (size_t length = 1; length <= 40; ++length) {
    const TextCorpus corpus = TextCorpus::from_text(std::string(length, 'x'), "char");
    CAPTURE(length);
    CHECK(corpus.train().size() == static_cast<size_t>(length * 9 / 10));
    CHECK(corpus.train().size() + corpus.validation().size() == length);
  }
}

TEST_CASE("corpus says which file it cannot read and why") {
  const TemporaryFolder folder;
  const std::string at = folder.path().string();
  const auto message = [](const std::string& path) {
    return message_of([&] { TextCorpus::read(path, "char"); });
  };
  CHECK(message(at + "/none.txt") ==
        "text: cannot open " + at +
            "/none.txt: No such file or directory; give it a text file that exists "
            "and may be read");
  CHECK(message(at) == "text: " + at + " is a folder; give it a text file");
  CHECK(message(folder.write("empty.txt", "")) == "text: " + at + "/empty.txt is empty; give it a text file");
  // Address 0 of a process cannot be read: the open succeeds, the first read fails.
  CHECK_THROWS_WITH_AS(TextCorpus::read("/proc/self/mem", "byte"),
                       "text: cannot read /proc/self/mem: Input/output error", Error);
  CHECK_THROWS_WITH_AS(TextCorpus::from_text("", "byte"), "text: wanted a corpus, got an empty text", Error);
  CHECK_THROWS_WITH_AS(TextCorpus::from_text("abc", "bpe"),
                       "tokenizer: wanted char, byte or a .json file, got bpe", Error);
}

TEST_CASE("token windows come with their next tokens") {
  const std::vector<int32_t> tokens = count_up(10);
  const TokenDataset dataset(tokens, 4, "training part");
  CHECK(dataset.size() == 6);
  const std::vector<int64_t> indices{0, 5};
  const auto [x, y] = dataset.batch(indices);
  CHECK(x.shape() == Shape{2, 4});
  CHECK(x.to_vector<int64_t>() == std::vector<int64_t>{0, 1, 2, 3, 5, 6, 7, 8});
  CHECK(y.to_vector<int64_t>() == std::vector<int64_t>{1, 2, 3, 4, 6, 7, 8, 9});
  CHECK(x.dtype() == Dtype::i64);
}

TEST_CASE("random token batches reach every window and nothing else") {
  const std::vector<int32_t> tokens = count_up(10);
  const TokenDataset dataset(tokens, 4, "training part");
  const auto [x, y] = dataset.random_batch(500, Rng(1));
  CHECK(y.shape() == Shape{500, 4});
  std::set<int64_t> first;
  const auto starts = x.to_vector<int64_t>();
  for (int64_t b = 0; b < 500; ++b) first.insert(starts[4 * b]);
  CHECK(first == std::set<int64_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a part shorter than a block and one is refused with its length and the repair") {
  const std::vector<int32_t> tokens = count_up(40);
  CHECK(TokenDataset(tokens, 39, "validation part").size() == 1);
  CHECK_THROWS_WITH_AS(
      TokenDataset(tokens, 40, "validation part"),
      "text: the validation part holds 40 tokens, but a block of 40 needs at least 41; take a "
      "block_size of at most 39 or a longer corpus",
      Error);
  CHECK_THROWS_WITH_AS(
      TokenDataset(std::span(tokens).first(1), 8, "training part"),
      "text: the training part holds 1 tokens, but a block of 8 needs at least 9; take a longer corpus",
      Error);
  CHECK_THROWS_WITH_AS(TokenDataset(tokens, 0, "training part"),
                       "text: wanted a block size of at least 1, got 0", Error);
}

TEST_CASE("token windows outside are refused") {
  const std::vector<int32_t> tokens = count_up(10);
  const TokenDataset dataset(tokens, 4, "training part");
  const std::vector<int64_t> after{6}, before{-1};
  CHECK_THROWS_WITH_AS(dataset.batch(after), "text: window 6 is outside of 0 … 5", Error);
  CHECK_THROWS_WITH_AS(dataset.batch(before), "text: window -1 is outside of 0 … 5", Error);
  CHECK_THROWS_WITH_AS(dataset.random_batch(0, Rng(1)), "text: wanted a batch size of at least 1, got 0",
                       Error);
}

}  // namespace isobar::text_test
