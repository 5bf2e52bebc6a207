// Digits: MNIST's images in three parts: to train on, to tune the learning rate by, and to report.
#pragma once

#include "../../../data/mnist.h"
#include "../../../data/shipped.h"
#include "../../run/run.h"

namespace isobar::depth {

// Some images of a Mnist, standardised: (x − 0.1307) / 0.3081, mean and std of the training images.
class Part : public Dataset {
 public:
  Part(std::shared_ptr<const Mnist> images, std::vector<int64_t> numbers);

  int64_t size() const override { return static_cast<int64_t>(numbers_.size()); }
  Batch batch(std::span<const int64_t> indices) const override;

  // How many images each digit has.
  const std::vector<int64_t>& label_counts() const { return label_counts_; }

 private:
  std::shared_ptr<const Mnist> images_;
  std::vector<int64_t> numbers_, label_counts_;
};

// No image is in two parts. Where the folder has all files, validation is a twelfth of the 60,000 training
// images (5,000), and test is MNIST's own (10,000). Where it has the t10k files alone, these are cut: 7,000,
// 1,000 and 2,000. Shuffles are the same for every seed.
struct Digits {
  Part train, validation, test;
  std::string source;  // for the reader
  std::string folder;
  std::string passed_over = "";      // of ISOBAR_DATA: passed_over()
  std::vector<DataFile> files = {};  // those that were read

  // Tells the run which files were read and says which folder was read, with a warning where that is not the user's.
  void announce(Run& run) const;
};
// An empty name means find_mnist()'s folder. Throws Error where a file is missing, there Unavailable.
Digits read_digits(const std::string& folder);

// Loss (in nats: the labels' entropy) and accuracy of the best constant classifiers.
double blind_loss(const Part& images);
double blind_accuracy(const Part& images);

}  // namespace isobar::depth
