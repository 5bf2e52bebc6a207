#include "config.h"

namespace isobar::transformer_stack {
namespace {

const Choices kind_names = {"source001", "source001_train", "none", "post", "residual_free", "peri"};

}  // namespace

void Config::fields(Fields& f) {
  f("kinds", kinds, "stacks to measure; source001_train has dropout", one_of(kind_names));
  f("depths", depths, "numbers of layers", between(1, 10'000));
  f("d_model", d_model, "channels of the stream", between(1, 4096));
  f("nhead", nhead, "attention heads", at_least(1));
  f("dim_feedforward", dim_feedforward, "channels inside the feed-forward part", between(1, 16'384));
  f("length", length, "positions of a sequence", between(1, 4096));
  f("batch", batch, "sequences", between(1, 4096));
  f("seeds", seeds, "runs, from seed --seed on", between(1, 10'000));
}

std::vector<std::string> Config::fit_heads() {
  const int64_t before = nhead;
  nhead = std::gcd(d_model, nhead);
  if (nhead == before) return {};
  return {fmt::format("nhead is {} instead of {}, because d_model is {}", nhead, before, d_model)};
}

void Config::check_together() const {
  check(d_model % nhead == 0, "--nhead {}: does not divide --d_model {}", nhead, d_model);
  check(batch * length * d_model >= 2, "--d_model 1: the std of a single number is undefined");
}

std::vector<Kind> Config::kind_list() const {
  std::vector<Kind> list;
  for (const std::string& name : kinds) {
    const bool training = name == "source001_train";
    list.push_back({.name = name,
                    .options = {.d_model = d_model,
                                .nhead = nhead,
                                .dim_feedforward = dim_feedforward,
                                .placement = training ? "source001" : name},
                    .training = training});
  }
  return list;
}

}  // namespace isobar::transformer_stack
