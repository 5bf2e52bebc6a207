#include "config.h"

#include <algorithm>
#include <numeric>

#include "../harness/lists.h"
#include "../harness/nearest.h"
#include "../harness/settings.h"

namespace isobar::transformer_stack {
namespace {

const Choices kind_names = {"source001", "source001_train", "none", "post", "residual_free", "peri"};

}  // namespace

void Config::fields(Fields& f) {
  f("kinds", kinds,
    "stacks to measure, with commas between: source001, source001_train (with dropout), "
    "none, post, residual_free, peri");
  f("depths", depths, "numbers of layers, with commas between");
  f("d_model", d_model, "channels of the stream");
  f("nhead", nhead, "attention heads");
  f("dim_feedforward", dim_feedforward, "channels inside the feed-forward part");
  f("length", length, "positions of a sequence");
  f("batch", batch, "sequences");
  f("seeds", seeds, "number of runs: seeds --seed, --seed + 1, ...");
}

std::string Config::fit_heads() {
  const int64_t before = nhead;
  if (d_model > 0) nhead = std::gcd(d_model, nhead);
  return nhead == before
             ? ""
             : fmt::format("nhead is {} instead of {}, because d_model is {}", nhead, before, d_model);
}

void Config::check_values() const {
  check_size("d_model", d_model, 4096);
  check_size("dim_feedforward", dim_feedforward, 16'384);
  check_size("length", length, 4096);
  check_size("batch", batch, 4096);
  check_size("seeds", seeds, 10'000);
  check(nhead >= 1 && d_model % nhead == 0, "--nhead {}: does not divide --d_model {}", nhead, d_model);
  check(batch * length * d_model >= 2, "--d_model 1: the std of a single number is undefined");
  check(!depth_list().empty(), "--depths: wanted at least one number of layers");
  check(depth_list().back() <= 10'000, "--depths: wanted at most 10000 layers, got {}", depth_list().back());
  check(!kind_list().empty(), "--kinds: wanted at least one of {}", fmt::join(kind_names, ", "));
}

std::vector<int64_t> Config::depth_list() const {
  std::vector<int64_t> list = numbers_of<int64_t>("depths", depths);
  std::sort(list.begin(), list.end());
  check(std::adjacent_find(list.begin(), list.end()) == list.end(), "--depths: '{}' names a depth twice",
        depths);
  return list;
}

std::vector<Kind> Config::kind_list() const {
  std::vector<Kind> list;
  for (const std::string& name : words_of(kinds)) {
    check(std::find(kind_names.begin(), kind_names.end(), name) != kind_names.end(),
          "--kinds: wanted a list of {}, got '{}'{}", fmt::join(kind_names, ", "), name,
          did_you_mean(name, kind_names));
    const bool repeated =
        std::any_of(list.begin(), list.end(), [&](const Kind& kind) { return kind.name == name; });
    check(!repeated, "--kinds: '{}' names a stack twice", name);
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
