#include "hdf5_file.h"

#include <hdf5.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <utility>

#include "file.h"

namespace isobar {
namespace {

static_assert(std::is_same_v<hid_t, int64_t>);

// Of a file on the disk: how much room there is for what HDF5 adds between two looks at it.
constexpr size_t spare_room = size_t{1} << 20;

// HDF5 prints its errors itself and loads plugins from folders named in the environment, unless told not to.
void set_up_library() {
  [[maybe_unused]] static const bool done = [] {
    H5open();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLset_loading_state(0);
    return true;
  }();
}

// The innermost reason on HDF5's error stack; of failed system calls, only the system's words.
std::string last_reason() {
  std::string reason = "unknown reason";
  const auto innermost = [](unsigned depth, const H5E_error2_t* error, void* text) -> herr_t {
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &reason);
  const std::string_view mark = "error message = '";
  const size_t begin = reason.find(mark);
  if (begin == std::string::npos) return reason;
  const size_t end = reason.find('\'', begin + mark.size());
  return reason.substr(begin + mark.size(), end - begin - mark.size());
}

[[noreturn]] void fail(const std::string& file, std::string_view what) {
  throw_error(fmt::format("hdf5: {}: cannot {}: {}", file, what, last_reason()));
}

// An HDF5 handle, closed on the way out.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string& file, std::string_view what)
      : id_(id), close_(close) {
    if (id < 0) fail(file, what);
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void must(herr_t result, const std::string& file, std::string_view what) {
  if (result < 0) fail(file, what);
}

hid_t memory_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return H5T_NATIVE_FLOAT;
    case Dtype::f64:
      return H5T_NATIVE_DOUBLE;
    case Dtype::i32:
      return H5T_NATIVE_INT32;
    case Dtype::i64:
      return H5T_NATIVE_INT64;
  }
  throw_error("hdf5: unknown dtype");
}

// Little-endian on disk, whatever the machine.
hid_t disk_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return H5T_IEEE_F32LE;
    case Dtype::f64:
      return H5T_IEEE_F64LE;
    case Dtype::i32:
      return H5T_STD_I32LE;
    case Dtype::i64:
      return H5T_STD_I64LE;
  }
  throw_error("hdf5: unknown dtype");
}

// UTF-8 of fixed length, padded with NUL. Strings of variable length would need a heap whose lengths a
// hostile file can falsify.
Handle string_type(size_t length, const std::string& file) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, file, "make a string type");
  H5Tset_size(type, std::max<size_t>(length, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

// All handles die with their file, and files are written in the oldest format that will do.
Handle file_access(const std::string& name) {
  set_up_library();
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, name, "make access properties");
  must(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), name, "set access properties");
  return access;
}

Handle in_memory_access(const std::string& name) {
  Handle access = file_access(name);
  must(H5Pset_fapl_core(access, size_t{1} << 20, 0), name, "set access properties");
  return access;
}

// HDF5 takes two open files in memory for one and the same if their names are equal.
std::string unique_name(const std::string& name) {
  static std::atomic<unsigned> count = 0;
  return fmt::format("{}#{}", name, count++);
}

// Missing groups on the way are made.
Handle link_creation(const std::string& file) {
  Handle properties(H5Pcreate(H5P_LINK_CREATE), H5Pclose, file, "make link properties");
  must(H5Pset_create_intermediate_group(properties, 1), file, "set link properties");
  return properties;
}

// No time stamps, so that equal runs give equal files.
Handle dataset_creation(const std::string& file) {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, file, "make dataset properties");
  must(H5Pset_obj_track_times(properties, false), file, "set dataset properties");
  return properties;
}

