// tokenize and prepare as their users meet them, and train_lm on what they write.
#include <sys/resource.h>

#include "../../data/token_store.h"
#include "../sanitizers.h"
#include "../studies/study_run.h"

namespace isobar::tokenize_test {

// Words of random letters, so many that there are pairs to merge for a large vocabulary.
std::string words(size_t bytes) {
  const Rng rng(1);
  std::string text;
  for (uint64_t i = 0; text.size() < bytes; ++i) {
    const Rng word = rng.split(rng.below(8000, i));
    for (uint64_t letters = 2 + word.below(7, 0), j = 1; j <= letters; ++j)
      text += static_cast<char>('a' + word.below(26, j));
    text += i % 11 == 0 ? ".\r\n" : " ";
  }
  return text.substr(0, bytes);
}

const std::string tiny = " --tiny --max_iters 2";

int64_t peak_memory_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return usage.ru_maxrss * 1024;
}

TEST_CASE("a larger corpus takes no more memory to prepare and to train on") {
  const TemporaryFolder folder;
  folder.write("small.txt", words(1 << 20));
  std::string large;
  while (large.size() < size_t{24} << 20) large += file_text(folder / "small.txt");
  folder.write("large.txt", large);
  int64_t memory[2];
  double trained[2];
  for (const bool is_large : {false, true}) {
    const std::string name = is_large ? "large" : "small";
    const Outcome run =
        ran("isobar prepare", folder / name + ".txt --tokenizer byte -o " + folder / name + ".safetensors");
    memory[is_large] = peak_memory_of_children();
  }
  for (const bool is_large : {false, true}) {
    const std::string name = is_large ? "large" : "small";
    const StudyRun run("train_lm", "--corpus " + folder / name + ".safetensors" + tiny);
    trained[is_large] = run.summary["timing"]["peak_rss_mib"];
  }
  CHECK(TokenStore(folder / "large.safetensors").size() == static_cast<int64_t>(large.size()));
#if !defined(WITH_ASAN) && !defined(WITH_TSAN)  // which keep what was freed, or shadows of it
  // 23 MiB more of text, 92 MiB more of tokens in memory.
  CHECK(memory[1] < memory[0] + (8 << 20));
  CHECK(trained[1] < trained[0] + 40);  // chunks that were looked at are kept, up to 64 MiB
#endif
}

