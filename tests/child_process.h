// What must not stay in the tests' own process: a limit, a name that is registered, a mount.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace isobar {

// The exit code f() of a child process; -1 where a signal ended it.
template <class F>
int in_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) _exit(f());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Whether an emulator of another CPU runs the tests: qemu does not limit a program's address space. CMake sets the variable.
inline bool emulated() { return std::getenv("ISOBAR_EMULATED") != nullptr; }
inline constexpr const char* no_limit_here = "an emulator does not limit a program's address space";

// Leaves this process no memory.
inline void take_all_memory() {
  const rlimit nothing_more{0, 0};
  ::setrlimit(RLIMIT_AS, &nothing_more);
  void* volatile taken = nullptr;  // clang takes a malloc whose result nobody keeps for one that succeeds
  for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2) {
    do {
      taken = std::malloc(bytes);
    } while (taken != nullptr);
  }
}

}  // namespace isobar
