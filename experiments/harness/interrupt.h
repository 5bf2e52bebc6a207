// Interrupt: the first Ctrl-C (SIGINT; or SIGTERM, or SIGHUP, when the terminal closes; or SIGUSR1, which mpirun passes on
// to all ranks) asks a program to stop in good order, the second stops it at once.
//
//   const Interrupt interrupt;      // until it goes out of scope
//   for (…) {
//     …
//     if (interrupt.requested()) { save(); throw Interrupted("…"); }
//   }
//
// One at a time. A signal that was ignored before, as in the background job of a script, stays ignored.
#pragma once

namespace isobar {

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

}  // namespace isobar
