// What the parts of Hdf5File share: handles that close themselves, errors with HDF5's own reason, and how our
// files are opened and laid out. hid_t is int64_t and herr_t is int: hdf5.h stays in .cpp files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "../../core/dtype.h"

namespace isobar::hdf5 {

// Bytes on the disk for what HDF5 adds of its own between two looks at a file.
inline constexpr size_t spare_room = size_t{1} << 20;

// Throws Error "hdf5: <file>: cannot <what>: <reason>", with the innermost reason on HDF5's error stack.
[[noreturn]] void fail(const std::string& file, std::string_view what);
void must(int result, const std::string& file, std::string_view what);

// An HDF5 handle, closed on the way out.
class Handle {
 public:
  Handle(int64_t id, int (*close)(int64_t), const std::string& file, std::string_view what)
      : id_(id), close_(close) {
    if (id < 0) fail(file, what);
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  operator int64_t() const { return id_; }

 private:
  int64_t id_;
  int (*close_)(int64_t);
};

// Access properties of a file, and of one in memory. All handles die with their file, and files are written
// in the oldest format that will do.
Handle file_access(const std::string& name);
Handle in_memory_access(const std::string& name);
// HDF5 takes two open files in memory for one and the same if their names are equal.
std::string unique_name(const std::string& name);

// Missing groups on the way are made.
Handle link_creation(const std::string& file);
// No time stamps, so that equal runs give equal files.
Handle dataset_creation(const std::string& file);

// Whether the object exists. Every step must be a plain link: soft and external ones lead out of the file.
bool exists(int64_t id, const std::string& file, const std::string& path);
Handle open_object(int64_t id, const std::string& file, const std::string& path);
uint64_t file_size(int64_t id, const std::string& file);

// HDF5's type of our numbers in memory.
int64_t memory_type(Dtype dtype);

}  // namespace isobar::hdf5
