// Checks, when the library is loaded, that the CPU has the features that the library was built for. Without
// the check the program would end later, with an illegal instruction.
//
// ISOBAR_CPU_FEATURES lists the features that the compiler may use, such as "avx avx2 fma"; CMakeLists.txt
// asks the compiler for it. It is undefined where the list is empty, as on a CPU that is not an x86.
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

void say(const char* text, size_t length) {
  // A failed write is ignored: the process ends next.
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, length);
}
void say(const char* text) { say(text, strlen(text)); }

// A name that is not in the table counts as absent.
bool present(const Feature* begin, const Feature* end, const char* name, size_t length) {
  for (const Feature* feature = begin; feature != end; ++feature) {
    if (strlen(feature->name) == length && strncmp(feature->name, name, length) == 0) return feature->present;
  }
  return false;
}

// Names on stderr the features that the library was built with and the CPU lacks. Returns whether there are
// any.
bool report_missing(const Feature* begin, const Feature* end) {
  bool complete = true;
  for (const char* name = ISOBAR_CPU_FEATURES; *name;) {
    size_t length = strcspn(name, " ");
    if (!present(begin, end, name, length)) {
      if (complete)
        say("isobar: built for a CPU (ISOBAR_ARCH=" ISOBAR_ARCH ") with features that this one lacks:");
      say(" ");
      say(name, length);
      complete = false;
    }
    name += length;
    if (*name == ' ') ++name;
  }
  return !complete;
}

}  // namespace

extern "C" __attribute__((constructor(101))) void isobar_check_cpu() {
  __builtin_cpu_init();
  const Feature table[] = {
      {"sse3", __builtin_cpu_supports("sse3")},
      {"ssse3", __builtin_cpu_supports("ssse3")},
      {"sse4.1", __builtin_cpu_supports("sse4.1")},
      {"sse4.2", __builtin_cpu_supports("sse4.2")},
      {"popcnt", __builtin_cpu_supports("popcnt")},
      {"avx", __builtin_cpu_supports("avx")},
      {"avx2", __builtin_cpu_supports("avx2")},
      {"fma", __builtin_cpu_supports("fma")},
      {"bmi", __builtin_cpu_supports("bmi")},
      {"bmi2", __builtin_cpu_supports("bmi2")},
      {"avx512f", __builtin_cpu_supports("avx512f")},
      {"avx512vl", __builtin_cpu_supports("avx512vl")},
      {"avx512bw", __builtin_cpu_supports("avx512bw")},
      {"avx512dq", __builtin_cpu_supports("avx512dq")},
      {"avx512cd", __builtin_cpu_supports("avx512cd")},
      {"avx512ifma", __builtin_cpu_supports("avx512ifma")},
      {"avx512vbmi", __builtin_cpu_supports("avx512vbmi")},
      {"avx512vbmi2", __builtin_cpu_supports("avx512vbmi2")},
      {"avx512vnni", __builtin_cpu_supports("avx512vnni")},
      {"avx512bitalg", __builtin_cpu_supports("avx512bitalg")},
      {"avx512vpopcntdq", __builtin_cpu_supports("avx512vpopcntdq")},
      {"avx512bf16", __builtin_cpu_supports("avx512bf16")},
  };
  if (!report_missing(table, table + sizeof table / sizeof *table)) return;
  say("; build it again with an ISOBAR_ARCH that fits, such as native\n");
  _exit(2);
}

#else

extern "C" void isobar_check_cpu() {}

#endif
