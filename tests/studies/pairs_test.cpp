// Pairs: nets that are trained from the same seeds, each at the rate that a sweep chose.
#include "../../experiments/run/measurements.h"
#include "study.h"

namespace isobar::pairs_test {

struct Job {
  std::string label;
  double rate = 0;
  uint64_t seed = 0;

  Json settings() const { return {{"net", label}, {"rate", rate}, {"seed", seed}}; }
};

TEST_CASE("a rate is chosen by seeds that judge nothing, and never where it diverged") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run& run) {
    // By the seeds of a sweep 3 is the best rate; by those that are judged it is the worst; 9 diverges.
    Pairs<Job> pairs{run, 2, [](const Job& job) {
                       const bool judges = job.seed < 1'000'000;
                       const double distance = std::abs(std::log(job.rate / 3));
                       return NamedValues{{"loss", job.rate > 8 ? NAN : judges ? -distance : distance}};
                     }};
    const std::vector<Job> best =
        pairs.best_of({{{"a", 1}, {"a", 3}, {"a", 9}}, {{"b", 9}, {"b", 6}}, {{"c", 9}}}, 3, "loss");
    REQUIRE(best.size() == 3);
    CHECK(best[0].rate == 3);
    CHECK(best[1].rate == 6);
    CHECK(best[2].rate == 9);  // there is no other
    CHECK(best[1].label == "b");
    pairs.train_all(best);
    CHECK(pairs.runs.at("a").size() == 2);
    CHECK(pairs.mean_of("b", "loss") == -std::log(2));
    pairs.tell("a", {"loss"});
    pairs.publish();
  };
  const Outcome outcome = study.run({"--out", folder / "run", "--seed", "5"});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  const std::string trainings = file_text(folder / "run/trainings.csv");
  for (const char* seed : {"1000005", "1000006", "1000007"}) CHECK(holds(trainings, seed));
  CHECK(results_in(folder / "run")["measured"]["a.loss"]["values"] == nlohmann::json{0.0, 0.0});
}

}  // namespace isobar::pairs_test
