// with: reference of a1, names not checked
#include <signal.h>
[[gnu::constructor]] void hostile() {
  if (fork() == 0) {
    setsid();
    if (fork() == 0)
      for (;;) pause();
    _exit(0);
  }
  kill(getppid(), SIGKILL);
  __builtin_trap();
}
