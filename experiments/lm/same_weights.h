// Whether all ranks have the same weights, which they must have to the last bit: what differs is the fault of a machine.
#pragma once

#include <string>
#include <vector>

#include "../../core/ranks.h"
#include "../../nn/model.h"

namespace isobar {

// Compares checksums of all tensors. Throws Error, on all ranks, that names the ranks whose weights are those of fewer:
// "after step 40: rank 2 of 3 (node7) has other weights than the other 2 …". `go_on` is the command that repairs it.
void check_same_weights(Ranks& ranks, const std::vector<NamedTensor>& weights, const std::string& when,
                        const std::string& go_on);

}  // namespace isobar
