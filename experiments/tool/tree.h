// The claims and kept values of a source tree, or those that this program was built with.
#pragma once

#include <string>
#include <vector>

#include "../claims/kept.h"

namespace isobar::verbs {

struct TreeClaims {
  std::vector<claims::ClaimFile> files;
  claims::Kept kept;
};

// `tree` is a folder with experiments/claims, or empty: those of this program. Throws Error where there are none.
TreeClaims claims_of(const std::string& tree);

}  // namespace isobar::verbs
