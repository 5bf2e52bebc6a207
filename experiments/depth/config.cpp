#include "config.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "../../core/error.h"
#include "../harness/lists.h"
#include "../harness/settings.h"

namespace isobar::depth {
void Config::fields(Fields& f) {
  f("nets", nets,
    "list of topology.init.norm, or all; topologies: plain, pre, post, skipinit, rezero, fixup; weights: "
    "default, he_normal, orthogonal_sqrt2; norms (all: none, layernorm, rmsnorm, dyt, dyisru): see decay_study");
  f("depths", depths, "list of depths: hidden layers (plain), or blocks of two layers");
  f("width", width, "features of every layer");
  f("batch", batch, "images a step");
  f("steps", steps, "training steps of every net");
  f("seeds", seeds, "runs of every net: seeds --seed, --seed + 1, ...");
  f("learning_rate", learning_rate, "of Adam; 0: for each net and depth the best of a sweep");
  f("mnist", mnist, "folder of the images; empty: $ISOBAR_DATA/mnist, or the test images of the repository");
}

void Config::check_values() const {
  check_size("width", width, 16'384);
  check_size("batch", batch, 7'000);
  check_size("steps", steps, 1'000'000);
  check_size("seeds", seeds, 10'000);
  check(learning_rate >= 0, "--learning_rate: wanted a rate above 0, or 0 for a sweep, got {}",
        learning_rate);
  depth_list();
  kinds();
}

std::vector<int64_t> Config::depth_list() const {
  const std::vector<int64_t> list = numbers_of<int64_t>("depths", depths);
  check(!list.empty() && list.back() <= 10'000 &&
            std::ranges::adjacent_find(list, std::greater_equal()) == list.end(),
        "--depths: wanted ascending whole numbers from 1 to 10000, such as 2,8,32, got '{}'", depths);
  return list;
}

decay::Config Config::hidden(const Kind& kind, int64_t depth) const {
  decay::Config config;
  config.depth = depth;
  config.width = width;
  config.batch = batch;
  config.init = kind.topology == "fixup" ? "default" : kind.init;
  config.norm = kind.norm;
  config.topology = kind.topology;
  config.loss = "random";
  return config;
}

}  // namespace isobar::depth
