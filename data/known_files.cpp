#include "known_files.h"

#include <algorithm>

namespace isobar {

bool is_shipped(const DataFile& file) {
  const auto same = [&](const ShippedFile& one) { return file.name == one.name && file.xxh3 == one.xxh3; };
  return same(tiny_shakespeare) || same(king_james) || std::ranges::any_of(mnist_files, same) ||
         std::ranges::any_of(plain_mnist_files, same);
}

}  // namespace isobar
