// Checks, when the library is loaded, that the CPU has the features that the library was built for. Without
// the check the program would end later, with an illegal instruction.
//
// ISOBAR_CPU_FEATURES has a row {name, whether this CPU has it} for each feature that the compiler may use;
// core/isobar.cmake asks the compiler for them. It is undefined where there is none, as on a CPU that is not an
// x86.
//
// This file is compiled for the plain baseline CPU and calls no inline function or template of any header:
// the linker keeps one copy of those for the whole program, perhaps one that uses the instructions in
// question. The constructor runs before those of other files, which may already use these instructions. No
// code calls it; the library's link option -u keeps it in programs that link the static library.
#include <string.h>
#include <unistd.h>

#ifdef ISOBAR_CPU_FEATURES

namespace {

struct Feature {
  const char* name;
  int present;
};

void say(const char* text) {
  // A failed write is ignored: the process ends next.
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, strlen(text));
}

}  // namespace

extern "C" __attribute__((constructor(101))) void isobar_check_cpu() {
  __builtin_cpu_init();
  const Feature wanted[] = {ISOBAR_CPU_FEATURES};
  bool complete = true;
  for (const Feature& feature : wanted) {
    if (feature.present) continue;
    if (complete)
      say("isobar: built for a CPU (ISOBAR_ARCH=" ISOBAR_ARCH ") with features that this one lacks:");
    say(" ");
    say(feature.name);
    complete = false;
  }
  if (complete) return;
  say("; build it again with an ISOBAR_ARCH that fits, such as native\n");
  _exit(2);
}

#else

extern "C" void isobar_check_cpu() {}

#endif
