// IDX: the file format of MNIST, plain or gzipped. Bytes 0 0, one byte for the type of the values, one for
// the number of dimensions, then each dimension as a big-endian 32-bit number, then the values row by row.
// Only unsigned bytes (type 8) are read: MNIST has no others.
#pragma once

#include <filesystem>

#include "../core/shape.h"

namespace isobar {

struct Idx {
  int64_t count = 0;            // items: the first dimension
  std::vector<uint8_t> values;  // count × item.numel(), row by row
};

// The most items a file may declare.
inline constexpr int64_t max_idx_items = 1 << 20;

// Reads a file whose items have this shape: {28, 28} for images, {} for labels. Throws Error, with the path,
// for a file that cannot be read, a header with another type, shape or more than max_idx_items, and fewer or
// more values than the header declares. Memory grows with the bytes that are read, never with the declared
// size.
Idx read_idx(const std::filesystem::path& path, const Shape& item);

}  // namespace isobar
