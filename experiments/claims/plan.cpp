#include "plan.h"

namespace isobar::claims {

std::vector<PlannedRun> plan(std::string_view scale) {
  const bool full = scale == "full";
  const std::string seeds = full ? "20" : "5";
  return {
      {"blog8", "decay_study", {}},
      {"blog8_rmsnorm", "decay_study", {"--preset", "blog8_rmsnorm"}},
      {"depth_table", "decay_study", {"--preset", "depth_table", "--seeds", seeds}},
      // 003's script why_normalization.py: one row, and the norm behind the ReLU.
      {"why_normalization", "decay_study", {"--batch", "1"}},
      {"why_normalization_norm",
       "decay_study",
       {"--batch", "1", "--norm", "rmsnorm", "--order", "relu_norm"}},
      {"explosion_dyt",
       "decay_study",
       {"--depth", "100", "--width", "128", "--init", "he_normal", "--topology", "pre", "--norm", "dyt",
        "--loss", "random", "--seeds", seeds}},
      {"norm_properties", "norm_properties", {}},
      {"norm_jacobian", "norm_jacobian", {}},
      {"norm_speed", "norm_speed", full ? std::vector<std::string>{} : std::vector<std::string>{"--quick"}},
      {"logit_growth", "logit_growth", {}},
      {"lm_norms", "lm_norms", {"--preset", std::string(scale)}},
      {"depth_trainability", "depth_trainability", {"--preset", std::string(scale)}},
  };
}

}  // namespace isobar::claims
