// with: reference of a1, names not checked
#include <signal.h>
#include <unistd.h>
struct Daemon {
  Daemon() {
    if (fork() == 0) {
      setsid();
      if (fork() == 0)
        for (;;) pause();
      _exit(0);
    }
    kill(getppid(), SIGKILL);
    __builtin_trap();
  }
} daemon_;
