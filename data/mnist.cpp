#include "mnist.h"

#include <algorithm>

#include "../core/profile.h"
#include "../core/raw.h"

namespace isobar {
namespace {

constexpr int64_t side = 28, pixels = side * side;

// The file of this name in the folder, plain or gzipped.
std::filesystem::path find_file(const std::filesystem::path& folder, const std::string& name) {
  std::error_code unknown;  // a file without permission is reported as missing
  for (const std::string& candidate : {name, name + ".gz"})
    if (std::filesystem::exists(folder / candidate, unknown)) return folder / candidate;
  throw_error(fmt::format("mnist: neither {0} nor {0}.gz is in {1}; put it there or name another folder",
                          name, folder.string()));
}

}  // namespace

Mnist::Mnist(const std::filesystem::path& folder, MnistOptions options) : flatten_(options.flatten) {
  const std::string part = options.train ? "train" : "t10k";
  const auto image_path = find_file(folder, part + "-images-idx3-ubyte");
  const auto label_path = find_file(folder, part + "-labels-idx1-ubyte");
  Idx labels = read_idx(label_path, {}), images = read_idx(image_path, {side, side});
  check(labels.count == images.count,
        "mnist: {} holds {} labels but {} holds {} images; they do not belong together", label_path.string(),
        labels.count, image_path.string(), images.count);
  for (int64_t i = 0; i < labels.count; ++i)
    check(labels.values[i] <= 9, "mnist: label {} of {} is {}, wanted 0 … 9", i, label_path.string(),
          labels.values[i]);
  labels_ = std::move(labels.values);
  images_ = std::move(images.values);
}

Batch Mnist::batch(std::span<const int64_t> indices) const {
  const Phase phase("data");
  const int64_t count = static_cast<int64_t>(indices.size());
  const Shape shape = flatten_ ? Shape{count, pixels} : Shape{count, 1, side, side};
  Batch result{Tensor(shape, Dtype::f32), Tensor(Shape{count}, Dtype::i64)};
  float* x = raw::write<float>(result.x);
  int64_t* y = raw::write<int64_t>(result.y);
  for (const int64_t index : indices) {
    check(index >= 0 && index < size(), "mnist: image {} is outside of 0 … {}", index, size() - 1);
    const uint8_t* image = images_.data() + index * pixels;
    x = std::transform(image, image + pixels, x, [](uint8_t pixel) { return pixel / 255.0f; });
    *y++ = labels_[index];
  }
  return result;
}

}  // namespace isobar
