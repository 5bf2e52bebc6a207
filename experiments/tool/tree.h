// The claims, kept values and table of norms of a source tree; or the claims and values that this program was built with.
#pragma once

#include <string>
#include <vector>

#include "../claims/kept.h"
#include "../run/json.h"

namespace isobar::verbs {

struct TreeClaims {
  std::vector<claims::ClaimFile> files;
  claims::Kept kept;
};

// `tree` is a folder with experiments/claims, or empty: those of this program. Throws Error where there are none.
TreeClaims claims_of(const std::string& tree);

// The tree's table of norms with its results (duel::facts_of); null where `tree` is empty or has none.
Json norms_of(const std::string& tree);

}  // namespace isobar::verbs
