// Shared by the parts of Hdf5File: handles that close themselves, errors with HDF5's reason, and properties
// of our files. hid_t is int64_t and herr_t is int: hdf5.h stays in .cpp files.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "../../core/dtype.h"

namespace isobar::hdf5 {

// Disk space for what HDF5 itself adds between two checks of a file's size, in bytes.
inline constexpr size_t spare_room = size_t{1} << 20;

// Throws Error "hdf5: <file>: cannot <what>: <reason>", with the innermost reason on HDF5's error stack.
[[noreturn]] void fail(const std::string& file, std::string_view what);
void must(int result, const std::string& file, std::string_view what);

// An HDF5 handle, closed by the destructor.
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
  // Closes it now; false where HDF5 could not.
  bool shut() { return close_(std::exchange(id_, -1)) >= 0; }
  // Leaves it open to the end of the process: HDF5 crashes where it closes what it could not write.
  void abandon() { id_ = -1; }

 private:
  int64_t id_;
  int (*close_)(int64_t);
};

// Access properties of a file on the disk, and of a file in memory. Closing a file closes all its handles.
// Files are written in the oldest format that suffices.
Handle file_access(const std::string& name);
Handle in_memory_access(const std::string& name);
// HDF5 treats two open files in memory as the same file if their names are equal, so each gets its own name.
std::string unique_name(const std::string& name);

// Makes missing groups of a path.
Handle link_creation(const std::string& file);
// A new dataset, with missing groups of its path; without time stamps, so that equal runs give equal files.
// It can grow where `chunk` is given, up to the extents `most`.
Handle make_dataset(int64_t id, const std::string& file, const std::string& path, int64_t type,
                    std::span<const uint64_t> extents, const uint64_t* most = nullptr,
                    const uint64_t* chunk = nullptr);

// Whether the object exists. Every link of the path must be a hard link: soft and external links can leave
// the file.
bool exists(int64_t id, const std::string& file, const std::string& path);
Handle open_object(int64_t id, const std::string& file, const std::string& path);
uint64_t file_size(int64_t id, const std::string& file);
// Its bytes so far.
std::string file_image(int64_t id, const std::string& file);

// HDF5's type of our elements, in memory and on the disk.
int64_t type_of(Dtype dtype);

// A dataset that can grow, (rows) for rows of one element, else (rows, length); in chunks of about 8 KiB:
// small compared with a run's other files, large enough that growth is rare.
struct Rows {
  std::string path;
  size_t length;
  Dtype dtype;

  size_t chunk_bytes() const { return chunk_rows() * length * size_of(dtype); }
  // Makes it, without rows.
  void make(int64_t id, const std::string& file) const;
  // Writes `count` rows after the first `there`.
  void append(int64_t dataset, const std::string& file, size_t there, size_t count, const void* values) const;

 private:
  size_t chunk_rows() const;
  int ndim() const { return length == 1 ? 1 : 2; }
};

}  // namespace isobar::hdf5
