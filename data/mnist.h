// Mnist: handwritten digits (LeCun, Cortes and Burges), grey images of 28 × 28 with a label 0 … 9. Data sets
// of the same make, such as Fashion-MNIST, read as well.
//
//   Mnist train("mnist", {.train = true});
//   auto [x, y] = train.batch(indices);   // x (B, 784) f32 from 0 to 1, y (B) i64
//
// Held in memory as the bytes of the file; batch() makes floats of the images it is asked for. Read-only once
// built: threads may share it.
#pragma once

#include <filesystem>
#include <vector>

#include "dataset.h"

namespace isobar {

struct MnistOptions {
  bool train = true;    // the 60,000 training images, or else the 10,000 test images
  bool flatten = true;  // x as (B, 784), or else as (B, 1, 28, 28)
};

class Mnist : public Dataset {
 public:
  // Reads {train,t10k}-images-idx3-ubyte and {train,t10k}-labels-idx1-ubyte of a folder, each as it is or
  // with .gz. Throws Error where a file is missing or breaks a rule of data/README.md.
  explicit Mnist(const std::filesystem::path& folder, MnistOptions options = {});

  int64_t size() const override { return static_cast<int64_t>(labels_.size()); }
  // x: pixels / 255, f32; y: labels, i64.
  Batch batch(std::span<const int64_t> indices) const override;

 private:
  bool flatten_;
  std::vector<uint8_t> images_, labels_;
};

}  // namespace isobar
