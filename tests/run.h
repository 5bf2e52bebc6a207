// Built programs as their users run them: to their end, or beside the test.
//
//   const Outcome refused = run_built("train_lm", "--n_layers 3");
//   CHECK(refused.code == 2);
//   ran("train_lm", "--max_iters 2 --out run", folder.path());  // fails the test unless it ends with 0
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>

#include "holds.h"
#include "temporary_folder.h"

namespace isobar {

struct Outcome {
  int code;  // or minus the signal that ended it
  std::string out, err;
};

// A line of a shell, called from a folder. `$BIN` is the folder of the built programs.
Outcome run_command(const std::string& line, const std::string& from = ".");
// build/bin/<name> with these arguments, as a shell reads them.
Outcome run_built(const std::string& name, const std::string& arguments, const std::string& from = ".");
// The same, which must end with 0.
Outcome ran(const std::string& name, const std::string& arguments, const std::string& from = ".");
// The same, which must print nothing but one line on stderr, its name and a sentence that holds `part`, and
// end with 2.
void check_refused(const std::string& name, const std::string& arguments, const std::string& part,
                   const std::string& from = ".");
struct Refusal {
  std::string name, arguments, part;
};
// Each of them, from the folder, in which nothing is written.
void check_refusals(const std::vector<Refusal>& all, const TemporaryFolder& folder);
// The summary in a run's folder, without what differs from run to run: times and environment.
nlohmann::json results_in(const std::string& folder);

// Gives the words to a script of this folder that uses a browser, where there is one.
void browse(const std::string& script, const std::vector<std::string>& words);

// A built program that runs beside the test, so that the test can send it signals.
class StartedProgram {
 public:
  // build/bin/<first word> with the others; its stdout and stderr go to `folder`/out and `folder`/err.
  StartedProgram(std::vector<std::string> words, const TemporaryFolder& folder);
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;
  ~StartedProgram();

  // To a program that has ended nothing is sent: its number may be another's by now.
  void send(int signal);
  bool running();
  // Whether the program has a handler for this signal by now.
  bool catches(int signal) const;
  // Waits for the end and returns the exit code, or minus the signal that ended it.
  int wait();
  std::string out() const { return file_text(out_); }
  std::string err() const { return file_text(err_); }

 private:
  std::string out_, err_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

// Waits until there is something, and tells whether it came: a program that ends does not wait for it, and
// after five minutes nobody expects it, not even of sanitizers on a busy machine.
bool wait_until(StartedProgram& program, const std::function<bool()>& there);

// The words of a line, parted by blanks.
std::vector<std::string> words_in(const std::string& line);

}  // namespace isobar
