// norm_speed as its users meet it. Times are not judged: only that they are there, positive, and consistent.
#include <doctest/doctest.h>

#include <cmath>

#include "../data/hdf5_file.h"
#include "../experiments/harness/json.h"
#include "../experiments/speed/clock.h"
#include "../experiments/speed/variants.h"
#include "program.h"
#include "temporary_folder.h"

using namespace isobar;
using namespace isobar::speed;

TEST_CASE("every step has one turn in each round, in the same order") {
  std::string turns;
  const std::vector<Step> steps{[&] { turns += 'a'; }, [&] { turns += 'b'; }};
  // A turn of no time: one step each.
  const auto seconds = time_rounds(steps, 3, 0);
  CHECK(turns.ends_with("ababab"));
  REQUIRE(seconds.size() == 2);
  CHECK(seconds[0].size() == 3);
}

TEST_CASE("norm_speed publishes quotients of times beside those of passes") {
  const TemporaryFolder folder;
  const Outcome run =
      run_built("norm_speed", "--quick --turn_ms 0.2 --rounds 2 --json --out " + folder / "run");
  INFO(run.err);
  REQUIRE(run.code == 0);
  const Json summary = Json::parse(run.out), measured = summary["measured"];
  for (const char* mode : {"forward", "forward_backward"})
    for (const char* shape : {"1x512", "32x512", "1000x512"})
      for (const char* pair :
           {"layernorm_fused_over_rmsnorm", "layernorm_var_over_rmsnorm", "layernorm_squares_over_rmsnorm",
            "layernorm_var_over_rmsnorm_spelled", "dyt_over_rmsnorm", "dyisru_over_rmsnorm"}) {
        const std::string key = std::string(mode) + "." + shape + "." + pair;
        CAPTURE(key);
        REQUIRE(measured.contains(key));
        // Two orders of magnitude either way: no more is sure on a busy machine.
        CHECK(measured[key]["median"] > 0.01);
        CHECK(measured[key]["median"] < 100);
        CHECK(measured[key]["nonfinite"] == 0);
      }
  // 15 passes to 7, and 12 to 2.
  CHECK(measured["forward.1000x512.layernorm_var_over_rmsnorm_spelled"]["theory"] ==
        doctest::Approx(15.0 / 7));
  CHECK(measured["forward.1000x512.layernorm_squares_over_rmsnorm"]["theory"] == 6);
  CHECK(measured["reductions.layernorm_squares"]["median"] == 2);
  CHECK(measured["reductions.rmsnorm_spelled"]["median"] == 1);

  const Json& seconds = summary["timing"]["seconds"];
  CHECK(seconds["forward.1000x512.triad"]["median"] > 0);
  // A quotient of a round lies between the quotients of the extremes.
  const Json &a = seconds["forward.32x512.dyt"], &b = seconds["forward.32x512.rmsnorm"];
  const double quotient = measured["forward.32x512.dyt_over_rmsnorm"]["median"];
  CHECK(quotient <= a["max"].get<double>() / b["min"].get<double>());
  CHECK(quotient >= a["min"].get<double>() / b["max"].get<double>());
  CHECK(measured["forward.32x512.dyt_over_rmsnorm.best"]["median"] ==
        doctest::Approx(a["min"].get<double>() / b["min"].get<double>()).epsilon(1e-12));
  CHECK(Hdf5File::open(folder / "run/run.h5").read("/series/forward.1x512.rmsnorm").numel() == 2);
}

TEST_CASE("norm_speed refuses to time nothing") {
  const TemporaryFolder folder;
  for (const char* flag : {"--rounds 0", "--turn_ms 0"}) {
    const Outcome run = run_built("norm_speed", flag + std::string(" --out ") + folder / "run");
    CHECK(run.code == 2);
    CHECK(run.err.find(std::string(flag).substr(0, 6)) != std::string::npos);
  }
}
