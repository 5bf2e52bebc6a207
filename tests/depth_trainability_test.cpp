// depth_trainability as its users meet it: the built program, on images that anything but a dead net learns.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "../data/hdf5_file.h"
#include "../experiments/depth/config.h"
#include "program.h"
#include "stripes.h"

using namespace isobar;
using Json = nlohmann::json;

namespace {

// Runs on the stripes, with width 64 and a rate that is given.
Json run_on_stripes(const std::string& arguments) {
  const TemporaryFolder folder;
  write_stripes(folder);
  const Outcome run =
      run_built("depth_trainability", arguments + " --width 64 --learning_rate 3e-3 --json --mnist " +
                                          folder.path().string() + " --out " + folder / "run");
  INFO(arguments, "\n", run.err);
  REQUIRE(run.code == 0);
  return Json::parse(run.out);
}

double median(const Json& summary, const std::string& key) {
  const Json& value = summary.at("measured").at(key).at("median");
  return value.is_number() ? value.get<double>() : std::nan("");
}

}  // namespace

TEST_CASE("depth kills a plain net without a norm, and no pre-norm residual net") {
  const Json summary = run_on_stripes(
      "--topology plain,pre --init default --norm none,rmsnorm --depths 2,32 --steps 60 --seeds 2");
  CHECK(median(summary, "images.train") == 400);
  CHECK(median(summary, "images.test") == 100);
  CHECK(median(summary, "blind.loss") == doctest::Approx(std::log(10)).epsilon(0.01));

  CHECK(median(summary, "plain.default.none.depth2.accuracy") > 0.9);
  CHECK(median(summary, "plain.default.none.depth32.accuracy") < 0.35);
  CHECK(median(summary, "plain.default.none.depth32.over_depth2") < -0.5);
  CHECK(median(summary, "plain.default.none.fails_at") == 32);
  CHECK(median(summary, "plain.default.none.trains_to") == 2);
  // Blind: it knows how often each digit comes, no more.
  CHECK(std::abs(median(summary, "plain.default.none.depth32.train_loss") - std::log(10)) < 0.05);

  CHECK(median(summary, "pre.default.rmsnorm.depth32.accuracy") > 0.9);
  CHECK(std::isnan(median(summary, "pre.default.rmsnorm.fails_at")));
  CHECK(summary["measured"]["pre.default.rmsnorm.fails_at"]["nonfinite"] == 1);
  CHECK(median(summary, "pre.default.rmsnorm.trains_to") == 32);

  // The gradient: √6 a layer below the plateau of biases, which the first layers' larger inputs counter; and
  // layer 1's median has passed 31 layers more than the last one's (decay/theory.h).
  const Json& ratio = summary["measured"]["plain.default.none.depth32.gradient_ratio"];
  // Two standard deviations: log10 of the norm walks at random, by √(5 · 32 / 64) / 2 / ln 10 = 0.34.
  CHECK(std::abs(std::log10(ratio["median"].get<double>() / ratio["theory"].get<double>())) < 0.7);
  CHECK(
      ratio["theory"].get<double>() ==
      doctest::Approx(std::pow(6, 15.5) * std::sqrt(0.2 / 64) * std::exp(5 * 31 / (4.0 * 64))).epsilon(0.3));
  CHECK(summary["findings"].size() == 3);
}

TEST_CASE("nets that start as the identity do so at every depth") {
  const Json summary = run_on_stripes(
      "--topology rezero,fixup --init he_normal --norm none --depths 2,16 --steps 40 --seeds 1");
  REQUIRE(summary["expectations"].size() == 2);
  for (const Json& expectation : summary["expectations"]) CHECK(expectation["ok"] == true);
  CHECK(median(summary, "fixup.he_normal.none.depth16.accuracy") > 0.9);
  CHECK(median(summary, "fixup.he_normal.none.depth16.gradient_first") == 0);
  CHECK(median(summary, "fixup.he_normal.none.depth16.moved_first") > 0);
}

TEST_CASE("a diverged net counts as chance, and is reported") {
  // He's weights: each block triples the mean square, 3^300 is beyond f32.
  const Json summary =
      run_on_stripes("--topology pre --init he_normal --norm none --depths 2,300 --steps 3 --seeds 2");
  CHECK(median(summary, "pre.he_normal.none.depth300.diverged") == 2);
  CHECK(median(summary, "pre.he_normal.none.depth300.accuracy") == 0.1);
  CHECK(summary["measured"]["pre.he_normal.none.depth300.train_loss"]["nonfinite"] == 2);
  CHECK(median(summary, "pre.he_normal.none.depth2.diverged") == 0);
}

TEST_CASE("the sweep, and the same bits on one and two threads") {
  const TemporaryFolder folder;
  write_stripes(folder);
  for (const char* threads : {"1", "2"}) {
    const Outcome run =
        run_built("depth_trainability",
                  "--topology post --init default --norm dyt --depths 2,9 --steps 5 --seeds 2 "
                  "--width 32 --mnist " +
                      folder.path().string() + " --threads " + threads + " --out " + folder / threads);
    INFO(run.err);
    REQUIRE(run.code == 0);
  }
  CHECK(file_text(folder / "1/depth.csv") == file_text(folder / "2/depth.csv"));
  const Json summary = Json::parse(file_text(folder / "1/summary.json"));
  CHECK(summary["measured"] == Json::parse(file_text(folder / "2/summary.json"))["measured"]);
  const Json& sweep = summary["sweeps"].at(0);
  double lowest = INFINITY;
  for (const Json& loss : sweep["train_loss"]) lowest = std::min(lowest, loss.get<double>());
  CHECK(sweep["train_loss"].size() == 5);
  CHECK(sweep["train_loss"][fmt::format("{}", sweep["best"].get<double>())] == lowest);
  CHECK(median(summary, "post.default.dyt.learning_rate") == sweep["best"]);
  CHECK(Hdf5File::open(folder / "1/run.h5").read("/series/post.default.dyt/depth9/gradient").shape() ==
        Shape{2, 9});
}

TEST_CASE("the learning rate follows its rule, and combinations without meaning are named") {
  depth::Config config;
  config.lr_power = 0.5;
  CHECK(config.rate(1e-2, 2) == 1e-2);
  CHECK(config.rate(1e-2, 32) == doctest::Approx(5e-3).epsilon(1e-12));
  config.topology = config.init = config.norm = "all";
  const depth::Kinds kinds = config.kinds();
  // plain 2 · 5, pre 2 · 5, post 2 · 4, skipinit and rezero 2 each, fixup 1.
  CHECK(kinds.wanted.size() == 33);
  CHECK(kinds.wanted.size() + kinds.left_out.size() == 6 * 2 * 5);

  const auto refused = [](const std::string& arguments, const std::string& part) {
    const Outcome run = run_built("depth_trainability", arguments);
    INFO(arguments, "\n", run.err);
    CHECK(run.code == 2);
    CHECK(run.err.find(part) != std::string::npos);
  };
  refused("--topology fixup --norm rmsnorm", "meant to do without a norm");
  refused("--norm rmsnrm", "did you mean rmsnorm?");
  refused("--depths 8,2", "--depths: wanted ascending");
  refused("--mnist /nowhere", "mnist: neither t10k-images");
}
