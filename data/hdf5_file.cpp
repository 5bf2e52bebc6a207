#include "hdf5_file.h"

#include <hdf5.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "file.h"
#include "hdf5/handle.h"

namespace isobar {

using namespace hdf5;

Hdf5File Hdf5File::create(const std::string& name) {
  const Handle access = in_memory_access(name);
  const hid_t id = H5Fcreate(unique_name(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (id < 0) fail(name, "create the file");
  return {id, name};
}

Hdf5File Hdf5File::create_on_disk(const std::string& path) {
  Hdf5File file(-1, path);
  file.temporary_ = temporary_name(path);
  reserve_file(file.temporary_, spare_room);  // throws on a full disk, before HDF5 opens the file
  const Handle access = file_access(path);
  // This format version has checksums for HDF5's own metadata: shapes, layouts, places of chunks.
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

Hdf5File Hdf5File::open_live(const std::string& path) {
  const Handle access = file_access(path);
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
  if (id < 0) return open(path);  // in another format, or gone
  Hdf5File file(id, path);
  // The writer allocates before it writes, so a shorter file is truncated. HDF5 does not check this in SWMR
  // mode.
  std::error_code unknown;
  check(file_size(id, path) <= std::filesystem::file_size(path, unknown) && !unknown,
        "hdf5: {}: cannot open the file: it is cut off", path);
  return file;
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

// Allocates disk space for `bytes` more and for what HDF5 adds to them.
void Hdf5File::take_room(size_t bytes) {
  if (temporary_.empty()) return;
  const size_t needed = file_size(id_, name_) + bytes + spare_room;
  if (needed <= room_) return;
  room_ = needed + 15 * spare_room;  // in large steps
  try {
    reserve_file(temporary_, room_);
  } catch (const Error&) {
    room_ = needed;  // the disk may be nearly full
    reserve_file(temporary_, room_);
  }
}

std::string Hdf5File::image() { return file_image(id_, name_); }

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

}  // namespace isobar
