// The digits that a reader's net learns in the live chapter of a page: the first images of MNIST's t10k files, few and in
// black and white, so that a page can hold them. ../../page/live/build packs them.
#pragma once

#include <cstdint>

namespace isobar::trains::page_digits {

inline constexpr int64_t training = 1088;   // 17 batches of 64
inline constexpr int64_t validation = 412;  // the images after them
// A pixel of at least 128 is 1, any other 0. A net sees it less the mean, over the std.
inline constexpr int least_white = 128;
inline constexpr double mean = 0.123, std = 0.329;

}  // namespace isobar::trains::page_digits
