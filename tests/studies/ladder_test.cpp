// ladder: the shape of a norm's map, HardTanh, and the built program. What it refuses: programs/bounds_test.cpp.
#include <doctest/doctest.h>

#include "../../experiments/lm/watching/shape.h"
#include "../../experiments/nets/norms/norms.h"
#include "../../nn/check/check_layer.h"
#include "study_run.h"

namespace isobar::ladder_test {

using doctest::Approx;

// Rows of a hundred normal numbers, of mean 0 and these stds.
Tensor rows_of(const std::vector<double>& stds) {
  const Tensor z = Rng(1).normal({std::ssize(stds), 100}, 0, 1, Dtype::f64),
               centred = z - mean(z, {-1}, true);
  return centred / sqrt(mean(square(centred), {-1}, true)) * tensor(Shape{std::ssize(stds), 1}, stds);
}

TEST_CASE("a norm's map is straight where all rows have one std, and flat at the ends where they differ") {
  CHECK(ladder::tail_over_centre(rows_of({2, 2, 2, 2, 2, 2})) == Approx(1).epsilon(1e-5));
  // The largest of all are in the last row, whose slope is a tenth of the others'.
  const double bent = ladder::tail_over_centre(rows_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 10}));
  CHECK(bent > 0.09);
  CHECK(bent < 0.13);
  CHECK(std::isnan(ladder::tail_over_centre(rows_of({1}))));
}

TEST_CASE("HardTanh's gradients are those of its formula") {
  const Tensor x = Rng(3).normal({5, 7});
  for (const bool bias : {true, false})
    CHECK(check_layer([bias] { return std::make_unique<HardTanh>(Shape{7}, bias); }, x).passed());
}

const std::string tiny =
    "--nets rmsnorm,none,dyt --n_layer 1 --steps 8 --block_size 8 --batch_size 2 --eval_iters 1 --seeds 2 --widths 8,16,24,32";

TEST_CASE("a ladder whose last rung is added later is as one built in one go") {
  const StudyRun run("ladder", tiny);
  // Three rungs foretell the fourth; continued in the same folder, all is as in one go.
  const TemporaryFolder folder;
  const std::string there = tiny + " --out " + folder / "run";
  const Outcome three = ran("ladder", there + " --rungs 3");
  CHECK(three.out.find("The highest rung as those below foretell it") != std::string::npos);
  CHECK(std::filesystem::exists(folder / "run/trainings.jsonl"));
  const Outcome four = ran("ladder", there);
  CHECK(four.out.find("trainings that an earlier run left") != std::string::npos);
  CHECK(file_text(folder / "run/pairs.csv") == run.text("pairs.csv"));
  CHECK(file_text(folder / "run/foretold.csv") == run.text("foretold.csv"));
  CHECK_FALSE(std::filesystem::exists(folder / "run/trainings.jsonl"));
  check_refused("ladder", there + " --rungs 3", "holds a finished run with --rungs 0, and this one has 3");
  CHECK(file_text(folder / "run/pairs.csv") == run.text("pairs.csv"));
}

TEST_CASE("fewer letters of the text are another rung") {
  const StudyRun run("ladder",
                     "--nets rmsnorm,none --optimizers adamw --n_layer 1 --steps 64 --block_size 8 "
                     "--batch_size 2 --eval_iters 1 --seeds 2 --widths 16 "
                     "--train_tokens 64,128,256");
  CHECK(run("adamw.none_minus_rmsnorm.rung1", "n") == 2);
  CHECK(run("adamw.rmsnorm.loss.rung1") != run("adamw.rmsnorm.loss.rung3"));
  CHECK(run.summary["rungs"][0]["name"]["en"].get<std::string>().starts_with("64 tokens, 0.0"));
}

}  // namespace isobar::ladder_test
