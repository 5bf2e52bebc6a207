// IndexRange: the numbers begin … end − 1.
#pragma once

#include <cstdint>

namespace isobar {

struct IndexRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

}  // namespace isobar
