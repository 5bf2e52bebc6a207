// What --profile of a study says of its Profile: shares of the limits, and advice. (autograd/profile_test.cpp)
#include "../../experiments/run/profile_report.h"

#include "../../nn/nn.h"
#include "../../optim/optim.h"
#include "study.h"

namespace isobar::profile_report_test {

using Part = Activity::Part;

TEST_CASE("shares of the limits and sentences follow from the rows") {
  const MachineLimits limits{.threads = 2, .product = 1e9, .triads = {{1e3, 8e9}, {1e9, 1e9}}};
  CHECK(limits.bandwidth(100) == 8e9);
  CHECK(limits.bandwidth(2e3) == 1e9);
  CHECK(limits.bandwidth(1e12) == 1e9);
  const Spent in_linear{.calls = 10, .seconds = 1, .flops = 0.31e9, .bytes = 1e6, .thread_seconds = 2};
  const Spent in_relu{.calls = 10, .seconds = 0.5, .bytes = 0.25e9, .thread_seconds = 1};
  const Spent in_optimizer{.calls = 1, .seconds = 0.5, .thread_seconds = 1};
  ProfileResult result{.rows = {{in_linear, "linear", "blocks.2.fc1", Part::backward, true, 8},
                                {in_relu, "relu", "blocks.2.act", Part::forward},
                                {in_optimizer, "optimizer", ""}},
                       .steps = 1,
                       .walks = 1,
                       .seconds = 2};
  CHECK(share_of_limit(result.rows[0], limits) == doctest::Approx(0.31));
  CHECK(share_of_limit(result.rows[1], limits) == doctest::Approx(0.5));
  CHECK(std::isnan(share_of_limit(result.rows[2], limits)));
  std::vector<std::string> sentences = advice(result, limits);
  REQUIRE(sentences.size() == 3);
  CHECK(
      sentences[0] ==
      "linear in blocks.*.fc1, backward, takes 50.0 % of the time and runs at 31 % of the products' limit: 8 rows; "
      "a larger batch would help");
  CHECK(holds(sentences[1], "relu, forward, takes 25.0 % of the time"));
  CHECK(holds(sentences[1], "at 50 % of the memory's limit; at the limit the time would be 12.5 % less"));
  CHECK(holds(sentences[2], "optimizer takes 25.0 % of the time"));

  result.rows[0].thread_seconds = 1;  // of one thread, whose limit is half of that of two
  CHECK(share_of_limit(result.rows[0], limits) == doctest::Approx(0.62));
  const std::vector<ProfileSum> modules = by_module(result.rows, limits);
  CHECK(modules[0].share() == doctest::Approx(0.62));
}

TEST_CASE("--profile prints tables and writes profile.json and profile.csv") {
  const TemporaryFolder folder;
  Study study;
  study.body = [](Run&) {
    Sequential net(Linear(16, 32, Rng(1)), ReLU(), Linear(32, 4, Rng(2)));
    SGD optimizer(parameters(net), {.lr = 0.1});
    for (int i = 0; i < 5; ++i) {
      Tape tape;
      tape.backward(mean(square(net(ones({8, 16})))));
      optimizer.step();
    }
  };
  const Outcome plain = study.run({"--out", folder / "plain"});
  CHECK_FALSE(holds(plain.out, "Where the time went"));
  CHECK_FALSE(std::filesystem::exists(folder / "plain/profile.json"));
  const Outcome outcome = study.run({"--out", folder / "r", "--profile"});
  INFO(outcome.out, outcome.err);
  CHECK(outcome.code == 0);
  CHECK(holds(outcome.out, "Where the time went: 5 × "));
  CHECK(holds(outcome.out, "Limits of this machine, "));
  CHECK(holds(outcome.out, "linear     backward"));
  CHECK(Json::parse(read_file(folder / "r/profile.json", 10'000'000)).contains("traceEvents"));
  CHECK(holds(read_file(folder / "r/profile.csv", 1'000'000), "linear,0,forward,5,"));
}

}  // namespace isobar::profile_report_test