// Whether the object exists. Every step must be a plain link: soft and external ones lead out of the file.
bool exists(hid_t id, const std::string& file, const std::string& path) {
  check(!path.empty() && path[0] == '/', "hdf5: {}: wanted an absolute path, got '{}'", file, path);
  for (size_t end = 1; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string step = path.substr(0, end);
    const htri_t there = H5Lexists(id, step.c_str(), H5P_DEFAULT);
    if (there <= 0) return false;
    H5L_info_t info;
    must(H5Lget_info(id, step.c_str(), &info, H5P_DEFAULT), file, fmt::format("look at '{}'", step));
    check(info.type == H5L_TYPE_HARD, "hdf5: {}: '{}' is a soft or external link, which are not followed",
          file, step);
  }
  return true;
}

Handle open_object(hid_t id, const std::string& file, const std::string& path) {
  check(exists(id, file, path), "hdf5: {}: there is no '{}'", file, path);
  return Handle(H5Oopen(id, path.c_str(), H5P_DEFAULT), H5Oclose, file, fmt::format("open '{}'", path));
}

Handle open_attribute(hid_t id, const std::string& file, const std::string& object, const std::string& name) {
  const Handle holder = open_object(id, file, object);
  check(H5Aexists(holder, name.c_str()) > 0, "hdf5: {}: '{}' has no attribute '{}'", file, object, name);
  return Handle(H5Aopen(holder, name.c_str(), H5P_DEFAULT), H5Aclose, file,
                fmt::format("open attribute '{}' of '{}'", name, object));
}

uint64_t file_size(hid_t id, const std::string& file) {
  hsize_t size = 0;
  must(H5Fget_filesize(id, &size), file, "find its size");
  return size;
}

// A dataset that may be read: with extents, its numbers in this very file, plain, and no more of them than
// the file has bytes for.
struct Source {
  Handle dataset, type;
  std::vector<int64_t> extents;
  int64_t numel;
};

uint64_t checked_bytes(std::span<const hsize_t> extents, uint64_t element, uint64_t limit,
                       const std::string& file, const std::string& path) {
  uint64_t bytes = element;
  for (const hsize_t extent : extents)
    check(!__builtin_mul_overflow(bytes, extent, &bytes), "hdf5: {}: '{}' declares more than 2^64 bytes",
          file, path);
  check(bytes <= limit, "hdf5: {}: '{}' declares {} bytes, but the whole file has {}", file, path, bytes,
        limit);
  return bytes;
}

Source open_source(hid_t id, const std::string& file, const std::string& path) {
  check(exists(id, file, path), "hdf5: {}: there is no '{}'", file, path);
  Handle dataset(H5Dopen2(id, path.c_str(), H5P_DEFAULT), H5Dclose, file,
                 fmt::format("open dataset '{}'", path));
  Handle type(H5Dget_type(dataset), H5Tclose, file, fmt::format("read the type of '{}'", path));
  const Handle space(H5Dget_space(dataset), H5Sclose, file, fmt::format("read the shape of '{}'", path));
  const Handle layout(H5Dget_create_plist(dataset), H5Pclose, file,
                      fmt::format("read the layout of '{}'", path));
  check(H5Sget_simple_extent_type(space) != H5S_NULL && H5Sget_simple_extent_ndims(space) <= max_dims,
        "hdf5: {}: wanted at most {} dimensions in '{}'", file, max_dims, path);
  check(H5Pget_layout(layout) != H5D_VIRTUAL && H5Pget_external_count(layout) == 0 &&
            H5Pget_nfilters(layout) == 0,
        "hdf5: {}: '{}' is virtual, external or compressed; wanted plain numbers", file, path);

  const uint64_t limit = file_size(id, file), element = H5Tget_size(type);
  const int ndim = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> declared(static_cast<size_t>(ndim));
  H5Sget_simple_extent_dims(space, declared.data(), nullptr);
  checked_bytes(declared, element, limit, file, path);
  if (H5Pget_layout(layout) == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(declared.size());
    must(H5Pget_chunk(layout, ndim, chunk.data()), file, fmt::format("read the layout of '{}'", path));
    checked_bytes(chunk, element, limit, file, path);
  }
  int64_t numel = 1;
  for (const hsize_t extent : declared) numel *= static_cast<int64_t>(extent);
  return {std::move(dataset), std::move(type), {declared.begin(), declared.end()}, numel};
}

