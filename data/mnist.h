// Mnist: handwritten digits (LeCun, Cortes and Burges), grey images of 28 × 28 with labels 0 … 9. Data sets
// in the same format, such as Fashion-MNIST, can be read too.
//
//   Mnist train("mnist", {.train = true});
//   auto [x, y] = train.batch(indices);   // x (B, 784) f32 from 0 to 1, y (B) i64
//
// The images are kept in memory as bytes; batch() converts the requested images to f32. Read-only once built:
// threads may share it.
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
  // Reads {train,t10k}-images-idx3-ubyte and {train,t10k}-labels-idx1-ubyte in a folder, each plain or with
  // .gz. Throws Error if a file is missing or breaks a rule of data/README.md.
  explicit Mnist(const std::filesystem::path& folder, MnistOptions options = {});

  int64_t size() const override { return static_cast<int64_t>(labels_.size()); }
  // x: pixels / 255, f32; y: labels, i64.
  Batch batch(std::span<const int64_t> indices) const override;

 private:
  bool flatten_;
  std::vector<uint8_t> images_, labels_;
};

}  // namespace isobar
