// The process: what every program does before it reads its words, and how it complains.
#pragma once

#include <cstdio>

#include "../../core/ranks/ranks.h"

namespace isobar {

// Closed standard streams are opened such that using them fails: no file becomes stdout. Beyond ulimit -f a
// write fails in place of ending the process.
void begin_process();

// Messages are no longer than this: a list of all that may be chosen is shorter.
inline constexpr size_t longest_message = 1200;

// "who: message" as one line of printable text. A stream that cannot be written, or is null, changes nothing.
void complain(std::FILE* err, std::string_view who, std::string_view message);

// Thrown where a loss became NaN: exit code 1. (Every other Error counts as bad input: 2.)
class Diverged : public Error {
 public:
  using Error::Error;
};

// Thrown by what was asked to stop and has saved where it is: exit code 130.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// Thrown where something is missing that the command cannot name, as the images of digits: exit code 3.
class Unavailable : public Error {
 public:
  using Error::Error;
};

// What is being thrown, as its exit code and a message; and thrown again, of the type that has this code.
struct Failure {
  int code;
  std::string message;
};
Failure failure_here();
[[noreturn]] void throw_again(const Failure& failure);

// The exit code that the body returns. What it throws becomes a complaint and its exit code.
int exit_code_of(std::string_view who, std::FILE* err, const std::function<int()>& body);

// The same for a body that ranks run together. Where all fail, the first complains. Where one fails alone, it
// complains with its name and ends all. A rank that is silent for more than `timeout` seconds: exit code 4.
int exit_code_of_ranks(std::string_view who, std::FILE* err, double timeout,
                       const std::function<int(Ranks&)>& body);

// What the first rank's `text` is, on all ranks. An Error that it throws there, all throw.
std::string by_first(Ranks& ranks, const std::function<std::string()>& text);

// --- Interrupt: the first Ctrl-C (SIGINT; or SIGTERM, or SIGHUP, when the terminal closes; or SIGUSR1, which
// mpirun passes on to all ranks) asks a program to stop in good order, the second stops it at once.
//
//   const Interrupt interrupt;      // until it goes out of scope
//   for (…) {
//     …
//     if (interrupt.requested()) { save(); throw Interrupted("…"); }
//   }
//
// One at a time. A signal that was ignored before, as in the background job of a script, stays ignored.

class Interrupt {
 public:
  static constexpr const char* finishing_step =
      "\nasked to stop: finishing this step, then saving it; once more to stop at once\n";

  // `notice` goes to stderr at the first signal: a text that outlives this; empty for none.
  explicit Interrupt(const char* notice = finishing_step);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool requested() const;
};

// --- Child processes: programs that run others, and measure them.

struct Finished {
  int code;         // exit code; 128 + number of the signal that ended it
  std::string out;  // what it wrote to stdout
  std::string err;  // and to stderr
};

// Whether a child's stderr goes on to ours as it comes, or is kept alone.
enum class Complaints { shown, kept };

// Runs a program, by its path or from PATH, with these arguments and waits for its end. Throws Error when it
// cannot be started.
Finished run_child(const std::string& program, const std::vector<std::string>& arguments,
                   Complaints complaints = Complaints::shown);

// What `body` returns, as `out`: a fork of this process, which has one thread, computes it. It may crash.
Finished run_apart(const std::function<std::string()>& body);

// Becomes the program at this path, with these words. Throws Error where it cannot be started.
[[noreturn]] void become(const std::string& path, std::vector<std::string> words);

// The path of this very program.
std::string own_path();

}  // namespace isobar
