#include "same_weights.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "../../data/checksum.h"
#include "stored_state.h"

namespace isobar {

void check_same_weights(Ranks& ranks, const std::vector<NamedTensor>& weights, const std::string& when,
                        const std::string& go_on) {
  std::string sums;
  for (const NamedTensor& named : weights) sums += checksum_of(named.tensor);
  const std::vector<std::string> all = ranks.gather(checksum(sums));
  const auto holders = [&](const std::string& one) { return std::count(all.begin(), all.end(), one); };
  const auto most = std::max_element(all.begin(), all.end(), [&](const std::string& a, const std::string& b) {
    return holders(a) < holders(b);
  });
  const bool undecided = std::any_of(all.begin(), all.end(), [&](const std::string& one) {
    return one != *most && holders(one) == holders(*most);
  });
  std::vector<std::string> others;
  for (size_t i = 0; i < all.size(); ++i)
    if (undecided || all[i] != *most) others.push_back(ranks.name_of(static_cast<int>(i)));
  check(others.empty(), "{}: {} {}: a fault of a machine, or of isobar; go on from the last checkpoint: {}",
        when, fmt::join(others, ", "),
        undecided ? std::string("do not have the same weights")
                  : fmt::format("{} other weights than the {} ranks that agree",
                                others.size() == 1 ? "has" : "have", holders(*most)),
        go_on);
}

}  // namespace isobar
