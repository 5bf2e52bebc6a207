// run.log: what a run said, each line with its time, in the folder of its results.
#include <doctest/doctest.h>

#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>

#include "../data/file.h"
#include "../experiments/harness/run_log.h"
#include "file_size_limit.h"
#include "message_of.h"
#include "study.h"
#include "temporary_folder.h"

using namespace isobar;

namespace {

// The log's lines without their times; fails where a line has none.
std::vector<std::string> lines_of(const std::string& path) {
  static const std::regex stamped(R"(\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] (.*))");
  std::vector<std::string> lines;
  std::istringstream text(read_file(path, size_t{1} << 20));
  for (std::string line; std::getline(text, line);) {
    std::smatch match;
    CHECK_MESSAGE(std::regex_match(line, match, stamped), line);
    lines.push_back(match[1]);
  }
  return lines;
}

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

}  // namespace

TEST_CASE("run.log holds what the run said, and the console shows the same without times") {
  const TemporaryFolder folder;
  Study study;
  study.body = [&](Run& run) {
    run.say("step {}", 1);
    run.say(": loss {:.2f}\ntwo\n\n", 2.5);
    CHECK(has(lines_of(folder / "r/run.partial.log"), "step 1: loss 2.50"));
    run.expect("loss falls", true, "2.5");
  };
  const Outcome outcome = study.run({"--out", folder / "r"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("step 1: loss 2.50\ntwo\n\n") == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "r/run.partial.log"));
  const std::vector<std::string> lines = lines_of(folder / "r/run.log");
  REQUIRE(lines.size() >= 4);
  CHECK(lines[0].starts_with("study "));
  for (const char* line : {"step 1: loss 2.50", "two", "", "1 of 1 expectations met"})
    CHECK_MESSAGE(has(lines, line), line);
  CHECK(lines.back().starts_with("results: "));
}

TEST_CASE("under --json run.log holds what went to stderr") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) { run.say("a table\n"); };
  const Outcome outcome = study.run({"--json", "--out", folder / "r"});
  CHECK(outcome.err.find("a table\n") != std::string::npos);
  CHECK(has(lines_of(folder / "r/run.log"), "a table"));
}

TEST_CASE("of a run that took steps and failed run.partial.log stays, with the reason") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) {
    run.record_step({{"loss", 1}});
    throw Diverged("loss is nan at step 1");
  };
  CHECK(study.run({"--out", folder / "r"}).code == 1);
  CHECK(lines_of(folder / "r/run.partial.log").back() == "loss is nan at step 1");
}

TEST_CASE("a full disk does not hide the reason for which a run ended") {
  const TemporaryFolder folder;
  Study study;
  std::optional<FileSizeLimit> limit;
  study.body = [&](Run&) {
    limit.emplace(50);  // enough for stderr, not for a second line of the log
    throw Diverged("loss is nan");
  };
  const Outcome outcome = study.run({"--out", folder / "r"});
  CHECK(outcome.code == 1);
  CHECK(outcome.err == "study: loss is nan\n");
}

TEST_CASE("a log begins anew, or after what is there") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.log";
  std::FILE* console = std::tmpfile();
  RunLog(path, console, RunLog::Begin::anew).say("one\n");
  RunLog(path, console, RunLog::Begin::after_what_is_there).note("two\nthree");
  CHECK(lines_of(path) == std::vector<std::string>{"one", "two", "three"});
  RunLog(path, console, RunLog::Begin::anew).note("four");
  CHECK(lines_of(path) == std::vector<std::string>{"four"});
  CHECK(std::ftell(console) == 4);  // "one\n": notes are not for the console
  std::fclose(console);
}

TEST_CASE("a log that cannot be opened or written is an error") {
  const TemporaryFolder folder;
  CHECK(message_of([&] {
          RunLog("/proc/none/run.log", stdout, RunLog::Begin::anew);
        }).starts_with("run.log: "));
  RunLog log(folder / "run.log", stdout, RunLog::Begin::anew);
  const FileSizeLimit limit(100);
  CHECK(message_of([&] { log.note(std::string(10000, 'x')); }).starts_with("run.log: "));
}
