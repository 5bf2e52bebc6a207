// A short soak: the memory of a training stays where it is, and a training that keeps a tensor is found.
#include <doctest/doctest.h>

#include "../run.h"
#include "../sanitizers.h"

namespace isobar::soak_test {

// A short run knows the bytes of live tensors; the resident memory settles later. Under AddressSanitizer
// freed blocks wait in a quarantine of 256 MiB.
#ifdef WITH_ASAN
constexpr const char* growth = "--growth 3";
#else
constexpr const char* growth = "--growth 1";
#endif
Outcome soak(const std::string& options) {
  return run_built("soak", std::string("--warm_up 250 --threads 2 ") + growth + " " + options);
}

TEST_CASE("trainings hold as many bytes of tensors at their end as after 250 steps") {
  const Outcome run = soak("--net 700 --language_model 300");
  CAPTURE(run.out);
  CHECK(run.err == "");
  CHECK(run.code == 0);
  CHECK(run.out.find("net: 700 steps") == 0);
  CHECK(holds(run.out, "\nlanguage model: 300 steps"));
}

TEST_CASE("a training that keeps one tensor is found") {
  const Outcome run = soak("--net 500 --language_model 0 --leak 400");
  CAPTURE(run.out);
  CHECK(run.code == 1);
  CHECK(holds(run.out, "NOT HELD"));
}

TEST_CASE("resident memory that moves further than allowed is found") {
  CHECK(run_built("soak", "--net 300 --language_model 0 --warm_up 1 --growth 0").code == 1);
}

TEST_CASE("a soak that ends in its warm-up says so instead of holding") {
  check_refused("soak", "--warm_up 250 --net 249 --language_model 0",
                "soak: wanted at least 250 steps, the warm-up\n");
}

}  // namespace isobar::soak_test
