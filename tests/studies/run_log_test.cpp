// run.log: what a run said, each line with its time and level, in the folder of its results.
#include <regex>
#include <sstream>

#include "../file_size_limit.h"
#include "../message_of.h"
#include "../scoped_variable.h"
#include "study.h"

namespace isobar::run_log_test {

// The log's lines as "level text", without their times; fails where a line has none.
std::vector<std::string> lines_of(const std::string& path) {
  static const std::regex stamped(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} ([a-z]+) *? (.*))");
  std::vector<std::string> lines;
  std::istringstream text(read_file(path, size_t{1} << 20));
  for (std::string line; std::getline(text, line);) {
    std::smatch match;
    CHECK_MESSAGE(std::regex_match(line, match, stamped), line);
    lines.push_back(match[1].str() + " " + line.substr(line.find(match[1]) + 8));
  }
  return lines;
}

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

TEST_CASE("run.log holds what the run said, and the console shows the same without times") {
  const TemporaryFolder folder;
  Study study;
  study.body = [&](Run& run) {
    run.say("step {}", 1);
    run.say(": loss {:.2f}\ntwo\n\n", 2.5);
    run.say("{}", "a\u009b31m\u202eb\n");  // of an untrusted file
    run.note("norm: std 0.98");
    run.warn("no {} here", "bf16");
    CHECK(has(lines_of(folder / "r/run.partial.log"), "info step 1: loss 2.50"));
    run.expect("loss falls", true, "2.5");
  };
  const Outcome outcome = study.run({"--out", folder / "r", "--depth", "3"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("step 1: loss 2.50\ntwo\n\na�31m�b\n\n1 of 1 expectations met (") == 0);
  CHECK(holds(outcome.err, "warning: no bf16 here\n"));
  CHECK_FALSE(std::filesystem::exists(folder / "r/run.partial.log"));
  const std::vector<std::string> lines = lines_of(folder / "r/run.log");
  REQUIRE(lines.size() >= 4);
  CHECK(lines[0].starts_with("debug study "));
  CHECK(lines[1] == "debug command: study --out " + folder / "r --depth 3");
  CHECK(lines[2].starts_with("debug config: {\"preset\":\"plain\",\"seed\":0,\"depth\":3,"));
  CHECK(std::any_of(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("debug cpu: "); }));
  for (const char* line : {"info step 1: loss 2.50", "info two", "info ",
                           "info 1 of 1 expectations met (checks of the program itself, not of a text)",
                           "debug norm: std 0.98", "warning no bf16 here"})
    CHECK_MESSAGE(has(lines, line), line);
  CHECK(lines.back().starts_with("info results: "));
}

TEST_CASE("--log_level and ISOBAR_LOG choose what the console shows, and the file keeps all") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) {
    run.say("a table\n");
    run.note("a detail");
    run.warn("a warning");
    run.record_step({{"loss", 1}});
    run.expect("holds", false, "no");
  };
  int runs = 0;
  const auto shown = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--out", folder / std::to_string(++runs)});
    const Outcome outcome = study.run(arguments);
    CHECK(outcome.code == 1);
    const auto lines = lines_of(folder / (std::to_string(runs) + "/run.log"));
    for (const char* line :
         {"info a table", "debug a detail", "warning a warning", "error EXPECTATION FAILED: holds: no"})
      CHECK_MESSAGE(has(lines, line), line);
    std::string parts;
    for (const char* part :
         {"{\"step\":0", "a detail", "a table", "warning: a warning", "EXPECTATION FAILED"})
      parts += holds(outcome.out + outcome.err, part) ? "1" : "0";
    CHECK(has(lines, "trace {\"step\":0,\"loss\":1}") == (parts[0] == '1'));
    return parts;
  };
  CHECK(shown({}) == "00111");
  CHECK(shown({"--log_level", "trace"}) == "11111");
  CHECK(shown({"--log_level", "debug"}) == "01111");
  CHECK(shown({"--log_level", "warn"}) == "00011");
  CHECK(shown({"--log_level", "error"}) == "00001");
  CHECK(shown({"--log_level", "off"}) == "00000");
  {
    const ScopedVariable variable("ISOBAR_LOG", "warn");
    CHECK(shown({}) == "00011");
    CHECK(shown({"--log_level", "info"}) == "00111");
  }
  check_usage({"--log_level", "loud"},
              "--log_level: wanted one of trace, debug, info, warn, error, off, got 'loud'");
  const ScopedVariable variable("ISOBAR_LOG", "worn");
  check_usage(
      {}, "ISOBAR_LOG: wanted one of trace, debug, info, warn, error, off, got 'worn'; did you mean warn?");
}

TEST_CASE("of a run that took steps and failed run.partial.log stays, with the reason") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) {
    run.record_step({{"loss", 1}});
    throw Diverged("loss is nan at step 1");
  };
  CHECK(study.run({"--out", folder / "r"}).code == 1);
  CHECK(lines_of(folder / "r/run.partial.log").back() == "error loss is nan at step 1");
}

TEST_CASE("a disk that has no room for run.log is a warning, and the run goes on") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) {
    run.note(std::string(60'000, 'x'));
    run.say("one\n");
    run.say("two\n");
  };
  const FileSizeLimit limit(50'000);  // enough for all other files
  const Outcome outcome = study.run({"--out", folder / "r"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.starts_with("one\ntwo\nresults: "));
  CHECK(outcome.err.starts_with("warning: run.log: "));
  CHECK(outcome.err.ends_with("File too large; the run goes on, its log ends here\n"));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(std::filesystem::exists(folder / "r/summary.json"));
}

TEST_CASE("a log begins anew, or after what is there") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.log";
  std::FILE* console = std::tmpfile();
  RunLog(path, RunLog::Begin::anew, {console}).say("one\n");
  RunLog(path, RunLog::Begin::after_what_is_there, {console}).note("two\nthree");
  CHECK(lines_of(path) == std::vector<std::string>{"info one", "debug two", "debug three"});
  RunLog(path, RunLog::Begin::anew, {console}).keep("four", LogLevel::error);
  CHECK(lines_of(path) == std::vector<std::string>{"error four"});
  RunLog(path, RunLog::Begin::anew, {console}).say("half a line");
  CHECK(lines_of(path) == std::vector<std::string>{"info half a line"});
  CHECK(message_of([&] { RunLog("/proc/none/run.log", RunLog::Begin::anew, {}); }).starts_with("run.log: "));
  CHECK(std::ftell(console) == 16);  // "one\n" and "half a line\n": the console shows no notes
  std::fclose(console);
}

}  // namespace isobar::run_log_test
