// core/cpu_check.cpp, seen from outside: what a program does that was built for another CPU.
#include <doctest/doctest.h>

#include "../run.h"

namespace isobar::cpu_check_test {

#ifdef __x86_64__

TEST_CASE("a program built for a richer CPU names what is missing and exits with 2 before main") {
  const Outcome outcome = run_built("alien_cpu", "");
  CHECK(outcome.out.empty());
  CHECK(outcome.err ==
        "isobar: built for a CPU (ISOBAR_ARCH=alien) with features that this one lacks: avx1024; build it "
        "again "
        "with an ISOBAR_ARCH that fits, such as native\n");
  CHECK(outcome.code == 2);
}

TEST_CASE("programs that link the library carry its CPU check though they never call it") {
  CHECK(run_command("nm " ISOBAR_BINARY_DIR "/bin/isobar_tests | grep -c isobar_check_cpu").out == "1\n");
}

#endif

}  // namespace isobar::cpu_check_test
