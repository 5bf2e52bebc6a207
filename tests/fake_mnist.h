// Images in MNIST's format that anything but a dead net learns.
#pragma once

#include <cstdint>

#include "temporary_folder.h"

namespace isobar {

inline std::string idx(const std::vector<uint32_t>& sizes, const std::string& values) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  for (const uint32_t size : sizes)
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(size >> shift));
  return bytes + values;
}

// t10k files of 500 images: of each digit's image another tenth of the pixels is white, and one pixel tells
// the images apart. Mean and std are about those of MNIST, so that the net's input has mean square 1.
inline void write_stripes(const TemporaryFolder& folder) {
  std::string pixels(500 * 784, '\0'), labels;
  for (size_t i = 0; i < 500; ++i) {
    const size_t label = i * 7 % 10;
    labels.push_back(static_cast<char>(label));
    for (size_t p = 0; p < 78; ++p) pixels[784 * i + 78 * label + p] = '\xff';
    pixels[784 * i + i] = '\xff';
  }
  folder.write("t10k-images-idx3-ubyte", idx({500, 28, 28}, pixels));
  folder.write("t10k-labels-idx1-ubyte", idx({500}, labels));
}

}  // namespace isobar
