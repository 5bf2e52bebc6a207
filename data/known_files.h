// The files of data that Isobar knows by their checksums (XXH3).
#pragma once

#include "shipped.h"

namespace isobar {

struct ShippedFile {
  const char *name, *xxh3;
};
inline constexpr ShippedFile tiny_shakespeare = {"tinyshakespeare.txt", "6572a3fb9fde75d3"};
inline constexpr ShippedFile king_james = {"kjv.txt", "72eb6373bb6f38a6"};
inline constexpr ShippedFile mnist_files[] = {{"mnist/t10k-images-idx3-ubyte.gz", "c4c9c2676a5ceb26"},
                                              {"mnist/t10k-labels-idx1-ubyte.gz", "108ab1f06599996f"}};
inline constexpr ShippedFile plain_mnist_files[] = {{"mnist/t10k-images-idx3-ubyte", "6aa8aa9c0102c17c"},
                                                    {"mnist/t10k-labels-idx1-ubyte", "63c4bd8be7e7204f"}};

}  // namespace isobar
