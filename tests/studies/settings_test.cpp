// settings: the built program. What its settings are and how the judge reads them: claims/over_settings_test.cpp.
#include <filesystem>
#include <sstream>

#include "../message_of.h"
#include "study_run.h"

namespace isobar::settings_test {

using doctest::Approx;

const std::string tiny =
    "--nets rmsnorm,none,dyt --width 8 --n_layer 1 --steps 2 --long_steps 3 --block_size 8 --batch_size 2 "
    "--eval_iters 1 --seeds 2";

TEST_CASE("each setting is trained as it says, and differences are those of its pairs") {
  const StudyRun run("settings", tiny);
  CHECK(run.summary["settings"].size() == 16);
  CHECK(run.summary["settings"][0]["name"]["en"] ==
        "weights 0.02, embedding 0.02, AdamW, Tiny Shakespeare, 3 steps");
  for (int i = 1; i <= 16; ++i) {
    const std::string at = ".setting" + std::to_string(i);
    CAPTURE(at);
    const auto loss = [&](const std::string& net, int seed) {
      return run.measured[net + ".loss" + at]["values"][static_cast<size_t>(seed)].get<double>();
    };
    for (const int seed : {0, 1})
      CHECK(run.measured["dyt_minus_rmsnorm" + at]["values"][static_cast<size_t>(seed)].get<double>() ==
            Approx(loss("dyt", seed) - loss("rmsnorm", seed)).epsilon(1e-12));
  }
  // The rows have what the settings say: a quarter is long, and half has an embedding of std 1.
  std::istringstream rows(run.text("trainings.csv"));
  std::string line;
  int64_t all = 0;
  std::getline(rows, line);
  CHECK(line.find("embedding_std") != std::string::npos);
  while (std::getline(rows, line)) ++all;
  CHECK(all >= 16 * 3 * (3 + 2));
}

TEST_CASE("the same command gives the same bytes, and settings that do not go together are refused") {
  const TemporaryFolder folder;
  const std::string there = " --out " + folder / "run";
  const StudyRun whole("settings", tiny);
  CHECK(ran("settings", tiny + there).code == 0);
  CHECK(file_text(folder / "run/trainings.csv") == whole.text("trainings.csv"));
  check_refused("settings", "--nets none,dyt", "rmsnorm is the other side of comparisons");
  check_refused("settings", "--steps 9 --long_steps 9", "wanted more than --steps (9), got 9");
}

}  // namespace isobar::settings_test
