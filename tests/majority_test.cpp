// majority as its users meet it: it learns, its pairs are pairs, and what it refuses.
#include <doctest/doctest.h>

#include <cmath>

#include "built_study.h"

using namespace isobar;
using Json = nlohmann::json;
using doctest::Approx;

namespace {

Json run_json(const std::string& arguments) { return summary_of("majority", arguments); }

}  // namespace

TEST_CASE("one layer learns which token is the most frequent, and longer vectors learn it sooner") {
  const Json measured =
      run_json("--norms rmsnorm,rmsnorm_short --depths 1 --seeds 1 --steps 130").at("measured");
  const auto value = [&](const std::string& key) { return measured.at(key).at("median").get<double>(); };
  CHECK(value("rmsnorm.L1.accuracy") > 0.85);  // its own token: 0.42
  CHECK(value("rmsnorm_short.L1.accuracy") < 0.8);
  CHECK(value("rmsnorm.L1.steps") <= 130);
  CHECK(measured.at("rmsnorm_short.L1.steps").at("nonfinite") == 1);  // never: infinite, not the last step
  CHECK(value("rmsnorm_short_minus_rmsnorm.L1.accuracy") ==
        Approx(value("rmsnorm_short.L1.accuracy") - value("rmsnorm.L1.accuracy")));
  CHECK_FALSE(measured.contains("rmsnorm_minus_rmsnorm.L1.accuracy"));
}

TEST_CASE(
    "at learning rate near 0 a layer stays where it began, and norms begin alike but for their formula") {
  const std::string small = " --learning_rate 1e-30 --steps 20 --batch 2 --seeds 2 --norms ";
  const Json measured = run_json("--depths 1,2" + small + "rmsnorm,none,layernorm").at("measured");
  for (const std::string norm : {"none", "layernorm"})
    for (const std::string depth : {"1", "2"})
      CHECK(
          std::abs(measured.at(norm + "_minus_rmsnorm.L" + depth + ".accuracy").at("median").get<double>()) <
          0.15);
  CHECK(measured.at("rmsnorm.L1.accuracy").at("max").get<double>() < 0.6);
}

TEST_CASE("majority gives the same values for any number of threads") {
  const std::string sizes = " --depths 1,2 --steps 10 --batch 4 --seeds 2";
  const Json one = run_json("--threads 1" + sizes), two = run_json("--threads 2" + sizes);
  CHECK(one.at("measured").dump() == two.at("measured").dump());
  CHECK(one.at("expectations").empty());  // other sizes than its own have none
}

TEST_CASE("majority exits with 2 and one line where a flag has no meaning") {
  check_refuses("majority",
                {"--norms pots", "--norms ''", "--depths 0", "--depths ''", "--depths 9999", "--steps 0",
                 "--batch 0", "--seeds 0", "--d_model 0", "--learning_rate 0", "--dropout 1"});
}
