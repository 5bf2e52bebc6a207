// Contestant: one of those that a duel compares, from its words.
//
//   rmsnorm, post.rmsnorm, rezero      a norm by name, with a placement; or a placement that has no norm
//   my_norm.h, post.my_norm.cpp        a norm of one's own: `isobar duel` has built it in, under this name
//   "--norm dyt --placement peri"      flags of train_lm
//   "x / (1 + mean(abs(x))) * w"       a formula, as the page's live chapter takes it
//
// Headers and formulas are registered norms (nn/norm.h), whose names are their texts.
#pragma once

#include "../lm/training/config.h"

namespace isobar::duel {

struct Contestant {
  std::string words;       // as given
  std::string label = {};  // for tables: "rmsnorm", "post.my_norm.h", "dyt, peri, --optimizer muon"
  std::string norm = "rmsnorm", placement = "pre";  // the norm's registered name
  // What else it sets, name by name and value by value: {"--optimizer", "muon", "--bias", "true"}.
  std::vector<std::string> flags = {};

  // Sets norm, placement and flags; whoever has set the rest calls check_together().
  void apply_to(LmConfig& config) const;
};

// Registers the norm of a formula. Throws Error: what of the words is wrong, what was wanted, and what may
// have been meant. Flags that a duel sets for both alike (learning_rate, max_iters, …) are refused.
Contestant parse_contestant(const std::string& words);

// For normalized rows of this width, in f32.
std::unique_ptr<Module> norm_of(const Contestant& contestant, int64_t width);

// The header that the words name, "my_norm.h", wherever the words have it; "" where they name none.
std::string header_in(const std::string& words);

// The words of a command line with a space before contestants that are flags, so that no parser of options
// takes "--norm dyt" for one: parse_contestant() does not mind it.
std::vector<std::string> with_contestants_kept(std::vector<std::string> words);

// A number of what the norm computes, from fixed numbers, forward and back: 16 digits, equal for equal
// bits. A header that was changed since a run was stopped gives another one.
std::string fingerprint(const Contestant& contestant);

}  // namespace isobar::duel
