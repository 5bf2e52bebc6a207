#include <doctest/doctest.h>

#include "../../experiments/run/progress.h"
#include "../../experiments/run/table.h"

namespace isobar::progress_test {

TEST_CASE("progress tells share, count and time to go, and a bar fits its terminal") {
  CHECK(progress_bar({10, 20, "seeds", 12, "std 0.5"}, 80) ==
        "[██████████··········]  50%  10/20 seeds  ETA 0:12  std 0.5");
  CHECK(progress_line({1, 4, "seeds", 1200}) == "1/4 seeds (25%), 20:00 passed, 1:00:00 to go");
  CHECK(progress_line({0, 4, "seeds", 1}) == "0/4 seeds (0%), 0:01 passed, ? to go");
  // What an earlier run did took none of this one's time.
  CHECK(progress_line({10, 20, "steps", 2, "", 8}) == "10/20 steps (50%), 0:02 passed, 0:10 to go");

  const ProgressState state{10, 20, "steps", 12, "loss 1.5, |gradient| ½"};
  CHECK(progress_bar(state, 62) == "[████····]  50%  10/20 steps  ETA 0:12  loss 1.5, |gradient| ½");
  CHECK(progress_bar(state, 56) == " 50%  10/20 steps  ETA 0:12  loss 1.5, |gradient| ½");
  CHECK(progress_bar(state, 30) == " 50%  10/20 steps  ETA 0:12  l");
  for (size_t columns = 0; columns < 90; ++columns)
    CHECK(display_width(progress_bar(state, columns)) <= columns);
}

}  // namespace isobar::progress_test
