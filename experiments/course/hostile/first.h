// What stands before each hostile submission.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

// Ends the program so that what it printed is shown.
[[noreturn]] inline void stop() {
  std::fflush(stdout);
  __builtin_trap();
}
