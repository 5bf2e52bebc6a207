// Wrong layers along time: scans, shifts, convolutions. x is (B, T) or (B, T, C).
#include "layers.h"

namespace isobar::tuned_time {
namespace {

const bool listed = list_tuned({
    by_hand(
        {"time",
         "cumulative sum: dx runs forward in time too",
         {"transposed"},
         {"misplaced", "cross-talk", "wrong axis"}},
        {{3, 5}}, {{5}}, [](In x, In w) { return cumsum(x * w, 1); },
        [](In dy, In, In x, In w) {
          return std::vector{cumsum(dy, 1) * w, sum(flip(cumsum(flip(dy, {1}), 1), {1}) * x, {0})};
        }),
});

}  // namespace
}  // namespace isobar::tuned_time
