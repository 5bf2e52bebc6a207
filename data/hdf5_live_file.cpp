#include "hdf5_live_file.h"

#include <hdf5.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "file.h"
#include "hdf5/handle.h"

namespace isobar {

using namespace hdf5;

namespace {

// A dataset that grows: (rows) or (rows, length), f64.
struct Series {
  Handle dataset;
  std::vector<hsize_t> extents;
  size_t chunk_bytes;
  std::vector<double> pending = {};

  size_t length() const { return extents.size() == 1 ? 1 : extents[1]; }
};

void write_rows(const Series& series, std::vector<hsize_t> begin, std::vector<hsize_t> count,
                const std::vector<double>& values, const std::string& file) {
  const int ndim = static_cast<int>(count.size());
  const Handle space(H5Dget_space(series.dataset), H5Sclose, file, "read the shape of a series");
  const Handle block(H5Screate_simple(ndim, count.data(), nullptr), H5Sclose, file, "make a shape");
  must(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr), file,
       "choose rows");
  must(H5Dwrite(series.dataset, H5T_NATIVE_DOUBLE, block, space, H5P_DEFAULT, values.data()), file,
       "append to a series");
}

// Writes the pending rows after the rows in the file.
void write_pending(Series& series, const std::string& file) {
  if (series.pending.empty()) return;
  std::vector<hsize_t> begin(series.extents.size(), 0), count = series.extents;
  begin[0] = series.extents[0];
  count[0] = series.pending.size() / series.length();
  series.extents[0] += count[0];
  must(H5Dset_extent(series.dataset, series.extents.data()), file, "append to a series");
  write_rows(series, begin, count, series.pending, file);
  series.pending.clear();
}

Series open_series(hid_t file, const std::string& path, const std::string& name) {
  Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose, name,
                 fmt::format("open dataset '{}'", path));
  const Handle space(H5Dget_space(dataset), H5Sclose, name, "read a shape");
  const Handle layout(H5Dget_create_plist(dataset), H5Pclose, name, "read a layout");
  std::vector<hsize_t> extents(static_cast<size_t>(H5Sget_simple_extent_ndims(space))), chunk = extents;
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  H5Pget_chunk(layout, static_cast<int>(chunk.size()), chunk.data());
  size_t bytes = sizeof(double);
  for (const hsize_t extent : chunk) bytes *= extent;
  return {std::move(dataset), std::move(extents), bytes};
}

// Whether a dataset was made by Hdf5File::append<double>().
bool is_series(hid_t dataset, const std::string& name) {
  const Handle type(H5Dget_type(dataset), H5Tclose, name, "read a type");
  const Handle layout(H5Dget_create_plist(dataset), H5Pclose, name, "read a layout");
  return H5Pget_layout(layout) == H5D_CHUNKED && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == 8;
}

// Copies a series with its rows to a dataset of the format that SWMR needs.
void copy_series(hid_t source, hid_t target, const std::string& path, const std::string& name) {
  Series old = open_series(source, path, name);
  const int ndim = static_cast<int>(old.extents.size());
  std::vector<double> rows(old.extents[0] * old.length());
  if (!rows.empty())
    must(H5Dread(old.dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()), name,
         fmt::format("read dataset '{}'", path));
  const Handle layout(H5Dget_create_plist(old.dataset), H5Pclose, name, "read a layout");
  std::vector<hsize_t> chunk(old.extents.size()), none = old.extents, most = old.extents;
  H5Pget_chunk(layout, ndim, chunk.data());
  none[0] = 0;
  most[0] = H5S_UNLIMITED;
  const Handle space(H5Screate_simple(ndim, none.data(), most.data()), H5Sclose, name, "make a shape");
  const Handle properties = dataset_creation(name);
  must(H5Pset_chunk(properties, ndim, chunk.data()), name, "set chunks");
  Series copy{
      Handle(H5Dcreate2(target, path.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT),
             H5Dclose, name, fmt::format("create dataset '{}'", path)),
      none, old.chunk_bytes, std::move(rows)};
  write_pending(copy, name);
}

