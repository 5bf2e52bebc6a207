#include "handle.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <vector>

#include "../../core/error.h"

namespace isobar::hdf5 {
namespace {

static_assert(std::is_same_v<hid_t, int64_t> && std::is_same_v<herr_t, int> &&
              sizeof(hsize_t) == sizeof(uint64_t));
static_assert(std::endian::native == std::endian::little, "files are little-endian");

// Stops HDF5 from printing errors, from loading plugins from folders named in the environment, and from
// closing what is open when the process ends: all is closed then, but for files that could not be written,
// where it would crash.
void set_up_library() {
  [[maybe_unused]] static const bool done = [] {
    H5dont_atexit();
    check(H5open() >= 0, "hdf5: the library cannot start; is there too little memory?");
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLset_loading_state(0);
    return true;
  }();
}

// The innermost reason on HDF5's error stack; for a failed system call, the system's error text.
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

}  // namespace

void fail(const std::string& file, std::string_view what) {
  throw_error(fmt::format("hdf5: {}: cannot {}: {}", file, what, last_reason()));
}

void must(herr_t result, const std::string& file, std::string_view what) {
  if (result < 0) fail(file, what);
}

hid_t type_of(Dtype dtype) {
  check(is_float(dtype) || is_integer(dtype),
        "hdf5: masks (bool) are not stored; convert with cast(mask, Dtype::i32)");
  return std::array{H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, H5T_NATIVE_INT32,
                    H5T_NATIVE_INT64}[static_cast<size_t>(dtype)];
}

Handle file_access(const std::string& name) {
  set_up_library();
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, name, "make access properties");
  must(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), name, "set access properties");
  // HDF5 2 would write files that HDF5 1.6 cannot read; all others have this default.
  must(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST), name, "set access properties");
  return access;
}

Handle in_memory_access(const std::string& name) {
  Handle access = file_access(name);
  must(H5Pset_fapl_core(access, size_t{1} << 20, 0), name, "set access properties");
  return access;
}

std::string unique_name(const std::string& name) {
  static std::atomic<unsigned> count = 0;
  return fmt::format("{}#{}", name, count++);
}

Handle link_creation(const std::string& file) {
  Handle properties(H5Pcreate(H5P_LINK_CREATE), H5Pclose, file, "make link properties");
  must(H5Pset_create_intermediate_group(properties, 1), file, "set link properties");
  return properties;
}

Handle make_dataset(hid_t id, const std::string& file, const std::string& path, hid_t type,
                    std::span<const uint64_t> extents, const uint64_t* most, const uint64_t* chunk) {
  const int ndim = static_cast<int>(extents.size());
  // unsigned long long until HDF5 1.12, which uint64_t is not
  const auto numbers = [ndim](const uint64_t* from) {
    return from == nullptr ? std::vector<hsize_t>() : std::vector<hsize_t>(from, from + ndim);
  };
  const std::vector<hsize_t> now = numbers(extents.data()), later = numbers(most), block = numbers(chunk);
  const Handle space(H5Screate_simple(ndim, now.data(), most != nullptr ? later.data() : nullptr), H5Sclose,
                     file, "make a shape");
  const Handle links = link_creation(file);
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, file, "make dataset properties");
  must(H5Pset_obj_track_times(properties, false), file, "set dataset properties");
  if (chunk != nullptr) must(H5Pset_chunk(properties, ndim, block.data()), file, "set chunks");
  return Handle(H5Dcreate2(id, path.c_str(), type, space, links, properties, H5P_DEFAULT), H5Dclose, file,
                fmt::format("create dataset '{}'", path));
}

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

size_t Rows::chunk_rows() const { return std::clamp<size_t>(8192 / (length * size_of(dtype)), 1, 1024); }

void Rows::make(hid_t id, const std::string& file) const {
  const uint64_t none[2] = {0, length}, most[2] = {H5S_UNLIMITED, length}, chunk[2] = {chunk_rows(), length};
  make_dataset(id, file, path, type_of(dtype), std::span(none).first(ndim()), most, chunk);
}

void Rows::append(hid_t dataset, const std::string& file, size_t there, size_t count,
                  const void* values) const {
  const hsize_t begin[2] = {there, 0}, added[2] = {count, length}, all[2] = {there + count, length};
  const std::string what = fmt::format("append to '{}'", path);
  must(H5Dset_extent(dataset, all), file, what);
  const Handle space(H5Dget_space(dataset), H5Sclose, file, what);
  const Handle block(H5Screate_simple(ndim(), added, nullptr), H5Sclose, file, what);
  must(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, added, nullptr), file, what);
  must(H5Dwrite(dataset, type_of(dtype), block, space, H5P_DEFAULT, values), file, what);
}

uint64_t file_size(hid_t id, const std::string& file) {
  hsize_t size = 0;
  must(H5Fget_filesize(id, &size), file, "find its size");
  return size;
}

std::string file_image(hid_t id, const std::string& file) {
  must(H5Fflush(id, H5F_SCOPE_LOCAL), file, "bring the file up to date");
  const ssize_t size = H5Fget_file_image(id, nullptr, 0);
  if (size < 0) fail(file, "find the size of its image");
  std::string bytes(static_cast<size_t>(size), '\0');
  if (H5Fget_file_image(id, bytes.data(), bytes.size()) < 0) fail(file, "copy its image");
  return bytes;
}

}  // namespace isobar::hdf5
