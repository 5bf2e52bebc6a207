#include "give_way.h"

#include <algorithm>

namespace isobar {
namespace {

class Giving {
 public:
  Giving(LmConfig& config, const std::set<std::string>& given) : c_(config), given_(given) {}

  // Warm-up: a tenth of the steps. Decay of WSD: a fifth. Neither more than the other leaves.
  void schedule() {
    const bool wsd = c_.schedule == "wsd";
    const int64_t kept = wsd && given("decay_iters") ? c_.decay_iters : 0;
    if (!given("warmup_iters") && c_.warmup_iters + kept > c_.max_iters && kept <= c_.max_iters)
      change("warmup_iters", c_.warmup_iters, std::min(c_.max_iters / 10, c_.max_iters - kept), "max_iters",
             c_.max_iters);
    if (wsd && !given("decay_iters") && c_.warmup_iters + c_.decay_iters > c_.max_iters &&
        c_.warmup_iters <= c_.max_iters)
      change("decay_iters", c_.decay_iters, std::min((c_.max_iters + 4) / 5, c_.max_iters - c_.warmup_iters),
             "max_iters", c_.max_iters);
    if (!given("min_lr") && c_.min_lr > c_.learning_rate)
      change("min_lr", c_.min_lr, c_.learning_rate / 10, "learning_rate", c_.learning_rate);
  }

  // Heads that divide the width, evenly for RoPE, and key/value heads that divide the heads.
  void heads() {
    if (c_.n_head < 1 || c_.n_embd < 1) return;
    const int64_t unit = c_.positions == "rope" ? 2 : 1;
    const auto fits = [&](int64_t heads) { return c_.n_embd % (unit * heads) == 0; };
    if (given("n_embd") && !given("n_head") && !fits(c_.n_head)) {
      int64_t heads = c_.n_head;
      while (heads > 1 && !fits(heads)) --heads;
      change("n_head", c_.n_head, heads, "n_embd", c_.n_embd);
    }
    if (given("n_head") && !given("n_embd") && !fits(c_.n_head)) {
      const int64_t width = unit * c_.n_head;
      change("n_embd", c_.n_embd, (c_.n_embd + width - 1) / width * width, "n_head", c_.n_head);
    }
    if (!given("n_kv_head") && c_.n_kv_head > 0 && c_.n_head % c_.n_kv_head != 0)
      change("n_kv_head", c_.n_kv_head, c_.n_head, "n_head", c_.n_head);
  }

  std::vector<std::string> said;

 private:
  bool given(const std::string& name) const { return given_.contains(name); }

  template <class T>
  void change(const char* name, T& value, T now, const char* cause, T is) {
    if (now == value) return;
    said.push_back(fmt::format("{} is {} instead of {}, because {} is {}", name, now, value, cause, is));
    value = now;
  }

  LmConfig& c_;
  const std::set<std::string>& given_;
};

}  // namespace

std::vector<std::string> give_way(LmConfig& config, const std::set<std::string>& given) {
  Giving giving(config, given);
  giving.schedule();
  giving.heads();
  return giving.said;
}

}  // namespace isobar
