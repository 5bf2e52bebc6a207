// Facts: all that documents say of claims, runs and studies, as one JSON: what `isobar facts` writes and docs/render
// reads. experiments/tool/README.md has its keys.
#pragma once

#include "../claims/kept.h"

namespace isobar::facts {

// The claims of these files, judged by the kept values.
Json all(const std::vector<claims::ClaimFile>& files, const claims::Kept& kept);

}  // namespace isobar::facts