TEST_CASE("train_lm learns the same from a token store as from its text") {
  const TemporaryFolder folder;
  const std::string text = folder.write("corpus.txt", words(20'000));
  ran("isobar tokenize", "train --vocab_size 300 " + text + " -o " + folder / "bpe.json");
  const std::string tokenizer = folder / "bpe.json", store = folder / "bpe.safetensors";
  ran("isobar prepare", text + " --tokenizer " + tokenizer + " -o " + store);
  const StudyRun one("train_lm", "--corpus " + text + " --tokenizer " + tokenizer + tiny),
      two("train_lm", "--corpus " + store + tiny);
  CHECK(one.text("loss.csv") == two.text("loss.csv"));
  for (const char* key : {"val_loss", "bits_per_char", "sample"}) CHECK(one.summary[key] == two.summary[key]);
}

TEST_CASE(
    "whoever reads a corpus says in one line what it looks like if it hardly is a text; --as_is says nothing") {
  const TemporaryFolder folder;
  std::string wide;  // UTF-16
  for (const char c : words(5000)) wide += {c, '\0'};
  folder.write("wide.txt", wide);
  const std::string note =
      "warning: wide.txt looks like UTF-16LE (by its zero bytes); iconv -f UTF-16LE -t UTF-8 makes UTF-8 of it; it is "
      "read as it is (--as_is: without this line)\n";
  for (const auto& [program, arguments] :
       {std::pair{"isobar prepare", "wide.txt -o store.safetensors --force"},
        std::pair{"isobar tokenize", "train --vocab_size 260 wide.txt -o bpe.json --force"},
        std::pair{"train_lm", "--corpus wide.txt --out run --force --tiny --max_iters 2"},
        std::pair{"isobar evaluate", "run --corpus wide.txt"}}) {
    const std::string words = arguments;
    INFO(words);
    const Outcome said = ran(program, words, folder.path()),
                  silent = ran(program, words + " --as_is", folder.path());
    CHECK(said.err.substr(0, said.err.find('\n') + 1) == note);
    CHECK(said.err.find("looks like", note.size()) == std::string::npos);
    CHECK_FALSE(holds(silent.err, "looks like"));
  }
  CHECK(holds(
      ran("lm_norms", "--corpus wide.txt --out norms --tiny", folder.path()).err,
      "looks like UTF-16LE (by its zero bytes); iconv -f UTF-16LE -t UTF-8 makes UTF-8 of it; it is read as it is\n"));
}

TEST_CASE("a lone surrogate in JSON lines costs prepare one line, not the corpus") {
  const TemporaryFolder folder;
  folder.write("a.jsonl", "{\"text\": \"to be\"}\n{\"text\": \"or \\ud83d not\"}\n");
  const Outcome prepared =
      ran("isobar prepare", "a.jsonl --field text --tokenizer byte -o store.safetensors", folder.path());
  CHECK(prepared.err == "warning: lone surrogates, as \\ud83d is, are no characters: 1 read as U+FFFD\n");
  CHECK(holds(prepared.out, "documents: 2;"));
}

TEST_CASE("tokenize gives back any bytes") {
  const TemporaryFolder folder;
  const std::string text = words(5000) + std::string("\xEF\xBB\xBF nul \0 \xFF\xC3\r\n", 14);
  folder.write("corpus.txt", text);
  const std::string corpus = folder / "corpus.txt", tokenizer = folder / "bpe.json";
  const Outcome trained = ran("isobar tokenize", "train --vocab_size 400 " + corpus + " -o " + tokenizer);
  CHECK(holds(trained.out, "400 tokens"));
  for (const std::string& one : {tokenizer, std::string("byte")}) {
    const Outcome encoded = ran("isobar tokenize", "encode --tokenizer " + one + " " + corpus);
    folder.write("tokens.txt", encoded.out);
    CHECK(run_built("isobar tokenize", "decode --tokenizer " + one + " <" + folder / "tokens.txt").out ==
          text);
  }
}

TEST_CASE("tokenize and prepare refuse bad input in one line with exit code 2 and leave nothing behind") {
  const TemporaryFolder folder;
  folder.write("t.txt", "to be");
  folder.write("x.json", R"({"model": {"type": "Unigram"}})");
  folder.write("empty.txt", "");
  ran("isobar prepare", "t.txt -o store.safetensors", folder.path());
  check_refusals(
      {{"isobar tokenize", "", "subcommand"},
       {"isobar tokenize", "learn", "see isobar tokenize --help"},
       {"isobar tokenize", "train t.txt", "--output is required"},
       {"isobar tokenize", "train --vocab_size 300 t.txt -o out", "the text has pairs for 260 only"},
       {"isobar tokenize", "train --vocab_size 9 t.txt -o out", "a vocabulary of at least 257"},
       {"isobar tokenize", "train none.txt -o out", "none.txt: No such file"},
       {"isobar tokenize", "encode --tokenizer x.json t.txt", "the file has no object 'pre_tokenizer'"},
       {"isobar tokenize", "encode --tokenizer byte .", "is a folder"},
       {"isobar tokenize", "train --vocab_size 260 t.txt -o t.txt", "is one of the texts"},
       {"isobar prepare", "t.txt -o t.txt", "is one of the texts"},
       {"isobar tokenize", "decode --tokenizer byte t.txt", "wanted the number of a token, got 'to'"},
       {"isobar prepare", "t.txt", "--output is required"},
       {"isobar prepare", "t.txt --tokenizer word -o out", "wanted char, byte or a .json file, got word"},
       {"isobar prepare", "t.txt --tokenizer x.json -o out", "x.json: the file has no object"},
       {"isobar prepare", "t.txt --field text -o out", "t.txt:1: no JSON"},
       {"isobar prepare", "empty.txt --tokenizer byte -o out", "there is no text"},
       {"isobar prepare", "t.txt -o none/out", "No such file"},
       {"train_lm", "--corpus store.safetensors --tokenizer char --out out", "brings its own"}},
      folder);
}

}  // namespace isobar::tokenize_test
