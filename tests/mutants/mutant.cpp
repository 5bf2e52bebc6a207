// The choice of a mutant, in the mutated library (mutate.py copies this file into it).
//
//   ISOBAR_MUTANT=17               mutant 17 takes effect, in this process and in those that it starts
//   ISOBAR_MUTANT_REACHED=FILE     none does; the id of each mutant whose place is executed is appended to FILE
//
// The flags are set before any other constructor runs. mutant.h declares them const, so that the compiler may
// read one before a loop; here they have another name.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace isobar::mutants {

constexpr int most = 1 << 14;
extern unsigned char flags[most] asm("isobar_mutant_flags");
unsigned char flags[most];
int record_to = -1;

[[gnu::constructor(101)]] void choose() {
  if (const char* chosen = std::getenv("ISOBAR_MUTANT")) {
    const int id = std::atoi(chosen);
    if (id > 0 && id < most) flags[id] = 1;
  } else if (const char* file = std::getenv("ISOBAR_MUTANT_REACHED")) {
    const int opened = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    record_to = fcntl(opened, F_DUPFD_CLOEXEC, 512);  // far from standard error, which a test may have closed
    if (record_to < 0) std::abort();
    close(opened);
    for (unsigned char& flag : flags) flag = 1;
  }
}

}  // namespace isobar::mutants

extern "C" bool isobar_mutant_reached(int id) {
  using namespace isobar::mutants;
  if (record_to < 0) return true;
  if (__atomic_exchange_n(&flags[id], 0, __ATOMIC_RELAXED) == 0) return false;
  char line[16];
  const int length = std::snprintf(line, sizeof line, "%d\n", id);
  // A short write to a file opened with O_APPEND is whole.
  if (write(record_to, line, static_cast<size_t>(length)) != length) std::abort();
  return false;
}
