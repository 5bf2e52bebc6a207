// The writer of LiveHdf5File.
#include <hdf5.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "file.h"
#include "hdf5/handle.h"
#include "hdf5_file.h"

namespace isobar {

using namespace hdf5;

namespace {

Rows rows_of(const LiveHdf5File::Series& series) { return {series.path, series.length, Dtype::f64}; }

struct GrowingDataset {
  Rows rows;
  Handle dataset;
  size_t there = 0;  // rows in the file
  std::vector<double> pending = {};
};

// HDF5 keeps one chunk of it in memory: the default is 1 MiB for each dataset.
GrowingDataset open_dataset(hid_t file, const Rows& rows, const std::string& name) {
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, name, "make access properties");
  must(H5Pset_chunk_cache(access, 1, rows.chunk_bytes(), 1), name, "set access properties");
  return {rows, Handle(H5Dopen2(file, rows.path.c_str(), access), H5Dclose, name,
                       fmt::format("open dataset '{}'", rows.path))};
}

// Writes the pending rows after the rows in the file.
void write_pending(GrowingDataset& series, const std::string& file) {
  if (series.pending.empty()) return;
  const size_t count = series.pending.size() / series.rows.length;
  series.rows.append(series.dataset, file, series.there, count, series.pending.data());
  series.there += count;
  series.pending.clear();
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

// Copies everything in `source` but these series to the empty file `target`.
void copy_all(hid_t source, hid_t target, const std::vector<LiveHdf5File::Series>& but,
              const std::string& name) {
  using Objects = std::vector<std::pair<std::string, H5O_type_t>>;  // a group before its members
  const auto take = [](hid_t, const char* path, const H5O_info_t* info, void* list) -> herr_t {
    static_cast<Objects*>(list)->emplace_back(path, info->type);
    return 0;
  };
  Objects objects;
  must(H5Ovisit2(source, H5_INDEX_NAME, H5_ITER_INC, take, &objects, H5O_INFO_BASIC), name,
       "list its objects");
  for (const auto& [path, type] : objects) {
    if (std::ranges::find(but, "/" + path, &LiveHdf5File::Series::path) != but.end()) continue;
    const std::string what = fmt::format("copy '{}'", path);
    const Handle old(H5Oopen(source, path.c_str(), H5P_DEFAULT), H5Oclose, name, what);
    if (type == H5O_TYPE_DATASET) {
      must(H5Ocopy(source, path.c_str(), target, path.c_str(), H5P_DEFAULT, H5P_DEFAULT), name, what);
    } else {
      const hid_t copy = path == "."
                             ? H5Oopen(target, "/", H5P_DEFAULT)
                             : H5Gcreate2(target, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      copy_attributes(old, Handle(copy, H5Oclose, name, what), name);
    }
  }
}

// SWMR needs this format.
void set_format(hid_t access, const std::string& name) {
  must(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110), name, "set access properties");
}

// H5Fget_file_image() clears the flag "open for writing" in the superblock, and leaves the checksum with the
// flag. This brings the checksum of a superblock of version 3 (HDF5 File Format Specification, II.A) to its
// 44 bytes: lookup3, Jenkins 2006.
void mend_superblock(std::string& bytes) {
  constexpr size_t words = 11;
  uint32_t word[words + 1] = {};
  std::memcpy(word, bytes.data(), 4 * words);
  uint32_t a = 0xdeadbeef + 4 * words, b = a, c = a;
  const auto mix = [](uint32_t& x, uint32_t& y, uint32_t& z, int by) {
    x = (x - z) ^ std::rotl(z, by);
    z += y;
  };
  for (size_t i = 0; i + 3 <= words; i += 3) {
    a += word[i], b += word[i + 1], c += word[i + 2];
    mix(a, b, c, 4), mix(b, c, a, 6), mix(c, a, b, 8), mix(a, b, c, 16), mix(b, c, a, 19), mix(c, a, b, 4);
  }
  a += word[9], b += word[10];
  const auto finish = [](uint32_t& x, uint32_t y, int by) { x = (x ^ y) - std::rotl(y, by); };
  finish(c, b, 14), finish(a, c, 11), finish(b, a, 25), finish(c, b, 16), finish(a, c, 4), finish(b, a, 14),
      finish(c, b, 24);
  std::memcpy(&bytes[4 * words], &c, sizeof c);
}

// The bytes of a copy of `source` with these series.
std::string copy_with(hid_t source, const std::vector<LiveHdf5File::Series>& series,
                      const std::string& name) {
  const Handle access = in_memory_access(name);
  set_format(access, name);
  const Handle file(H5Fcreate(unique_name(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, name,
                    "create the file");
  copy_all(source, file, series, name);
  for (const LiveHdf5File::Series& one : series) rows_of(one).make(file, name);
  std::string bytes = file_image(file, name);
  mend_superblock(bytes);
  return bytes;
}

}  // namespace

struct LiveHdf5File::Parts {
  std::string path;
  Handle file;
  std::map<std::string, GrowingDataset> series = {};

  // Does it; where HDF5 fails, none of its handles is touched any more.
  template <class Call>
  void touch(const Call& call) {
    try {
      call();
    } catch (const Error&) {
      for (auto& [name, one] : series) one.dataset.abandon();
      file.abandon();
      throw;
    }
  }
};

LiveHdf5File::LiveHdf5File(const std::string& path, const Hdf5File& file, const std::vector<Series>& series) {
  const std::string bytes = copy_with(file.id_, series, path);
  OutputFile copy(path);
  copy.append(bytes);
  const std::string temporary = copy.finish();
  reserve_file(temporary, bytes.size() + spare_room);
  const Handle access = file_access(path);
  set_format(access, path);
  parts_ = std::make_unique<Parts>(
      Parts{path, Handle(H5Fopen(temporary.c_str(), H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access), H5Fclose,
                         path, "open the file for readers")});
  parts_->touch([&] {
    for (const Series& one : series)
      parts_->series.emplace(one.path, open_dataset(parts_->file, rows_of(one), path));
  });
  copy.save();
}

// It reports no error; call flush() to get it. Readers keep what was flushed before.
LiveHdf5File::~LiveHdf5File() {
  try {
    flush();
  } catch (const Error&) {
  }
  if (parts_->file < 0) return;
  try {
    const size_t size = file_size(parts_->file, parts_->path);
    parts_->touch([&] {
      for (auto& [name, series] : parts_->series)
        if (!series.dataset.shut()) fail(parts_->path, "close it");
      if (!parts_->file.shut()) fail(parts_->path, "close it");
    });
    finish_file(parts_->path, size);
  } catch (const Error&) {
  }
}

bool LiveHdf5File::has_series(const std::string& path) const { return parts_->series.contains(path); }

void LiveHdf5File::append(const std::string& path, std::span<const double> row) {
  const auto found = parts_->series.find(path);
  check(found != parts_->series.end(), "hdf5: {}: there is no series '{}'", parts_->path, path);
  GrowingDataset& series = found->second;
  check(row.size() % series.rows.length == 0, "hdf5: {}: append to '{}': wanted rows of {} values, got {}",
        parts_->path, path, series.rows.length, row.size());
  series.pending.insert(series.pending.end(), row.begin(), row.end());
}

void LiveHdf5File::flush() {
  check(parts_->file >= 0, "hdf5: {}: given up after a write that failed", parts_->path);
  size_t bytes = 0;
  for (const auto& [path, series] : parts_->series)
    if (!series.pending.empty())
      bytes += series.pending.size() * sizeof(double) + 2 * series.rows.chunk_bytes();
  if (bytes == 0) return;
  reserve_file(parts_->path, file_size(parts_->file, parts_->path) + bytes + spare_room);
  parts_->touch([&] {
    for (auto& [path, series] : parts_->series) write_pending(series, parts_->path);
    must(H5Fflush(parts_->file, H5F_SCOPE_LOCAL), parts_->path, "show it to readers");
  });
}

}  // namespace isobar
