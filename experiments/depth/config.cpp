#include "config.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "../../core/error.h"
#include "../harness/lists.h"
#include "../harness/nearest.h"

namespace isobar::depth {
namespace {

const Choices topologies = {"plain", "pre", "post", "skipinit", "rezero", "fixup"};
const Choices inits = {"default", "he_normal"};
const Choices norms = {"none", "layernorm", "rmsnorm", "dyt", "dyisru"};

std::vector<std::string> chosen(const char* flag, const std::string& list, const Choices& choices) {
  if (list == "all") return choices;
  std::vector<std::string> words = words_of(list);
  for (size_t i = 0; i < words.size(); ++i) {
    check(std::find(choices.begin(), choices.end(), words[i]) != choices.end(),
          "--{}: wanted all, or a list of {}, got '{}'{}", flag, fmt::join(choices, ", "), words[i],
          did_you_mean(words[i], choices));
    check(std::count(words.begin(), words.end(), words[i]) == 1, "--{}: '{}' stands there twice", flag,
          words[i]);
  }
  return words;
}

void check_size(const char* flag, int64_t value, int64_t most) {
  check(value >= 1 && value <= most, "--{}: wanted a whole number from 1 to {}, got '{}'", flag, most, value);
}

// Why this combination is not run; empty where it is.
std::string without_meaning(const Kind& kind) {
  const bool normless = kind.topology == "skipinit" || kind.topology == "rezero" || kind.topology == "fixup";
  if (normless && kind.norm != "none") return "is meant to do without a norm";
  if (kind.topology == "post" && kind.norm == "none") return "is pre with norm none";
  if (kind.topology == "fixup" && kind.init != "he_normal") return "brings its own weights, He's scaled down";
  return "";
}

}  // namespace

void Config::fields(Fields& f) {
  f("topology", topology, "list of plain, pre, post, skipinit, rezero, fixup, or all; see decay_study");
  f("init", init, "list of default, he_normal, or all: initial weights of the hidden layers");
  f("norm", norm, "list of none, layernorm, rmsnorm, dyt, dyisru, or all");
  f("depths", depths, "list of depths: hidden layers (plain), or blocks of two layers");
  f("width", width, "features of every layer");
  f("batch", batch, "images a step");
  f("steps", steps, "training steps of every net");
  f("seeds", seeds, "runs of every net: seeds --seed, --seed + 1, ...");
  f("learning_rate", learning_rate, "at depth 8 and below; 0: the best of a sweep at depth 8");
  f("lr_power", lr_power, "p: the rate at depth D is that of depth 8 times min(1, 8/D)^p");
  f("mnist", mnist, "folder of the images; empty: $ISOBAR_DATA/mnist, or the test images that come along");
}

void Config::check_values() const {
  check_size("width", width, 16'384);
  check_size("batch", batch, 8'000);
  check_size("steps", steps, 1'000'000);
  check_size("seeds", seeds, 10'000);
  check(learning_rate >= 0, "--learning_rate: wanted a rate above 0, or 0 for a sweep, got {}",
        learning_rate);
  check(lr_power >= 0, "--lr_power: wanted 0 or more, got {}", lr_power);
  depth_list();
  const Kinds all = kinds();
  check(!all.wanted.empty(), "nothing to run: {}; take another --topology, --init or --norm",
        fmt::join(all.left_out, "; "));
}

std::vector<int64_t> Config::depth_list() const {
  const std::vector<int64_t> list = numbers_of<int64_t>("depths", depths);
  check(!list.empty() && list.back() <= 10'000 &&
            std::ranges::adjacent_find(list, std::greater_equal()) == list.end(),
        "--depths: wanted ascending whole numbers from 1 to 10000, such as 2,8,32, got '{}'", depths);
  return list;
}

Kinds Config::kinds() const {
  Kinds kinds;
  for (const std::string& t : chosen("topology", topology, topologies))
    for (const std::string& i : chosen("init", init, inits))
      for (const std::string& n : chosen("norm", norm, norms)) {
        const Kind kind{t, i, n};
        const std::string reason = without_meaning(kind);
        if (reason.empty())
          kinds.wanted.push_back(kind);
        else
          kinds.left_out.push_back(kind.key() + " " + reason);
      }
  return kinds;
}

double Config::rate(double at_depth_8, int64_t depth) const {
  return at_depth_8 *
         std::pow(std::min(1.0, static_cast<double>(tuned_depth) / static_cast<double>(depth)), lr_power);
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
