// What ranks say when one of them fails, or has other weights: here on threads; tests/ranks/deaths kills
// processes.
#include <doctest/doctest.h>

#include "../../experiments/lm/checkpointing.h"
#include "../../experiments/run/program.h"
#include "../../nn/nn.h"
#include "../message_of.h"
#include "../run.h"
#include "../scoped_variable.h"
#include "../thread_link.h"

namespace isobar::rank_failures_test {

// What each rank hears of weights of which those of the ranks in `wrong` have the last bit of one number
// flipped.
std::vector<std::string> heard(int size, const std::vector<int>& wrong) {
  std::vector<std::string> said(static_cast<size_t>(size));
  run_ranks(size, [&](Ranks& ranks) {
    Linear layer(3, 2, Rng(1));
    if (std::find(wrong.begin(), wrong.end(), ranks.rank()) != wrong.end())
      *static_cast<unsigned char*>(raw::Access::address(layer.weight, Dtype::f32)) ^= 1;
    said[static_cast<size_t>(ranks.rank())] = message_of(
        [&] { check_same_weights(ranks, named_state(layer), "after step 40", "train_lm --resume DIR"); });
  });
  return said;
}

TEST_CASE("one flipped bit in one rank's weights is found, and all ranks name the minority") {
  for (const std::string& said : heard(3, {})) CHECK(said.empty());
  for (const std::string& said : heard(3, {1})) {
    CAPTURE(said);
    CHECK(said.starts_with("after step 40: rank 1 of 3 ("));
    CHECK(said.ends_with(
        ") has other weights than the 2 ranks that agree: a fault of a machine, or of isobar; go on "
        "from the last checkpoint: train_lm --resume DIR"));
  }
  for (const std::string& said : heard(4, {0})) CHECK(said.starts_with("after step 40: rank 0 of 4 ("));
  const std::string undecided = heard(2, {1})[0];
  CHECK(undecided.starts_with("after step 40: rank 0 of 2 ("));
  CHECK(holds(undecided, ", rank 1 of 2 ("));
  CHECK(holds(undecided, "do not have the same weights"));
}

TEST_CASE("what the first rank finds is what all find, and what it throws, all throw") {
  run_ranks(3, [](Ranks& ranks) {
    const std::string here = std::to_string(ranks.rank());
    CHECK(by_first(ranks, [&] { return here; }) == "0");
    CHECK(message_of([&] {
            by_first(ranks, [&] {
              throw_error("no folder on " + here);
              return here;
            });
          }) == "no folder on 0");
  });
  CHECK(by_first(Ranks::alone(), [] { return "alone"; }) == "alone");
}

TEST_CASE("the time-out is known before words are parsed") {
  CHECK(rank_timeout_in({"--out", "rank_timeout"}) == 300);
  CHECK(rank_timeout_in({"--rank_timeout", "20", "--out", "o"}) == 20);
  CHECK(rank_timeout_in({"--rank-timeout=20", "--rank_timeout=7"}) == 7);
  CHECK(rank_timeout_in({"--rank_timeout"}) == 300);
  CHECK(rank_timeout_in({"--rank_timeout", "soon"}) == 300);
}

TEST_CASE("a verb under mpirun is refused in one line, by every process") {
  const ScopedVariable size("OMPI_COMM_WORLD_SIZE", "4");
  for (const char* number : {"0", "3"}) {
    const ScopedVariable rank("OMPI_COMM_WORLD_RANK", number);
    check_refused(
        "isobar", "report runs",
        "isobar: report: this command is one process, which cannot share its work; start it without mpirun "
        "(studies can: mpirun -n 4 train_lm …)\n");
  }
}

TEST_CASE("one process of srun with PMIx is alone, and several are not") {
  const ScopedVariable rank("PMIX_RANK", "0");
  CHECK(Ranks::launched());
  const ScopedVariable several("SLURM_STEP_NUM_TASKS", "2");
  CHECK(Ranks::launched());
  const ScopedVariable one("SLURM_STEP_NUM_TASKS", "1");
  CHECK_FALSE(Ranks::launched());
}

TEST_CASE("a child is no rank: it does not see what a launcher told its parent") {
  const ScopedVariable rank("OMPI_COMM_WORLD_RANK", "1"), other("PMI_RANK", "1"), third("PMIX_RANK", "1"),
      kept("ISOBAR_LOG", "info");
  const std::string seen = run_child("/usr/bin/env", {}).out;
  CHECK(holds(seen, "ISOBAR_LOG=info"));
  for (const char* name : {"OMPI_", "PMI_", "PMIX_"}) CHECK_FALSE(holds(seen, name));
}

}  // namespace isobar::rank_failures_test
