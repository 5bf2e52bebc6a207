#include "config.h"

#include <fmt/ranges.h>

#include "../../../nn/norm.h"

namespace isobar::ladder {
namespace {

constexpr int64_t width_of_steps = 64;

// Norms with a setting of their own.
constexpr std::pair<const char*, const char*> flags_of_names[] = {
    {"dyt_alpha1", "--norm dyt --alpha 1"},
    {"dyt_alpha2", "--norm dyt --alpha 2"},
    {"derf_alpha0.3", "--norm derf --alpha 0.3"},
    {"layernorm_dropout0.5", "--norm layernorm --dropout 0.5"}};

}  // namespace

const Choices& contestant_names() {
  static const Choices names = [] {
    Choices all = norm_names();
    for (const auto& [name, flags] : flags_of_names) all.push_back(name);
    return all;
  }();
  return names;
}

duel::Contestant contestant_of(const std::string& name) {
  for (const auto& [of, flags] : flags_of_names)
    if (name == of) return duel::parse_contestant(flags);
  return duel::parse_contestant(name);
}

void Config::fields(Fields& f) {
  f("corpus", corpus, "text file, 'synthetic', or 'kjv'; empty: Tiny Shakespeare");
  f("nets", nets, "norms; rmsnorm and none are among them", one_of(contestant_names()));
  f("optimizers", optimizers, "each with a search for rates of its own", one_of({"adamw", "muon"}));
  f("widths", widths, "widths of the residual stream, multiples of 8, one for each rung", between(8, 4096));
  f("train_tokens", train_tokens,
    "letters of the training part that are used, its first, one for each rung of one width; 0: all",
    at_least(0));
  f("rungs", rungs, "number of rungs that are measured, from the lowest on; 0: all", at_least(0));
  f("seeds", seeds,
    "pairs of trainings on the highest rung; each rung below has two more, if its trainings are shorter",
    at_least(2));
  f("steps", steps, "steps of a training at width 64; they grow as the square of the width", at_least(1));
  f("n_layer", n_layer, "blocks", at_least(1));
  f("block_size", block_size, "letters that the model sees at once", at_least(1));
  f("batch_size", batch_size, "blocks in a step", at_least(1));
  f("eval_iters", eval_iters, "batches of each half of the validation text, and of the training part",
    at_least(1));
}

void Config::check_together() const {
  for (const char* net : {"rmsnorm", "none"})
    check(std::ranges::count(nets, net) == 1, "--nets: {} is the other side of comparisons; add it", net);
  for (const int64_t width : widths) check(width % 8 == 0, "--widths: wanted multiples of 8, got {}", width);
  for (const auto& [name, list] : {std::pair{"widths", &widths}, {"train_tokens", &train_tokens}})
    check(std::ranges::is_sorted(*list), "--{}: wanted increasing numbers, got {}", name,
          fmt::join(*list, ","));
  check(widths.size() == 1 || !climbs_by_tokens(), "--train_tokens: several want one width, got --widths {}",
        fmt::join(widths, ","));
  check(rungs <= std::ssize(all_rungs()), "--rungs: the ladder has {}, got {}", all_rungs().size(), rungs);
  for (const Rung& rung : all_rungs()) duel(rung, optimizers.front()).check_together();
}

std::vector<Rung> Config::all_rungs() const {
  const size_t n = std::max(widths.size(), train_tokens.size());
  std::vector<Rung> all;
  for (size_t i = 0; i < n; ++i) {
    const int64_t width = widths[std::min(i, widths.size() - 1)];
    const int64_t square = steps * width * width;
    all.push_back({.width = width,
                   .steps = std::max<int64_t>(1, square / (width_of_steps * width_of_steps)),
                   .train_tokens = train_tokens[std::min(i, train_tokens.size() - 1)],
                   .seeds = climbs_by_tokens() ? seeds : seeds + 2 * static_cast<int64_t>(n - 1 - i)});
  }
  return all;
}

size_t Config::measured_rungs() const { return rungs == 0 ? all_rungs().size() : static_cast<size_t>(rungs); }

duel::Config Config::duel(const Rung& rung, const std::string& optimizer) const {
  duel::Config config;
  config.task = corpus == "synthetic" ? "synthetic" : "shakespeare";
  config.corpus = corpus == "synthetic" ? "" : corpus;
  config.optimizer = optimizer;
  config.width = rung.width;
  config.steps = rung.steps;
  config.train_tokens = rung.train_tokens;
  config.n_layer = n_layer;
  config.block_size = block_size;
  config.batch_size = batch_size;
  config.eval_iters = eval_iters;
  config.looks_closer = true;
  return config;
}

}  // namespace isobar::ladder
