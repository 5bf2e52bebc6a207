// Programs under the limits that a shell sets: address space, size of files.
#include <doctest/doctest.h>

#include "../run.h"
#include "../studies/tiny_training.h"

namespace isobar::limits_test {

// A program under a limit: what it says on stderr, which must be one line, and its exit code.
Outcome limited(const std::string& limit, const std::string& words, const TemporaryFolder& folder) {
  return run_command(limit + "; timeout -k 1 60 \"$BIN\"/" + words + " >/dev/null", folder.path());
}

TEST_CASE("little address space is enough to start, and for a small training") {
  const TemporaryFolder folder;
  if (limited("ulimit -v 900000", "isobar --version", folder).code != 0) {
    MESSAGE("not tried: this build needs more address space to start");
    return;
  }
  CHECK(limited("ulimit -v 150000", "isobar --version", folder).code == 0);
  CHECK(limited("ulimit -v 900000", tiny_training(folder, 5) + " --out run --threads 2", folder).code == 0);
}

TEST_CASE("many threads need address space, and no memory that the machine does not have") {
  const TemporaryFolder folder;
  // Buffers of 16 GiB, of which nothing is used.
  CHECK(limited(":", "decay_study --depth 2 --seeds 1 --threads 200 --out run", folder).code == 0);
}

TEST_CASE("a file that would grow beyond the limit is refused, and no part of it stays") {
  const TemporaryFolder folder;
  folder.write("long.txt", std::string(100'000, 'x'));
  for (const std::string& words :
       {tiny_training(folder, 20) + " --out run --threads 1",
        std::string("isobar prepare long.txt -o tokens.safetensors"),
        std::string("isobar tokenize train long.txt -o bpe.json --vocab_size 257 --special ''")}) {
    CAPTURE(words);
    const Outcome refused = limited("ulimit -f 2", words, folder);
    CHECK(refused.code == 2);
    // A training that has begun warns that its log ends, too.
    CHECK(refused.err.ends_with("': File too large\n"));
    CHECK(folder.names() == std::vector<std::string>{"long.txt", "text.txt"});
  }
}

TEST_CASE(
    "where the disk of temporary files is full, the message names it, not the device that is written to") {
  const TemporaryFolder folder;
  if (limited("ulimit -f 0", "isobar --version", folder).code != 0) {
    MESSAGE("not tried: this build writes a file to start, as ThreadSanitizer's does");
    return;
  }
  folder.write("t.txt", "to be or not to be");
  const Outcome full = run_command(
      "mkdir temporaries; export TMPDIR=\"$PWD\"/temporaries; (ulimit -f 0; exec \"$BIN\"/isobar prepare t.txt "
      "--tokenizer byte -o /dev/stdout) 2>&1 >/dev/null | cat",
      folder.path());
  INFO(full.out);
  CHECK(holds(full.out, "cannot write '" + folder / "temporaries/isobar."));
  CHECK_FALSE(holds(full.out, "'/dev/stdout'"));
}

TEST_CASE("an export for which there is no room leaves none of its files") {
  const TemporaryFolder folder;
  REQUIRE(limited(":", tiny_training(folder, 5) + " --out run", folder).code == 0);
  std::filesystem::create_directory(folder / "exported");
  const std::string words = "isobar export run -o exported/model.safetensors";
  // Room for config.json and tokenizer.json, and not for the weights.
  const Outcome refused = limited("ulimit -f 6", words, folder);
  CHECK(refused.code == 2);
  CHECK(holds(refused.err, "model.safetensors': File too large"));
  CHECK(std::filesystem::is_empty(folder / "exported"));
  CHECK(limited(":", words, folder).code == 0);
}

}  // namespace isobar::limits_test
