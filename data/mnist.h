// Mnist: handwritten digits (LeCun, Cortes and Burges), grey images of 28 × 28 with labels 0 … 9. Data sets
// in the same format, such as Fashion-MNIST, can be read too.
//
//   Mnist train("mnist", {.train = true});
//   auto [x, y] = train.batch(indices);   // x (B, 784) f32 from 0 to 1, y (B) i64
//
// The images are stored in memory as bytes; batch() converts the requested images to f32. A data set is
// read-only once built, and threads may share it.
#pragma once

#include <filesystem>
#include <vector>

#include "dataset.h"

namespace isobar {

struct MnistOptions {
  bool train = true;    // true: the 60,000 training images; false: the 10,000 test images
  bool flatten = true;  // true: x is (B, 784); false: (B, 1, 28, 28)
};

class Mnist : public Dataset {
 public:
  // Reads {train,t10k}-images-idx3-ubyte and {train,t10k}-labels-idx1-ubyte in a folder, as find_idx() finds
  // them. Throws Error if a file is missing or breaks a rule of data/README.md.
  explicit Mnist(const std::filesystem::path& folder, MnistOptions options = {});

  int64_t size() const override { return static_cast<int64_t>(labels_.size()); }
  // x: pixels / 255, f32; y: labels, i64.
  Batch batch(std::span<const int64_t> indices) const override;

 private:
  bool flatten_;
  std::vector<uint8_t> images_, labels_;
};

// IDX: the file format of MNIST, plain or gzipped. Bytes 0 0, one byte for the type of the values, one for
// the number of dimensions, then each dimension as a big-endian 32-bit number, then the values row by row.
// Only unsigned bytes (type 8) are read: MNIST has no others.
struct Idx {
  int64_t count = 0;            // items: the first dimension
  std::vector<uint8_t> values;  // count × item.numel(), row by row
};

// The file "t10k-images-idx3-ubyte" of a folder, which some archives name "t10k-images.idx3-ubyte", each
// plain or with .gz; empty where there is none of the four.
std::filesystem::path find_idx(const std::filesystem::path& folder, const std::string& name);

// The most items a file may declare.
inline constexpr int64_t max_idx_items = 1 << 20;

// Reads a file whose items have this shape: {28, 28} for images, {} for labels. Throws Error, with the path,
// for a file that cannot be read, a header with another type, shape or more than max_idx_items, and fewer or
// more values than the header declares. Memory grows with the bytes that are read, never with the declared
// size.
Idx read_idx(const std::filesystem::path& path, const Shape& item);

}  // namespace isobar
