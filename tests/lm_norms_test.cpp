// lm_norms, the built program run small.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "../data/hdf5_file.h"
#include "program.h"
#include "temporary_folder.h"

using namespace isobar;
using Json = nlohmann::json;
using doctest::Approx;

namespace {

const std::string tiny =
    " --corpus synthetic --widths 16 --n_layer 2 --n_head 2 --n_kv_head 1 --block_size 16 --batch_size 4"
    " --eval_iters 2 --seeds 2 --init_std 0.144";

}  // namespace

TEST_CASE("lm_norms compares nets seed by seed, alike on one and two threads") {
  const TemporaryFolder folder;
  for (const char* threads : {"1", "2"}) {
    const Outcome run =
        run_built("lm_norms", tiny +
                                  " --nets pre.none,pre.layernorm,pre.rmsnorm,post.rmsnorm,ngpt --full"
                                  " --learning_rates 3e-3 --deep_nets pre.rmsnorm,post.rmsnorm"
                                  " --deep_learning_rates 3e-3,1e-2 --steps 8"
                                  " --deep_layers 4 --deep_steps 3 --threads " +
                                  threads + " --out " + folder / threads);
    INFO(run.out, run.err);
    REQUIRE(run.code == 0);
  }
  for (const char* name : {"runs.csv", "blocks.csv"}) {
    CAPTURE(name);
    CHECK(file_text(folder / (std::string("1/") + name)) == file_text(folder / (std::string("2/") + name)));
  }
  Json one = Json::parse(file_text(folder / "1/summary.json"));
  CHECK(one["measured"] == Json::parse(file_text(folder / "2/summary.json"))["measured"]);
  const Json measured = one["measured"];
  const auto figure = [&](const std::string& key, const char* part) {
    CAPTURE(key);
    REQUIRE(measured.contains(key));
    return measured[key][part].get<double>();
  };

  for (const char* net : {"pre.none", "pre.layernorm", "pre.rmsnorm", "post.rmsnorm", "ngpt"}) {
    CAPTURE(net);
    const double start = figure(std::string(net) + ".start_loss", "median");
    CHECK(start == Approx(std::log(16)).epsilon(0.3));
    CHECK(figure(std::string(net) + ".lr_0.003.val_loss", "median") ==
          figure(std::string(net) + ".val_loss", "median"));
  }
  // With two seeds the median is the mean, and the difference of means is the mean difference.
  CHECK(figure("pre.layernorm_minus_rmsnorm", "median") ==
        Approx(figure("pre.layernorm.val_loss", "median") - figure("pre.rmsnorm.val_loss", "median"))
            .epsilon(1e-9));
  CHECK(figure("pre.layernorm_minus_rmsnorm.mean", "median") ==
        Approx(figure("pre.layernorm_minus_rmsnorm", "median")).epsilon(1e-9));
  CHECK(figure("rmsnorm.post_minus_pre", "median") ==
        Approx(figure("post.rmsnorm.val_loss", "median") - figure("pre.rmsnorm.val_loss", "median"))
            .epsilon(1e-9));
  CHECK(measured.contains("16x4.post.rmsnorm.lr_0.01.val_loss"));
  CHECK(measured.contains("16x4.rmsnorm.lr_0.01.post_minus_pre"));
  CHECK(one["timing"]["tokens_per_second"].contains("16x2/pre.none/lr_0.003"));
  const Hdf5File file = Hdf5File::open(folder / "1/run.h5");
  CHECK(file.read("/series/16x2/pre.rmsnorm/lr_0.003/std_end").shape() == Shape{2, 2});

  // The chart of losses: a place for each net, and the measured figures at it.
  const Json plot = one["plots"][0];
  CHECK(plot["ticks"] == Json({"pre.none", "pre.layernorm", "pre.rmsnorm", "post.rmsnorm", "ngpt"}));
  const Json loss = measured["post.rmsnorm.val_loss"];
  CHECK(plot["curves"][0]["points"][3] == Json({3, loss["min"], loss["median"], loss["max"]}));
  CHECK(one["plots"][1]["key"] == "loss.16x2");
  CHECK(one["plots"][1]["curves"].size() == 5);
  CHECK(one["plots"][1]["curves"][0]["points"].size() == 1);  // 8 steps are less than a window
  CHECK(one["plots"][2]["curves"][2]["points"].back()[2] ==
        measured["pre.rmsnorm.end.last_block_std"]["median"]);
}

TEST_CASE("lm_norms counts a rate that breaks a net, or teaches it nothing, as unstable and goes on") {
  const TemporaryFolder folder;
  const Outcome run =
      run_built("lm_norms",
                tiny +
                    " --nets pre.none --widths 32 --batch_size 8 --steps 300 --learning_rates 1e-9,1e-2,1e25"
                    " --deep_nets '' --json --out " +
                    folder / "run");
  INFO(run.err);
  REQUIRE(run.code == 0);
  const Json measured = Json::parse(run.out)["measured"];
  CHECK(measured["pre.none.lr_1e+25.val_loss"]["nonfinite"] == 2);
  CHECK(measured["pre.none.largest_stable_learning_rate"]["median"] == 1e-2);
  CHECK(measured["pre.none.lr_1e-09.val_loss"]["median"] > measured["unigram_loss"]["median"]);
  CHECK(measured["unigram_loss"]["median"].get<double>() < std::log(16));
  CHECK(measured["unigram_loss"]["median"].get<double>() > 1.8548);  // the language's entropy
  CHECK(measured["pre.none.best_learning_rate"]["median"] == 1e-2);
}

TEST_CASE("lm_norms refuses bad lists in one line") {
  const TemporaryFolder folder;
  for (const char* arguments :
       {"--quick --full", "--full --preset quick", "--nets pre.rmsnom", "--nets ngpt.rmsnorm",
        "--nets rmsnorm", "--learning_rates 1e-3,x", "--widths 64,-1", "--nets pre.dyt,pre.dyt",
        "--nets '' --deep_nets ''", "--deep_layers 4", "--widths 64,66"}) {
    CAPTURE(arguments);
    const Outcome run = run_built("lm_norms", std::string(arguments) + " --out " + folder / "run");
    CHECK(run.code == 2);
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(folder / "run"));
  }
}