void copy_attributes(hid_t source, hid_t target, const std::string& name) {
  const auto take = [](hid_t, const char* attribute, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(attribute);
    return 0;
  };
  std::vector<std::string> names;
  must(H5Aiterate2(source, H5_INDEX_NAME, H5_ITER_INC, nullptr, take, &names), name, "list attributes");
  for (const std::string& attribute : names) {
    const std::string what = fmt::format("copy attribute '{}'", attribute);
    const Handle old(H5Aopen(source, attribute.c_str(), H5P_DEFAULT), H5Aclose, name, what);
    const Handle type(H5Aget_type(old), H5Tclose, name, what), space(H5Aget_space(old), H5Sclose, name, what);
    std::string value(H5Tget_size(type) * static_cast<size_t>(H5Sget_simple_extent_npoints(space)), '\0');
    must(H5Aread(old, type, value.data()), name, what);
    const Handle copy(H5Acreate2(target, attribute.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                      name, what);
    must(H5Awrite(copy, type, value.data()), name, what);
  }
}

// Copies everything in `source` to the empty file `target`. Returns the paths of the series.
std::vector<std::string> copy_all(hid_t source, hid_t target, const std::string& name) {
  using Objects = std::vector<std::pair<std::string, H5O_type_t>>;  // a group before its members
  const auto take = [](hid_t, const char* path, const H5O_info_t* info, void* list) -> herr_t {
    static_cast<Objects*>(list)->emplace_back(path, info->type);
    return 0;
  };
  Objects objects;
  must(H5Ovisit2(source, H5_INDEX_NAME, H5_ITER_INC, take, &objects, H5O_INFO_BASIC), name,
       "list its objects");
  std::vector<std::string> series;
  for (const auto& [path, type] : objects) {
    const std::string what = fmt::format("copy '{}'", path);
    const Handle old(H5Oopen(source, path.c_str(), H5P_DEFAULT), H5Oclose, name, what);
    if (type == H5O_TYPE_DATASET && is_series(old, name)) {
      copy_series(source, target, path, name);
      series.push_back("/" + path);
    } else if (type == H5O_TYPE_DATASET) {
      must(H5Ocopy(source, path.c_str(), target, path.c_str(), H5P_DEFAULT, H5P_DEFAULT), name, what);
    } else if (path == ".") {
      const Handle root(H5Oopen(target, "/", H5P_DEFAULT), H5Oclose, name, what);
      copy_attributes(old, root, name);
    } else {
      const Handle copy(H5Gcreate2(target, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                        name, what);
      copy_attributes(old, copy, name);
    }
  }
  return series;
}

// A new file at `path` with `bytes` allocated on the disk. Errors name `name`.
Handle create_file(const std::string& path, size_t bytes, const std::string& name) {
  reserve_file(path, bytes);  // throws on a full disk, before HDF5 opens the file
  const Handle access = file_access(name);
  must(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110), name, "set access properties");
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, name, "create the file");
  reserve_file(path, bytes);  // H5Fcreate has truncated the file
  return file;
}

}  // namespace

struct LiveHdf5File::Parts {
  std::string path;
  Handle file;
  std::map<std::string, Series> series = {};
};

LiveHdf5File::LiveHdf5File(const std::string& path, const Hdf5File& file) {
  const std::string temporary = temporary_name(path);
  try {
    // The copy is in a newer format, which needs at most twice the space.
    const size_t bytes = 2 * file_size(file.id_, path) + spare_room;
    parts_ = std::make_unique<Parts>(Parts{path, create_file(temporary, bytes, path)});
    const std::vector<std::string> series = copy_all(file.id_, parts_->file, path);
    must(H5Fstart_swmr_write(parts_->file), path, "open the file for readers");
    for (const std::string& name : series)
      parts_->series.emplace(name, open_series(parts_->file, name, path));
    rename_file(temporary, path);
  } catch (...) {
    parts_.reset();
    std::remove(temporary.c_str());
    throw;
  }
}

LiveHdf5File::~LiveHdf5File() {
  try {
    flush();
    const std::string path = parts_->path;
    const size_t size = file_size(parts_->file, path);
    parts_.reset();
    finish_file(path, size);
  } catch (const Error&) {
    // A destructor reports no error; call flush() to get it. Readers keep what was flushed before.
  }
}

bool LiveHdf5File::has_series(const std::string& path) const { return parts_->series.contains(path); }

void LiveHdf5File::append(const std::string& path, std::span<const double> row) {
  const auto found = parts_->series.find(path);
  check(found != parts_->series.end(), "hdf5: {}: there is no series '{}'", parts_->path, path);
  Series& series = found->second;
  check(row.size() == series.length(), "hdf5: {}: append to '{}': wanted a row of {} values, got {}",
        parts_->path, path, series.length(), row.size());
  series.pending.insert(series.pending.end(), row.begin(), row.end());
}

void LiveHdf5File::flush() {
  size_t bytes = 0;
  for (const auto& [path, series] : parts_->series)
    if (!series.pending.empty()) bytes += series.pending.size() * sizeof(double) + 2 * series.chunk_bytes;
  if (bytes == 0) return;
  reserve_file(parts_->path, file_size(parts_->file, parts_->path) + bytes + spare_room);
  for (auto& [path, series] : parts_->series) write_pending(series, parts_->path);
  must(H5Fflush(parts_->file, H5F_SCOPE_LOCAL), parts_->path, "show it to readers");
}

}  // namespace isobar
