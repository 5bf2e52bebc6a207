// What holds of every study, tried with its preset tiny.
#include <doctest/doctest.h>

#include "../../experiments/harness/json.h"
#include "../run.h"

namespace isobar::studies_test {

void check_same_on_two_threads(const std::string& study, const std::string& words) {
  CAPTURE(study);
  CAPTURE(words);
  const TemporaryFolder one, two;
  ran(study, words + " --out run --threads 1", one.path());
  ran(study, words + " --out run --threads 2", two.path());
  for (const auto& entry : std::filesystem::directory_iterator(one / "run"))
    if (entry.path().extension() == ".csv")
      CHECK(file_text(entry.path()) == file_text(two / ("run/" + entry.path().filename().string())));
  CHECK(results_in(one / "run") == results_in(two / "run"));
  CHECK(results_in(one / "run")["config"]["preset"] == "tiny");
}

TEST_CASE("every study leaves the same results on one thread and on two, with its preset tiny") {
  for (const Json& study : Json::parse(run_built("isobar", "--about").out))
    if (study["ranks"])  // the others measure times
      check_same_on_two_threads(study["name"], "--tiny --seeds 2");
  // Products and pointwise loops that are large enough for two threads.
  check_same_on_two_threads("decay_study", "--tiny --seeds 2 --width 512");
  check_same_on_two_threads("decay_study", "--tiny --seeds 2 --width 512 --batch 128 --norm dyt --dtype f64");
}

}  // namespace isobar::studies_test
