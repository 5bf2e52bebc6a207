#include "digits.h"

#include <cmath>
#include <numeric>

#include "../../../autograd/ops.h"
#include "../../../data/loader.h"
#include "../../run/process.h"

namespace isobar::depth {
namespace {

namespace fs = std::filesystem;

// 0 … n − 1 in an order that is the same for every seed.
std::vector<int64_t> shuffled_numbers(int64_t n, const char* name) {
  const Permutation shuffled(n, Rng(0).split(name));
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i) order.push_back(shuffled(i));
  return order;
}

}  // namespace

Part::Part(std::shared_ptr<const Mnist> images, std::vector<int64_t> which)
    : images_(std::move(images)), numbers_(std::move(which)), label_counts_(10) {
  const Tensor labels = images_->batch(numbers_).y;
  for (const int64_t label : labels.to_vector<int64_t>()) ++label_counts_[static_cast<size_t>(label)];
}

Batch Part::batch(std::span<const int64_t> indices) const {
  std::vector<int64_t> wanted;
  for (const int64_t index : indices) wanted.push_back(numbers_.at(static_cast<size_t>(index)));
  const Batch raw = images_->batch(wanted);
  return {(raw.x - 0.1307) / 0.3081, raw.y};
}

Digits read_digits(const std::string& name) try {
  const fs::path folder = name.empty() ? find_mnist() : fs::path(name);
  const auto later = std::make_shared<const Mnist>(folder, MnistOptions{.train = false});
  const std::string instead = name.empty() ? passed_over(folder) : "";
  if (!find_idx(folder, "train-images-idx3-ubyte").empty()) {
    const auto first = std::make_shared<const Mnist>(folder);
    std::vector<int64_t> all(static_cast<size_t>(later->size()));
    std::iota(all.begin(), all.end(), 0);
    const std::vector<int64_t> order = shuffled_numbers(first->size(), "train and validation");
    const auto cut = order.end() - first->size() / 12;
    return {Part(first, {order.begin(), cut}),
            Part(first, {cut, order.end()}),
            Part(later, std::move(all)),
            "MNIST's own test images; validation from its training images",
            folder.string(),
            instead,
            digit_files(folder)};
  }
  const std::vector<int64_t> order = shuffled_numbers(later->size(), "train and test");
  const auto first_cut = order.begin() + later->size() * 7 / 10, cut = order.begin() + later->size() * 4 / 5;
  return {Part(later, {order.begin(), first_cut}),
          Part(later, {first_cut, cut}),
          Part(later, {cut, order.end()}),
          "the t10k files alone, cut 7 : 1 : 2",
          folder.string(),
          instead,
          digit_files(folder)};
} catch (const Error& error) {
  if (name.empty()) throw Unavailable(error.what());
  throw;
}

void Digits::announce(Run& run) const {
  for (const DataFile& file : files) run.reads(file);
  if (!passed_over.empty()) run.warn("{}", passed_over);
  run.say("The images of {}\n", folder);
}

double blind_loss(const Part& images) {
  double entropy = 0;
  for (const int64_t count : images.label_counts()) {
    const double share = static_cast<double>(count) / static_cast<double>(images.size());
    if (count > 0) entropy -= share * std::log(share);
  }
  return entropy;
}

double blind_accuracy(const Part& images) {
  const auto& counts = images.label_counts();
  return static_cast<double>(*std::max_element(counts.begin(), counts.end())) /
         static_cast<double>(images.size());
}

}  // namespace isobar::depth
