// The file that a user names with -o: when it is replaced, what happens to links, and what is never written.
#include <doctest/doctest.h>

#include "../../data/file.h"
#include "../run.h"

namespace isobar::outputs_test {

namespace fs = std::filesystem;

// A folder with a training, a text and its tokenizer.
const TemporaryFolder& place() {
  static const TemporaryFolder folder;
  static const bool made = [] {
    folder.write("t.txt", "to be or not to be, that is the question");
    ran("train_lm", "--tiny --corpus synthetic --out run", folder.path());
    ran("isobar export", "run -o model/model.safetensors", folder.path());
    return true;
  }();
  CHECK(made);
  return folder;
}

struct Writer {
  std::string program, arguments, output;
};
// Every program that writes a file which its user names.
const std::vector<Writer>& writers() {
  static const std::vector<Writer> all = {
      {"isobar prepare", "t.txt --tokenizer byte -o", "tokens.safetensors"},
      {"isobar tokenize", "train t.txt --vocab_size 258 --special '' -o", "bpe.json"},
      {"isobar export", "run -o", "out/model.safetensors"},
      {"isobar import", "model/model.safetensors -o", "back.safetensors"},
      {"isobar report", "run -o", "page.html"},
      {"isobar report", "run --svg loss -o", "loss.svg"},
      {"isobar facts", "-o", "facts.json"},
      {"train_lm", "--tiny --corpus synthetic --tape-page", "tape.html"}};
  return all;
}

TEST_CASE("a file that is there is replaced only with --force, by every program that writes one") {
  const TemporaryFolder& folder = place();
  for (const auto& [program, arguments, output] : writers()) {
    const std::string words = arguments + " " + output;
    ran(program, words, folder.path());
    const std::string made = file_text(folder / output);
    folder.write(output, "mine");
    check_refused(program, words, output + ": is there already; choose another ", folder.path());
    CHECK(file_text(folder / output) == "mine");
    ran(program, words + " --force", folder.path());
    CHECK(file_text(folder / output).size() == made.size());
    // A page and a chart are renewed, as they often are; nothing else is.
    const bool renewed = output.ends_with(".html") || output.ends_with(".svg");
    CHECK(run_built(program, words, folder.path()).code == (renewed ? 0 : 2));
  }
}

TEST_CASE("an output that is a link stays one, and its target is written") {
  const TemporaryFolder& folder = place();
  for (const auto& [program, arguments, output] : writers()) {
    const std::string link = "links/" + output, target = folder / "disk/" + output;
    folder.write("disk/" + output, "old");
    fs::create_directories(fs::path(folder / link).parent_path());
    fs::create_symlink(target, folder / link);
    ran(program, arguments + " " + link + " --force", folder.path());
    CHECK(fs::is_symlink(folder / link));
    CHECK(file_text(target) != "old");
    CHECK_FALSE(fs::is_symlink(target));
  }
}

TEST_CASE("no program writes over a file that it reads, by whatever name") {
  const TemporaryFolder& folder = place();
  const std::string checkpoint = "run/checkpoints/step_000006.safetensors",
                    before = file_text(folder / checkpoint),
                    model = file_text(folder / "model/model.safetensors"), text = file_text(folder / "t.txt");
  REQUIRE(!before.empty());
  fs::create_symlink(folder / checkpoint, folder / "link.safetensors");
  fs::create_hard_link(folder / checkpoint, folder / "hard.safetensors");
  fs::create_symlink(folder / "t.txt", folder / "link.txt");
  for (const std::string& output :
       {checkpoint, std::string("link.safetensors"), std::string("hard.safetensors")})
    for (const std::string& input : {std::string("run"), checkpoint})
      check_refused("isobar export", input + " --force -o " + output,
                    "is one of the checkpoints that are read", folder.path());
  for (const char* output : {"model/model.safetensors", "model/config.json", "model/tokenizer.json"})
    check_refused("isobar import", std::string("model/model.safetensors --force -o ") + output,
                  "is one of the model's files that are read", folder.path());
  for (const char* output : {"t.txt", "link.txt"})
    for (const char* program : {"isobar prepare", "isobar tokenize"})
      check_refused(program, std::string(program[7] == 't' ? "train " : "") + "t.txt --force -o " + output,
                    "is one of the texts that are read", folder.path());
  check_refused("isobar report", "run --force -o run/summary.json", "is one of the files that are read",
                folder.path());
  CHECK(file_text(folder / checkpoint) == before);
  CHECK(file_text(folder / "model/model.safetensors") == model);
  CHECK(file_text(folder / "t.txt") == text);
}

TEST_CASE("no program writes its output over a file of its own results, by whatever name") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "r");
  fs::create_directory_symlink("r", folder / "link");
  const std::pair<std::string, std::string> programs[] = {
      {"duel", "layernorm rmsnorm --tiny --out r --force -o"},
      {"train_lm", "--tiny --corpus synthetic --out r --force --tape-page"},
      {"isobar verify", "--kept --out r --force --page"}};
  for (const auto& [program, words] : programs) {
    for (const char* name : {"r/summary.json", "./r/run.h5", "r/../r/run.partial.log", "link/trainings.jsonl",
                             "r/summary.partial.json"}) {
      CAPTURE(name);
      check_refused(program, words + " " + name, "is a file of the run's own results in 'r'", folder.path());
    }
    CHECK(names_in(folder / "r").empty());
  }
}

