// with: reference of a1, names not checked, at start
#include <signal.h>

if (fork() == 0) {
  setsid();
  if (fork() == 0)
    for (;;) pause();
  _exit(0);
}
kill(getppid(), SIGKILL);
__builtin_trap();
