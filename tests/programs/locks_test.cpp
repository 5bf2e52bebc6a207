// One folder, one run: while it goes on, every other run there is refused, and after its end, however it
// ended, not.
#include <doctest/doctest.h>

#include "../../experiments/lm/checkpoints/checkpoint.h"
#include "../run.h"
#include "../studies/tiny_training.h"

namespace isobar::locks_test {

TEST_CASE("a folder into which a run writes is refused to every other run, until it ends or is killed") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  StartedProgram first(words_in(tiny_training(folder, 1'000'000) + " --checkpoint_interval 1 --out " + run),
                       folder);
  while (first.running() && checkpoint_files(run).empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  INFO(first.err());
  REQUIRE(first.running());
  for (const std::string& words :
       {tiny_training(folder, 5) + " --out " + run, tiny_training(folder, 5) + " --force --out " + run,
        "train_lm --resume " + run, "decay_study --depth 2 --out " + run,
        "isobar verify --claim D40 --out " + run}) {
    const Outcome refused = run_built(words, "");
    CAPTURE(refused.err);
    CHECK(refused.code == 2);
    CHECK(
        refused.err.ends_with(": --out: another run is writing into '" + run + "'; choose another folder\n"));
  }
  // Whoever looks at the run is in nobody's way.
  ran("isobar watch", run + " --once");
  first.send(SIGKILL);
  CHECK(first.wait() == -SIGKILL);
  const Outcome next = run_built(tiny_training(folder, 5) + " --force --out " + run, "");
  CHECK_MESSAGE(next.code == 0, next.err);
}

}  // namespace isobar::locks_test
