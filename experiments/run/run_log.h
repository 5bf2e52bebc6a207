// RunLog: what a run says: on the console as it is, and in a file with time and level.
//
//   RunLog log("runs/x/run.log", RunLog::Begin::anew, {});
//   log.say("loss 2.5\n");            // in the file: 2024-05-01 12:00:00.123 info    loss 2.5
//   log.warn("no bf16 here");         // on stderr: warning: no bf16 here
//   log.note("norm: std 0.98");       // level debug: in the file, and not on the console
//
// The file holds level debug and above; trace too where the console shows that. Each call's lines reach it at
// once. A file that cannot be written ends with a warning; the run goes on. One thread at a time.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace isobar {

enum class LogLevel { trace, debug, info, warn, error, off };
inline const std::vector<std::string> log_level_names = {"trace", "debug", "info", "warn", "error", "off"};
// Throws Error that begins with `who` ("--log_level") for another.
LogLevel log_level_from_name(const std::string& name, const std::string& who);

// Where the console's lines go, and which: those of this level and above.
struct LogConsole {
  std::FILE* out = stdout;
  std::FILE* err = stderr;  // for warnings
  LogLevel level = LogLevel::info;
};

class RunLog {
 public:
  enum class Begin { anew, after_what_is_there };

  // The file's lines wait in memory for open().
  explicit RunLog(const LogConsole& console);
  // Opens the file. Throws Error where it cannot, and where something else than a file of its own is there.
  RunLog(const std::string& path, Begin begin, const LogConsole& console);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  void open(const std::string& path, Begin begin);
  // Without a file: drops the lines that wait, and those to come.
  void close();

  // Level info: text with its newlines. A part of a line waits for its end.
  void say(std::string_view text);
  // Level warn: one line.
  void warn(std::string_view text);
  // One or more lines, by default of level debug.
  void note(std::string_view text, LogLevel level = LogLevel::debug);
  // The same for the file alone.
  void keep(std::string_view text, LogLevel level);

 private:
  struct Loggers;
  std::unique_ptr<Loggers> loggers_;
  std::string part_;  // of a line that was not ended yet
};

}  // namespace isobar