// Makes a dataset and writes it whole.
void write_dataset(hid_t id, const std::string& file, const std::string& path, hid_t on_disk, hid_t in_memory,
                   std::span<const hsize_t> extents, const void* values, bool empty) {
  check(!exists(id, file, path), "hdf5: {}: '{}' exists already", file, path);
  const Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose,
                     file, "make a shape");
  const Handle links = link_creation(file), properties = dataset_creation(file);
  const Handle dataset(H5Dcreate2(id, path.c_str(), on_disk, space, links, properties, H5P_DEFAULT), H5Dclose,
                       file, fmt::format("create dataset '{}'", path));
  if (empty) return;
  must(H5Dwrite(dataset, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), file,
       fmt::format("write dataset '{}'", path));
}

void write_attribute(hid_t id, const std::string& file, const std::string& object, const std::string& name,
                     hid_t on_disk, hid_t in_memory, const void* value) {
  const Handle holder = open_object(id, file, object);
  const std::string what = fmt::format("write attribute '{}' of '{}'", name, object);
  if (H5Aexists(holder, name.c_str()) > 0) must(H5Adelete(holder, name.c_str()), file, what);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, file, "make a shape");
  const Handle attribute(H5Acreate2(holder, name.c_str(), on_disk, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         file, what);
  must(H5Awrite(attribute, in_memory, value), file, what);
}

// A single number, of the class wanted.
template <class T>
T number_attribute(hid_t id, const std::string& file, const std::string& object, const std::string& name,
                   H5T_class_t wanted, hid_t in_memory) {
  const Handle attribute = open_attribute(id, file, object, name);
  const Handle type(H5Aget_type(attribute), H5Tclose, file, "read a type");
  const Handle space(H5Aget_space(attribute), H5Sclose, file, "read a shape");
  check(H5Tget_class(type) == wanted && H5Sget_simple_extent_npoints(space) == 1,
        "hdf5: {}: wanted a single {} in attribute '{}' of '{}'", file,
        wanted == H5T_FLOAT ? "float" : "integer", name, object);
  T value{};
  must(H5Aread(attribute, in_memory, &value), file, fmt::format("read attribute '{}' of '{}'", name, object));
  return value;
}

// Text without its padding.
std::string unpadded(const char* text, size_t length) {
  while (length > 0 && text[length - 1] == '\0') --length;
  return {text, length};
}

void check_fixed_text(hid_t type, const std::string& file, const std::string& what) {
  check(H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0,
        "hdf5: {}: wanted text of fixed length in {}", file, what);
}

}  // namespace

Hdf5File Hdf5File::create(const std::string& name) {
  const Handle access = in_memory_access(name);
  const hid_t id = H5Fcreate(unique_name(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (id < 0) fail(name, "create the file");
  return {id, name};
}

Hdf5File Hdf5File::create_on_disk(const std::string& path) {
  Hdf5File file(-1, path);
  file.temporary_ = temporary_name(path);
  reserve_file(file.temporary_, spare_room);  // where this fails, HDF5 is never asked
  const Handle access = file_access(path);
  // This format has checksums on all that HDF5 itself must trust: shapes, layouts, where the chunks lie.
  must(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110), path, "set access properties");
  const Handle properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose, path, "make file properties");
  must(H5Pset_obj_track_times(properties, false), path, "set file properties");
  file.id_ = H5Fcreate(file.temporary_.c_str(), H5F_ACC_TRUNC, properties, access);
  if (file.id_ < 0) fail(path, "create the file");
  file.take_room(0);
  return file;
}

