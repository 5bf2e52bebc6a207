// RunLog: what a run says, on the console and, with time stamps, in a file.
//
//   RunLog log("runs/x/run.log", stdout, RunLog::Begin::anew);
//   log.say("loss 2.5\n");      // the text as it is; in the file: [2024-05-01 12:00:00.123] loss 2.5
//   log.note("interrupted");    // in the file alone
//
// Each line reaches the file at once: readers see it, and a kill does not lose it. One thread at a time.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace isobar {

class RunLog {
 public:
  enum class Begin { anew, after_what_is_there };

  // Opens the file. Throws Error where it cannot, and later where it cannot be written.
  RunLog(const std::string& path, std::FILE* console, Begin begin);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  // The text as it is on the console. The file gets whole lines: a part of a line waits for its end.
  void say(std::string_view text);
  // One or more lines for the file.
  void note(std::string_view text);

 private:
  struct Loggers;
  std::unique_ptr<Loggers> loggers_;
  std::string part_;  // of a line that was not ended yet
};

}  // namespace isobar