TEST_CASE("no program writes its page over what the same command reads, nor with --force") {
  const TemporaryFolder folder;
  const std::string text = "some text to learn from, some more of it, and the end of the text\n";
  folder.write("my.txt", text);
  ran("train_lm", "--tiny --corpus synthetic --max_iters 2 --out a", folder.path());
  run_command("\"$BIN\"/train_lm --tiny --corpus synthetic --print-config > c.json", folder.path());
  const std::string config = file_text(folder / "c.json");
  folder.write("of_text.json", R"({"corpus": "my.txt"})");
  const std::pair<std::string, std::string> commands[] = {
      {"duel layernorm rmsnorm --tiny --corpus my.txt -o my.txt --force",
       "is one of the files that are read"},
      {"train_lm --tiny --corpus=my.txt --tape-page my.txt --force", "is one of the files that are read"},
      {"train_lm --config c.json --tape-page ./c.json --force", "is one of the files that are read"},
      {"train_lm --config of_text.json --tape-page my.txt --force", "is one of the files that are read"},
      {"train_lm --init_from a --tape-page a/checkpoints/step_000002.safetensors --out b --force",
       "is in the folder 'a', which is read"},
      {"train_lm --resume a --tape-page a/metrics.jsonl --force",
       "is a file of the run's own results in 'a'"}};
  for (const auto& [line, part] : commands) {
    const size_t space = line.find(' ');
    check_refused(line.substr(0, space), line.substr(space + 1), part, folder.path());
  }
  CHECK(file_text(folder / "my.txt") == text);
  CHECK(file_text(folder / "c.json") == config);
  ran("train_lm", "--tiny --corpus my.txt --tape-page page.html --out b", folder.path());
  ran("train_lm", "--tiny --corpus my.txt --tape-page page.html --out b --force", folder.path());
  // A page in a folder that is read is new, or a page.
  for (int i = 0; i < 2; ++i) ran("train_lm", "--init_from a --tape-page a/page.html", folder.path());
}

TEST_CASE("a folder whose name begins as an option does is named as a command takes it") {
  const TemporaryFolder folder;
  ran("rank_collapse", "--tiny --out=-x", folder.path());
  check_refused("rank_collapse", "--tiny --out=-x", "'./-x' holds a finished run", folder.path());
}

TEST_CASE("an output in /dev is written to, and what is said of it goes to stderr") {
  const TemporaryFolder& folder = place();
  ran("isobar prepare", "t.txt --tokenizer byte -o whole.safetensors", folder.path());
  fs::create_symlink("/dev/fd/1", folder / "standard");
  for (const char* output : {"/dev/fd/1", "/proc/self/fd/1", "standard"}) {
    CAPTURE(output);
    const Outcome outcome =
        ran("isobar prepare", std::string("t.txt --tokenizer byte -o ") + output, folder.path());
    CHECK(outcome.out == file_text(folder / "whole.safetensors"));
    CHECK(holds(outcome.err, std::string(output) + ": 40 tokens of "));
  }
  // After what is in the file already, as other programs do.
  ran("isobar tokenize", "train t.txt --vocab_size 258 --special '' -o bpe_of_t.json", folder.path());
  CHECK(
      run_command(
          "{ echo first; \"$BIN\"/isobar tokenize train t.txt --vocab_size 258 --special '' -o /dev/fd/1; echo "
          "last; } >all",
          folder.path())
          .code == 0);
  CHECK(file_text(folder / "all") == "first\n" + file_text(folder / "bpe_of_t.json") + "last\n");
}

}  // namespace isobar::outputs_test
