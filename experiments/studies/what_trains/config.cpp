#include "config.h"

#include "search.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace isobar::trains {

std::string Net::key() const {
  std::string key = task + "." + optimizer + "." + norm;
  if (!is_mlp()) key += fmt::format(".e{:g}", embedding_std);
  return key;
}

Json Net::settings() const {
  Json settings = {
      {"task", task}, {"norm", norm}, {"optimizer", optimizer}, {"depth", depth}, {"scale", scale}};
  if (!is_mlp()) settings["embedding_std"] = embedding_std;
  return settings;
}

bool makes_sense(const Net& net) {
  if (net.task == "plain" && !net.has_norm() && net.norm != "none") return false;
  return net.optimizer != "sgd" || net.is_mlp();
}

const Choices& task_names() {
  static const Choices names = {"plain", "residual", "transformer"};
  return names;
}

const Choices& norm_choices() {
  static const Choices names = {"none",    "pre.rmsnorm",   "pre.layernorm", "post.rmsnorm", "post.layernorm",
                                "pre.dyt", "pre.dyt_sqrtd", "pre.dyisru",    "fixup",        "skipinit"};
  return names;
}

const Choices& optimizer_names() {
  static const Choices names = {"adamw", "muon", "sgd"};
  return names;
}

double default_scale(const std::string& task) { return task == "plain" ? std::numbers::sqrt2 : 1; }

int64_t default_depth(const std::string& task) { return task == "transformer" ? 4 : 8; }

namespace {

// The choices of a setting that may be left out.
Choices or_none(Choices choices) {
  choices.insert(choices.begin(), "");
  return choices;
}

}  // namespace

void Config::fields(Fields& f) {
  f("tasks", tasks, "nets: plain and residual MLPs on digits, transformers on a text", one_of(task_names()));
  f("norms", norms, "the map's, with each optimizer; a plain chain has no fixup and no skipinit",
    one_of(norm_choices()));
  Limits more = one_of(norm_choices());
  more.may_be_none = true;
  f("more_norms", more_norms, "norms that are tried with AdamW alone", more);
  f("optimizers", optimizers, "sgd has momentum 0.9, and trains MLPs alone", one_of(optimizer_names()));
  f("scales", scales, "std of the initial matrices times sqrt(width), with AdamW", above(0));
  f("few_scales", few_scales, "the same with other optimizers", above(0));
  f("embedding_stds", embedding_stds,
    "stds of the embedding of transformers; optimizers other than AdamW have the first one", above(0));
  Limits some = at_least(1);
  some.may_be_none = true;
  f("depths", depths, "layers or blocks of MLPs at the default scale, with AdamW", some);
  f("n_layers", n_layers, "the same of transformers", some);
  f("width", width, "features of an MLP", between(2, 4096));
  f("n_embd", n_embd, "width of a transformer, with heads of 16", between(16, 4096));
  f("steps", steps, "steps of each training", at_least(1));
  f("batch", batch, "digits a step", between(1, 5000));
  f("block_size", block_size, "characters of a block", at_least(1));
  f("blocks", blocks, "a step", at_least(1));
  f("seeds", seeds, "trainings of a cell at a border; other cells have one", at_least(1));
  f("share", share, "share of the best cell's gain over blind guessing: a net with less does not learn",
    between(0.01, 1));
  f("norm", norm, "norm of a net: print whether it trains, by the stored map, and train nothing",
    one_of(or_none(norm_choices())));
  f("depth", depth, "its layers or blocks; 0: the map's", at_least(0));
  f("init_std", init_std, "std of its initial weights; 0: that of scale 1 (plain: sqrt 2)", at_least(0));
  f("optimizer", optimizer, "optimizer of this net; empty: adamw", one_of(or_none(optimizer_names())));
  f("task", task, "type of net", one_of(task_names()));
  f("embedding_std", embedding_std, "std of its embedding; 0: init_std", at_least(0));
  f("rate", rate, "its learning rate; 0: any", at_least(0));
  f("draw", draw,
    "instead of the map: so many nets and rates drawn at random by --seed, and whether the kept map's "
    "answers are right",
    between(0, 10'000));
  f("mnist", mnist, "folder of the images; empty: $ISOBAR_DATA/mnist, or those of the repository");
  f("corpus", corpus, "text file; empty: Tiny Shakespeare");
}

void Config::check_together() const {
  const auto together = [&](const std::string& of_task, const std::string& with_norm,
                            const std::string& moved_by) {
    check(of_task != "plain" || (with_norm != "fixup" && with_norm != "skipinit"),
          "--norm {}: a plain net has no branches; wanted --task residual or transformer", with_norm);
    check(
        of_task != "transformer" || moved_by != "sgd",
        "--optimizer sgd: the map has no transformer that SGD trains; wanted adamw or muon, or --task residual");
  };
  together(task, norm, optimizer);
  check(n_embd % 16 == 0, "--n_embd: wanted a multiple of 16, a head's width, got {}", n_embd);
}

Net Config::net(const std::string& of_task, const std::string& with_norm, const std::string& moved_by) const {
  Net net{.task = of_task, .norm = with_norm, .optimizer = moved_by};
  net.depth = default_depth(of_task);
  net.scale = default_scale(of_task);
  net.width = net.is_mlp() ? width : n_embd;
  return net;
}

std::pair<Net, double> Config::drawn(const Rng& rng) const {
  for (uint64_t attempt = 0;; ++attempt) {
    const Rng one = rng.split(attempt);
    const auto any = [&](const auto& list, uint64_t i) { return list[one.below(list.size(), i)]; };
    Net net = this->net(any(tasks, 0), any(norms, 1), any(optimizers, 2));
    if (!makes_sense(net)) continue;
    const auto between = [&](double low, double high, uint64_t i) {
      return low * std::pow(high / low, one.uniform_at(i));
    };
    const auto [least, greatest] = std::ranges::minmax(scales);
    net.scale = between(least, greatest, 3);
    const auto [first, last] = std::ranges::minmax(net.is_mlp() ? depths : n_layers);
    net.depth = std::llround(between(static_cast<double>(first), static_cast<double>(last), 4));
    if (!net.is_mlp())
      net.embedding_std = net.optimizer == "adamw" ? any(embedding_stds, 5) : embedding_stds[0];
    const Rates rates = rates_of(net.optimizer);
    return {net, static_cast<double>(rates.first) +
                     static_cast<double>(rates.last - rates.first) * one.uniform_at(6)};
  }
}

const std::set<std::string>& Config::questions() {
  static const std::set<std::string> flags = {"norm", "depth",         "init_std", "optimizer",
                                              "task", "embedding_std", "rate"};
  return flags;
}

Net Config::asked() const {
  Net asked = net(task, norm.empty() ? "none" : norm, optimizer.empty() ? "adamw" : optimizer);
  if (depth > 0) asked.depth = depth;
  const double unit = 1 / std::sqrt(static_cast<double>(asked.width));
  if (init_std > 0) asked.scale = init_std / unit;
  if (!asked.is_mlp()) asked.embedding_std = embedding_std > 0 ? embedding_std : asked.scale * unit;
  return asked;
}

}  // namespace isobar::trains