Hdf5File Hdf5File::open(const std::string& path) {
  const Handle access = file_access(path);
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  if (id < 0) fail(path, "open the file");
  return {id, path};
}

Hdf5File Hdf5File::open_image(std::string_view bytes, const std::string& name) {
  check(!bytes.empty(), "hdf5: {}: wanted the bytes of a file, got none", name);
  const Handle access = in_memory_access(name);
  // HDF5 copies the bytes; its interface lacks a const.
  must(H5Pset_file_image(access, const_cast<char*>(bytes.data()), bytes.size()), name, "take the bytes");
  const hid_t id = H5Fopen(unique_name(name).c_str(), H5F_ACC_RDONLY, access);
  if (id < 0) fail(name, "open the file");
  return {id, name};
}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, "")),
      room_(other.room_) {}

Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(name_, other.name_);
  std::swap(temporary_, other.temporary_);
  std::swap(room_, other.room_);
  return *this;
}

Hdf5File::~Hdf5File() {
  if (id_ >= 0) H5Fclose(id_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

// Makes sure that a file on the disk has room for `bytes` more, whatever HDF5 adds to them.
void Hdf5File::take_room(size_t bytes) {
  if (temporary_.empty()) return;
  const size_t needed = file_size(id_, name_) + bytes + spare_room;
  if (needed <= room_) return;
  room_ = needed + 15 * spare_room;  // not for every few bytes
  try {
    reserve_file(temporary_, room_);
  } catch (const Error&) {
    room_ = needed;  // the disk may be nearly full
    reserve_file(temporary_, room_);
  }
}

std::string Hdf5File::image() {
  must(H5Fflush(id_, H5F_SCOPE_LOCAL), name_, "bring the file up to date");
  const ssize_t size = H5Fget_file_image(id_, nullptr, 0);
  if (size < 0) fail(name_, "find the size of its image");
  std::string bytes(static_cast<size_t>(size), '\0');
  if (H5Fget_file_image(id_, bytes.data(), bytes.size()) < 0) fail(name_, "copy its image");
  return bytes;
}

void Hdf5File::save(const std::string& path) {
  if (temporary_.empty()) return write_file_atomically(path, image());
  check(path == name_, "hdf5: {}: a file made on the disk is saved under its own path, not as '{}'", name_,
        path);
  take_room(0);
  must(H5Fflush(id_, H5F_SCOPE_LOCAL), name_, "bring the file up to date");
  const size_t size = file_size(id_, name_);
  must(H5Fclose(std::exchange(id_, -1)), name_, "close the file");
  finish_file(temporary_, size);
  rename_file(temporary_, path);
  temporary_.clear();
}

void Hdf5File::make_group(const std::string& path) {
  if (exists(id_, name_, path)) return;
  const Handle links = link_creation(name_);
  const Handle group(H5Gcreate2(id_, path.c_str(), links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, name_,
                     fmt::format("create group '{}'", path));
}

void Hdf5File::set_attribute(const std::string& object, const std::string& name, const std::string& value) {
  // An attribute lives in its object's header, which holds at most 64 KiB.
  check(value.size() <= 60000,
        "hdf5: {}: wanted at most 60000 bytes in attribute '{}', got {}; write a dataset", name_, name,
        value.size());
  const Handle type = string_type(value.size(), name_);
  write_attribute(id_, name_, object, name, type, type, value.c_str());
}

void Hdf5File::set_attribute(const std::string& object, const std::string& name, int64_t value) {
  write_attribute(id_, name_, object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void Hdf5File::set_attribute(const std::string& object, const std::string& name, double value) {
  write_attribute(id_, name_, object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void Hdf5File::write(const std::string& path, const Tensor& values) {
  take_room(static_cast<size_t>(values.numel()) * 8);
  const Tensor packed = values.packed();
  const std::vector<hsize_t> extents(packed.shape().begin(), packed.shape().end());
  dispatch_any(packed.dtype(), [&]<class T>() {
    write_dataset(id_, name_, path, disk_type(packed.dtype()), memory_type(packed.dtype()), extents,
                  packed.data<T>(), packed.numel() == 0);
  });
}

template <class T>
void Hdf5File::write(const std::string& path, std::span<const T> values) {
  take_room(values.size_bytes());
  const hsize_t extent = values.size();
  write_dataset(id_, name_, path, disk_type(dtype_of<T>()), memory_type(dtype_of<T>()), {&extent, 1},
                values.data(), values.empty());
}

void Hdf5File::write(const std::string& path, const std::vector<std::string>& values) {
  size_t length = 1;
  for (const std::string& value : values) length = std::max(length, value.size());
  std::string padded(values.size() * length, '\0');
  for (size_t i = 0; i < values.size(); ++i) values[i].copy(&padded[i * length], length);
  take_room(padded.size());
  const Handle type = string_type(length, name_);
  const hsize_t extent = values.size();
  write_dataset(id_, name_, path, type, type, {&extent, 1}, padded.data(), values.empty());
}

template <class T>
void Hdf5File::append(const std::string& path, std::span<const T> row) {
  const Dtype dtype = dtype_of<T>();
  const int ndim = row.size() == 1 ? 1 : 2;
  check(!row.empty(), "hdf5: {}: append to '{}': wanted a row of at least one value", name_, path);
  if (!exists(id_, name_, path)) {
    // Chunks of about 8 KiB: small beside a run's other files, large enough that growth is rare.
    const hsize_t rows = std::clamp<size_t>(8192 / (row.size() * sizeof(T)), 1, 1024);
    const hsize_t start[2] = {0, row.size()}, most[2] = {H5S_UNLIMITED, row.size()},
                  chunk[2] = {rows, row.size()};
    const Handle space(H5Screate_simple(ndim, start, most), H5Sclose, name_, "make a shape");
    const Handle links = link_creation(name_), properties = dataset_creation(name_);
    must(H5Pset_chunk(properties, ndim, chunk), name_, "set chunks");
    const Handle made(H5Dcreate2(id_, path.c_str(), disk_type(dtype), space, links, properties, H5P_DEFAULT),
                      H5Dclose, name_, fmt::format("create dataset '{}'", path));
  }
  const Handle dataset(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose, name_,
                       fmt::format("open dataset '{}'", path));
  hsize_t extents[max_dims] = {};
  {
    const Handle space(H5Dget_space(dataset), H5Sclose, name_, fmt::format("read the shape of '{}'", path));
    check(H5Sget_simple_extent_ndims(space) == ndim,
          "hdf5: {}: append to '{}': rows of another length stand there", name_, path);
    H5Sget_simple_extent_dims(space, extents, nullptr);
  }
  check(ndim == 1 || extents[1] == row.size(), "hdf5: {}: append to '{}': wanted a row of {} values, got {}",
        name_, path, extents[1], row.size());
  const hsize_t begin[2] = {extents[0], 0}, count[2] = {1, row.size()};
  ++extents[0];
  const std::string what = fmt::format("append to '{}'", path);
  must(H5Dset_extent(dataset, extents), name_, what);
  const Handle space(H5Dget_space(dataset), H5Sclose, name_, what);
  const Handle one_row(H5Screate_simple(ndim, count, nullptr), H5Sclose, name_, what);
  must(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, count, nullptr), name_, what);
  must(H5Dwrite(dataset, memory_type(dtype), one_row, space, H5P_DEFAULT, row.data()), name_, what);
}

template <class T>
void Hdf5File::extend(const std::string& path, std::span<const T> values, int64_t chunk) {
  constexpr bool u16 = std::is_same_v<T, uint16_t>;
  take_room(values.size_bytes() + static_cast<size_t>(chunk) * sizeof(T));
  const std::string what = fmt::format("append to '{}'", path);
  if (!exists(id_, name_, path)) {
    const hsize_t start = 0, most = H5S_UNLIMITED, extent = static_cast<hsize_t>(chunk);
    const Handle space(H5Screate_simple(1, &start, &most), H5Sclose, name_, "make a shape");
    const Handle links = link_creation(name_), properties = dataset_creation(name_);
    must(H5Pset_chunk(properties, 1, &extent), name_, "set chunks");
    const Handle made(H5Dcreate2(id_, path.c_str(), u16 ? H5T_STD_U16LE : H5T_STD_I32LE, space, links,
                                 properties, H5P_DEFAULT),
                      H5Dclose, name_, fmt::format("create dataset '{}'", path));
  }
  const Handle dataset(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose, name_, what);
  hsize_t begin = 0;
  {
    const Handle space(H5Dget_space(dataset), H5Sclose, name_, what);
    H5Sget_simple_extent_dims(space, &begin, nullptr);
  }
  const hsize_t count = values.size(), end = begin + count;
  must(H5Dset_extent(dataset, &end), name_, what);
  const Handle space(H5Dget_space(dataset), H5Sclose, name_, what);
  const Handle block(H5Screate_simple(1, &count, nullptr), H5Sclose, name_, what);
  must(H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin, nullptr, &count, nullptr), name_, what);
  must(
      H5Dwrite(dataset, u16 ? H5T_NATIVE_UINT16 : H5T_NATIVE_INT32, block, space, H5P_DEFAULT, values.data()),
      name_, what);
}

int64_t Hdf5File::length(const std::string& path) const {
  const Source source = open_source(id_, name_, path);
  const bool whole = H5Tget_class(source.type) == H5T_INTEGER;
  const bool u16 = whole && H5Tget_size(source.type) == 2 && H5Tget_sign(source.type) == H5T_SGN_NONE;
  const bool i32 = whole && H5Tget_size(source.type) == 4 && H5Tget_sign(source.type) == H5T_SGN_2;
  check((u16 || i32) && source.extents.size() == 1, "hdf5: {}: wanted one dimension of u16 or i32 in '{}'",
        name_, path);
  return source.numel;
}

void Hdf5File::read_range(const std::string& path, int64_t begin, std::span<int32_t> values) const {
  const int64_t there = length(path), wanted = static_cast<int64_t>(values.size());
  check(begin >= 0 && begin <= there && wanted <= there - begin,
        "hdf5: {}: wanted numbers {} … {} of '{}', which has {}", name_, begin, begin + wanted - 1, path,
        there);
  const std::string what = fmt::format("read dataset '{}'", path);
  const Handle dataset(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose, name_, what);
  const Handle space(H5Dget_space(dataset), H5Sclose, name_, what);
  const hsize_t start = static_cast<hsize_t>(begin), count = values.size();
  const Handle block(H5Screate_simple(1, &count, nullptr), H5Sclose, name_, what);
  must(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &count, nullptr), name_, what);
  must(H5Dread(dataset, H5T_NATIVE_INT32, block, space, H5P_DEFAULT, values.data()), name_, what);
}

bool Hdf5File::has(const std::string& path) const { return exists(id_, name_, path); }

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
  return H5Aexists(open_object(id_, name_, object), name.c_str()) > 0;
}

std::vector<std::string> Hdf5File::names(const std::string& group) const {
  const Handle holder = open_object(id_, name_, group);
  H5G_info_t info;
  must(H5Gget_info(holder, &info), name_, fmt::format("list group '{}'", group));
  std::vector<std::string> result;
  const auto take = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  must(H5Literate(holder, H5_INDEX_NAME, H5_ITER_INC, nullptr, take, &result), name_,
       fmt::format("list group '{}'", group));
  return result;
}

std::vector<std::string> Hdf5File::attribute_names(const std::string& object) const {
  const Handle holder = open_object(id_, name_, object);
  std::vector<std::string> result;
  const auto take = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  must(H5Aiterate2(holder, H5_INDEX_NAME, H5_ITER_INC, nullptr, take, &result), name_,
       fmt::format("list the attributes of '{}'", object));
  return result;
}

std::string Hdf5File::text_attribute(const std::string& object, const std::string& name) const {
  const Handle attribute = open_attribute(id_, name_, object, name);
  const Handle type(H5Aget_type(attribute), H5Tclose, name_, "read a type");
  const Handle space(H5Aget_space(attribute), H5Sclose, name_, "read a shape");
  const std::string what = fmt::format("attribute '{}' of '{}'", name, object);
  check_fixed_text(type, name_, what);
  check(H5Sget_simple_extent_npoints(space) == 1, "hdf5: {}: wanted a single text in {}", name_, what);
  const size_t length = H5Tget_size(type);
  check(length <= file_size(id_, name_), "hdf5: {}: {} declares {} bytes, more than the whole file has",
        name_, what, length);
  std::string text(length, '\0');
  must(H5Aread(attribute, type, text.data()), name_, "read " + what);
  return unpadded(text.data(), text.size());
}

int64_t Hdf5File::int_attribute(const std::string& object, const std::string& name) const {
  return number_attribute<int64_t>(id_, name_, object, name, H5T_INTEGER, H5T_NATIVE_INT64);
}

double Hdf5File::double_attribute(const std::string& object, const std::string& name) const {
  return number_attribute<double>(id_, name_, object, name, H5T_FLOAT, H5T_NATIVE_DOUBLE);
}

Tensor Hdf5File::read(const std::string& path) const {
  const Source source = open_source(id_, name_, path);
  const H5T_class_t kind = H5Tget_class(source.type);
  const size_t size = H5Tget_size(source.type);
  check((kind == H5T_FLOAT || (kind == H5T_INTEGER && H5Tget_sign(source.type) == H5T_SGN_2)) &&
            (size == 4 || size == 8),
        "hdf5: {}: wanted f32, f64, i32 or i64 in '{}'", name_, path);
  const Dtype dtype =
      kind == H5T_FLOAT ? (size == 4 ? Dtype::f32 : Dtype::f64) : (size == 4 ? Dtype::i32 : Dtype::i64);
  Tensor values(Shape(source.extents), dtype);
  if (values.numel() == 0) return values;
  dispatch_any(dtype, [&]<class T>() {
    must(H5Dread(source.dataset, memory_type(dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.write<T>()), name_,
         fmt::format("read dataset '{}'", path));
  });
  return values;
}

std::vector<std::string> Hdf5File::read_strings(const std::string& path) const {
  const Source source = open_source(id_, name_, path);
  check_fixed_text(source.type, name_, fmt::format("'{}'", path));
  const size_t length = H5Tget_size(source.type), count = static_cast<size_t>(source.numel);
  std::string padded(count * length, '\0');
  if (count > 0)
    must(H5Dread(source.dataset, source.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()), name_,
         fmt::format("read dataset '{}'", path));
  std::vector<std::string> result;
  for (size_t i = 0; i < count; ++i) result.push_back(unpadded(&padded[i * length], length));
  return result;
}

template void Hdf5File::write(const std::string&, std::span<const float>);
template void Hdf5File::write(const std::string&, std::span<const double>);
template void Hdf5File::write(const std::string&, std::span<const int32_t>);
template void Hdf5File::write(const std::string&, std::span<const int64_t>);
template void Hdf5File::extend(const std::string&, std::span<const uint16_t>, int64_t);
template void Hdf5File::extend(const std::string&, std::span<const int32_t>, int64_t);
template void Hdf5File::append(const std::string&, std::span<const float>);
template void Hdf5File::append(const std::string&, std::span<const double>);
template void Hdf5File::append(const std::string&, std::span<const int32_t>);
template void Hdf5File::append(const std::string&, std::span<const int64_t>);

}  // namespace isobar
