// Hdf5File: a tree of groups, datasets and attributes in one file that h5py, Matlab and h5dump read.
//
//   Hdf5File file = Hdf5File::create("run.h5");
//   file.set_attribute("/", "seed", int64_t{1});
//   file.write("/layers/std", values);                     // a tensor; missing groups are made
//   file.append<double>("/series/loss", std::array{2.3});  // a series that grows
//   file.save("runs/x/run.h5");
//
// A new file stays in memory until save() writes it with write_file_atomically(): on a full disk HDF5 itself
// leaves broken files and crashes at exit. Paths are absolute within the file. Every failure is an Error with
// file, object and reason. Times are not stored, so the same calls give the same bytes. Declared sizes are
// compared with the true size of the file before anything is allocated. HDF5 is not thread-safe: use HDF5
// files from one thread at a time. libhdf5 is not safe against a file that somebody made to harm: open an
// untrusted one in a process of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "../core/tensor.h"

namespace isobar {

class Hdf5File {
 public:
  // A new file in memory; errors contain `name`.
  static Hdf5File create(const std::string& name);
  // A file on the disk; read-only.
  static Hdf5File open(const std::string& path);

  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File& operator=(Hdf5File&& other) noexcept;
  ~Hdf5File();

  // image() returns the bytes of the file so far; save() writes them to the disk (see file.h). Both may be
  // called many times.
  std::string image();
  void save(const std::string& path);

  // --- writing
  // Makes a group and its missing parents, unless it exists.
  void make_group(const std::string& path);
  // Attributes of a group or dataset; an attribute that exists is replaced.
  void set_attribute(const std::string& object, const std::string& name, const std::string& value);
  void set_attribute(const std::string& object, const std::string& name, int64_t value);
  void set_attribute(const std::string& object, const std::string& name, double value);
  // A new dataset of the tensor's shape and dtype.
  void write(const std::string& path, const Tensor& values);
  // A new one-dimensional dataset. T is float, double, int32_t or int64_t.
  template <class T>
  void write(const std::string& path, std::span<const T> values) {
    write(path, tensor(Shape(std::ssize(values)), values));
  }
  template <class T>
  void write(const std::string& path, const std::vector<T>& values) {
    write(path, tensor(Shape(std::ssize(values)), values));
  }
  void write(const std::string& path, const std::vector<std::string>& values);
  // Appends one row to a dataset, or several of `length` values each. The first call makes it: (rows) for
  // rows of one value, else (rows, length). Later rows must have the same length.
  template <class T>
  void append(const std::string& path, std::span<const T> row) {
    append(path, row, row.size());
  }
  template <class T>
  void append(const std::string& path, std::span<const T> rows, size_t length);

  // --- reading
  bool has(const std::string& path) const;
  bool has_attribute(const std::string& object, const std::string& name) const;
  // The names of a group's members, in alphabetical order.
  std::vector<std::string> names(const std::string& group) const;
  std::string text_attribute(const std::string& object, const std::string& name) const;
  int64_t int_attribute(const std::string& object, const std::string& name) const;
  double double_attribute(const std::string& object, const std::string& name) const;
  // A dataset of f32, f64, i32 or i64 with at most six dimensions.
  Tensor read(const std::string& path) const;
  std::vector<std::string> read_strings(const std::string& path) const;

 private:
  Hdf5File(int64_t id, std::string name) : id_(id), name_(std::move(name)) {}

  int64_t id_ = -1;   // HDF5's handle; -1 after a move
  std::string name_;  // for errors
};

// Hdf5Output: a file with series that are larger than the memory should hold: rows go to the disk in chunks.
//
//   Hdf5Output output("runs/x/run.h5", file);               // a copy of `file`
//   output.append("/series/loss", std::array{2.3}, 1);      // rows of f64, as Hdf5File::append() adds them
//   output.save();                                          // the file appears
//
// HDF5 cannot recover from a write that fails, and crashes when it closes such a file. So disk space is
// allocated before HDF5 writes, and after its first failed call the file is left open.
class Hdf5Output {
 public:
  // Writes a copy of `file` under a temporary name beside `path`. Throws Error on a full disk, as append() and
  // save() do; `path` is then as before.
  Hdf5Output(const std::string& path, Hdf5File& file);
  Hdf5Output(const Hdf5Output&) = delete;
  Hdf5Output& operator=(const Hdf5Output&) = delete;
  ~Hdf5Output();

  // Appends rows of `length` values each to a dataset, which the first call makes.
  void append(const std::string& path, std::span<const double> rows, size_t length);
  // Syncs all to the disk and renames it to its path.
  void save();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace isobar
