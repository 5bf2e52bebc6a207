#include "mnist.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "../core/phase.h"
#include "../core/raw.h"
#include "zipped_file.h"

namespace isobar {
namespace {

constexpr int64_t side = 28, pixels = side * side;

std::string with_dot(std::string name) {
  name[name.find("-idx")] = '.';
  return name;
}

std::filesystem::path wanted_idx(const std::filesystem::path& folder, const std::string& name) {
  std::error_code unknown;
  check(std::filesystem::is_directory(folder, unknown), "mnist: there is no folder {}; name one that has {}",
        folder.string(), name);
  const std::filesystem::path path = find_idx(folder, name);
  check(!path.empty(),
        "mnist: none of {0}, {0}.gz, {1} and {1}.gz is in {2}; put one there or name another folder", name,
        with_dot(name), folder.string());
  return path;
}

class ByteFile {
 public:
  explicit ByteFile(const std::filesystem::path& path) : path_(path.string()), file_(path.string()) {
    check(file_.opened(), "idx: cannot open {}: {}", path_, std::strerror(errno));
  }

  const std::string& path() const { return path_; }
  size_t read(uint8_t* bytes, size_t wanted) { return file_.read(bytes, wanted, "idx"); }

 private:
  std::string path_;
  ZippedFile file_;
};

// Reads the header and returns the number of items.
int64_t read_header(ByteFile& file, const Shape& item) {
  constexpr uint8_t unsigned_bytes = 0x08;
  const auto read_all = [&](uint8_t* bytes, size_t wanted) {
    const size_t got = file.read(bytes, wanted);
    check(got == wanted, "idx: {} ends inside its header; get the file again", file.path());
  };
  uint8_t magic[4];
  read_all(magic, sizeof magic);
  check(magic[0] == 0 && magic[1] == 0, "idx: {} is no IDX file: it starts with {:02x} {:02x}, wanted 00 00",
        file.path(), magic[0], magic[1]);
  check(magic[2] == unsigned_bytes, "idx: {} holds values of type 0x{:02x}, wanted 0x08 (unsigned bytes)",
        file.path(), magic[2]);
  check(magic[3] == 1 + item.ndim(), "idx: {} has {} dimensions, wanted {}", file.path(), magic[3],
        1 + item.ndim());

  const auto read_dimension = [&] {
    uint8_t big_endian[4];
    read_all(big_endian, sizeof big_endian);
    int64_t value = 0;
    for (const uint8_t byte : big_endian) value = value << 8 | byte;
    return value;
  };
  const int64_t count = read_dimension();
  check(count >= 1 && count <= max_idx_items, "idx: {} declares {} items, wanted 1 … {}", file.path(), count,
        max_idx_items);
  for (int d = 0; d < item.ndim(); ++d) {
    const int64_t extent = read_dimension();
    check(extent == item[d], "idx: dimension {} of {} is {}, wanted items of {}", d + 1, file.path(), extent,
          item);
  }
  return count;
}

}  // namespace

std::filesystem::path find_idx(const std::filesystem::path& folder, const std::string& name) {
  std::error_code unknown;  // a file without permission is reported as missing
  for (const std::string& file : {name, name + ".gz", with_dot(name), with_dot(name) + ".gz"})
    if (std::filesystem::is_regular_file(folder / file, unknown)) return folder / file;
  return {};
}

Idx read_idx(const std::filesystem::path& path, const Shape& item) {
  constexpr size_t block = 1 << 20;
  ByteFile file(path);
  Idx result;
  result.count = read_header(file, item);
  const size_t declared = static_cast<size_t>(result.count * item.numel());
  while (result.values.size() < declared) {
    const size_t before = result.values.size(), wanted = std::min(block, declared - before);
    result.values.resize(before + wanted);
    const size_t got = file.read(result.values.data() + before, wanted);
    check(got == wanted, "idx: {} is cut short: it declares {} values and holds {}; get the file again",
          file.path(), declared, before + got);
  }
  // Reading one byte more also makes zlib compare the checksum at the end of a gzip file.
  uint8_t extra;
  check(file.read(&extra, 1) == 0, "idx: {} goes on after the {} values that it declares", file.path(),
        declared);
  return result;
}

Mnist::Mnist(const std::filesystem::path& folder, MnistOptions options) : flatten_(options.flatten) {
  const std::string part = options.train ? "train" : "t10k";
  const auto image_path = wanted_idx(folder, part + "-images-idx3-ubyte");
  const auto label_path = wanted_idx(folder, part + "-labels-idx1-ubyte");
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
