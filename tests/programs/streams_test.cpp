// Standard streams that are closed or full: each program keeps its exit code, and no stream's text lands in a
// file.
#include <doctest/doctest.h>

#include "../run.h"
#include "../studies/tiny_training.h"

namespace isobar::streams_test {

// Each of three streams is as it should be, closed, or (but stdin) full.
std::vector<std::string> ways() {
  std::vector<std::string> all = {"<&- >out 2>err", "<&- >&- 2>&-", "<&- >/dev/full 2>&-"};
  for (const char* out : {">out", ">&-", ">/dev/full"})
    for (const char* err : {"2>err", "2>&-", "2>/dev/full"})
      all.push_back(std::string("</dev/null ") + out + " " + err);
  return all;
}

bool stdout_works(const std::string& way) { return holds(way, ">out"); }

TEST_CASE("a program whose standard streams are closed or full ends with its own code") {
  const TemporaryFolder folder;
  folder.write("text.txt", "what is here");
  for (const std::string& way : ways()) {
    CAPTURE(way);
    for (const char* refused : {"train_lm --nonsense", "isobar prepare text.txt -o no/text.safetensors"})
      CHECK_MESSAGE(run_command(std::string("\"$BIN\"/") + refused + " " + way, folder.path()).code == 2,
                    refused);
    // What they print is what they are for.
    // The help starts every study: that none of them takes a closed stream's place.
    const char* const starts = way == "<&- >&- 2>&-" ? "isobar --help" : "isobar --version";
    for (const char* prints : {starts, "isobar tokenize encode --tokenizer byte text.txt"})
      CHECK_MESSAGE(run_command(std::string("\"$BIN\"/") + prints + " " + way, folder.path()).code ==
                        (stdout_works(way) ? 0 : 2),
                    prints);
  }
}

TEST_CASE("a training without standard streams writes the same files as one with them") {
  const TemporaryFolder folder;
  const std::string words = "\"$BIN\"/" + tiny_training(folder, 20) + " --log_level trace --out ";
  REQUIRE(run_command(words + "with >/dev/null 2>&1", folder.path()).code == 0);
  int number = 0;
  for (const char* way : {"<&- >&- 2>&-", ">/dev/full 2>/dev/full"}) {
    CAPTURE(way);
    const std::string out = "without" + std::to_string(number++);
    CHECK(run_command(words + out + " " + way, folder.path()).code == (stdout_works(way) ? 0 : 2));
    for (const char* file : {"/metrics.jsonl", "/loss.csv", "/layers.csv"})
      CHECK_MESSAGE(file_text(folder / (out + file)) == file_text(folder / (std::string("with") + file)),
                    file);
    const auto summary = nlohmann::json::parse(file_text(folder / (out + "/summary.json")));
    CHECK(summary["files"] == nlohmann::json::parse(file_text(folder / "with/summary.json"))["files"]);
  }
}

}  // namespace isobar::streams_test
