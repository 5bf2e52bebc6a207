// core/cpu_check.cpp, seen from outside: what a program does that was built for another CPU.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include <doctest/doctest.h>

namespace {

struct Outcome {
  std::string output;  // stdout and stderr
  int exit_code;
};

Outcome run(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  std::array<char, 256> piece;
  while (fgets(piece.data(), piece.size(), pipe) != nullptr) outcome.output += piece.data();
  int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace

#ifdef __x86_64__

TEST_CASE("a program built for a richer CPU names what is missing and exits with 2 before main") {
  Outcome outcome = run(ISOBAR_BINARY_DIR "/bin/alien_cpu");
  CHECK(outcome.output ==
        "isobar: built for a CPU (ISOBAR_ARCH=alien) with features that this one lacks: avx1024; build it "
        "again "
        "with an ISOBAR_ARCH that fits, such as native\n");
  CHECK(outcome.exit_code == 2);
}

TEST_CASE("programs that link the library carry its CPU check though they never call it") {
  CHECK(run("nm " ISOBAR_BINARY_DIR "/bin/isobar_tests | grep -c isobar_check_cpu").output == "1\n");
}

#endif
