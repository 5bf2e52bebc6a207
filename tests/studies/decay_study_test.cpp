// decay_study as its users run it.
#include <regex>

#include "../scoped_variable.h"
#include "decay_nets.h"
#include "study_run.h"

namespace isobar::decay_study_test {

using doctest::Approx;

TEST_CASE("the program measures what the tests of its parts measure") {
  const decay::Config config =
      decay::config_of({.norm = "rmsnorm", .loss = "random", .depth = 3, .width = 16, .activation = "silu"});
  const decay::Signals signals = decay::measure(config, 3);
  const StudyRun run(
      "decay_study",
      "--norm rmsnorm --activation silu --loss random --depth 3 --width 16 --seeds 1 --seed 3");
  for (size_t i = 0; i < 3; ++i) {
    const Json& layer = run.summary.at("layers").at(i);
    CHECK(layer.at("std").at("output").at("median") == signals.layers.at(i).output_std);
    CHECK(layer.at("grad_norm").at("weight").at("median") == signals.layers.at(i).weight_gradient_norm);
  }
}

TEST_CASE("seeds that differ by decades are told, and so is an activation without a place") {
  const TemporaryFolder folder;
  const std::string words = "--width 8 --batch 4 --seeds 5 --init he_normal --norm rmsnorm --force --out " +
                            (folder / "run") + " --depth ";
  CHECK(holds(ran("decay_study", words + "100").out, "no net has to be near the median"));
  CHECK_FALSE(holds(ran("decay_study", words + "2").out, "no net has to be near the median"));
  check_refused("decay_study", "--topology fixup --activation gelu", "have a ReLU of their own; drop it");
}

TEST_CASE("a free run that overflows is a result: named infinities, exit 0") {
  const StudyRun run("decay_study", "--init normal01 --depth 100 --width 128 --seeds 2");
  const Json& top = run.summary.at("layers").back();
  CHECK(top.at("std").at("output").at("nonfinite") == 2);
  CHECK(top.at("std").at("output").at("median") == "inf");
  CHECK(top.at("std").at("norm").is_null());
}

TEST_CASE("a median over seeds of which most overflowed is infinite, in table, chart, CSV and JSON") {
  const StudyRun run("decay_study", "--width 64 --init normal01 --depth 52 --seeds 9");
  // Each layer multiplies the std by √(64/2): 32^26 is 1e39, beyond f32. Of layer 52 that is so for most seeds.
  const Json& top = run.summary.at("layers").back().at("std").at("output");
  REQUIRE(top.at("nonfinite") >= 5);
  REQUIRE(top.at("nonfinite") < 9);
  CHECK(top.at("median") == "inf");
  CHECK(top.at("max") == "inf");
  CHECK(run("layer52.std") == INFINITY);
  const std::string csv = run.text("layers.csv"),
                    count = fmt::format("{} not finite", top.at("nonfinite").get<int>());
  CHECK(std::regex_search(csv.substr(csv.rfind('\n', csv.size() - 2)), std::regex(",inf,[0-9.e+]+,inf,")));
  CHECK(std::regex_search(run.outcome.out, std::regex("\n *52 +inf +inf \\[[0-9.e+]+, inf\\],")));
  CHECK(holds(run.outcome.out, " " + count));
  CHECK(std::regex_search(run.outcome.out, std::regex("\n52 │[^\n]*▸│ inf\n")));
}

TEST_CASE("blog8 says what the source prints, and compares our medians with PyTorch's ranges") {
  const ScopedVariable wide("COLUMNS", "120");
  const StudyRun run("decay_study", "--preset blog8 --seeds 20");
  CHECK(holds(run.outcome.out,
              "Claim D01 of source 003: table 2.1, of the listing's net (8 layers of width 512 with ReLU): "
              "std after each layer, 0.8932 … 0.0163; the last row alone is D41\n"
              "Verdict: false\n"));
  CHECK(holds(run.outcome.out,
              "Claim D06 of source 003: table 2.3: gradient norms 0.000012 … 0.432156\n"
              "Verdict: false\n"));
  CHECK(holds(run.outcome.out, "0.0163 as one more seed"));
  CHECK(holds(run.outcome.out,
              "Claim D42 of source 003: table 2.1: torch.randn(32, 512) has std 1.0405\n"
              "Verdict: false\n"));
  CHECK(run.summary.at("expectations").size() == 16);
  for (const Json& expectation : run.summary.at("expectations")) CHECK(expectation.at("ok") == true);

  // Another net is not the source's: there is no verdict.
  const StudyRun other("decay_study", "--preset blog8 --seeds 1 --depth 2");
  CHECK_FALSE(holds(other.outcome.out, "Claim D01"));
}

TEST_CASE("a preset with other seeds than PyTorch's is measured, and not compared") {
  for (const std::string preset : {"blog8", "blog8_rmsnorm"}) {
    const StudyRun run("decay_study", "--seeds 3 --preset " + preset);
    CHECK(run.summary.at("expectations").empty());
    CHECK(holds(run.outcome.out, "Not compared with PyTorch's ranges"));
  }
}

TEST_CASE("BatchNorm makes a plain chain's gradients grow by pi / (pi - 1) and more, other norms do not") {
  const auto growth = [](const std::string& flags) {
    return StudyRun("decay_study", "--init he_normal --loss random " + flags)
        .measured.at("output_grad_norm.squared_growth");
  };
  // Many rows: the published limit. Four: κ and κ' of c = −1/3 by hand, (2 + κ + κ')/(1 − κ).
  CHECK(growth("--norm batchnorm --depth 3 --width 2 --batch 60000 --seeds 1").at("theory").get<double>() ==
        Approx(1.46694).epsilon(1e-4));
  const double theta = std::acos(-1.0 / 3), slope = 1 - theta / 3.14159265358979;
  const double kappa = std::sqrt(8.0) / 3 / 3.14159265358979 - slope / 3;
  CHECK(growth("--norm batchnorm --depth 3 --width 2 --batch 4 --seeds 1").at("theory").get<double>() ==
        Approx((2 + kappa + slope) / (1 - kappa)));
  CHECK_FALSE(growth("--norm batchnorm --depth 3 --width 2 --batch 3 --seeds 1").contains("theory"));
  CHECK_FALSE(growth("--norm rmsnorm --depth 3 --width 2 --seeds 1").contains("theory"));
  // 24 layers: seeds differ by 1 % at 32 rows, the mean of five by 0.5 %; 2 % besides for a width of 256.
  const auto measured = growth("--norm batchnorm --depth 48 --width 256 --batch 32 --seeds 5");
  CHECK(measured.at("mean").get<double>() == Approx(measured.at("theory").get<double>()).epsilon(0.03));
  const auto other = growth("--norm rmsnorm --depth 48 --width 256 --batch 32 --seeds 5");
  CHECK(other.at("mean").get<double>() == Approx(1).epsilon(0.05));
}

}  // namespace isobar::decay_study_test
