#include "hdf5_file.h"

#include <hdf5.h>

#include <filesystem>

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

Hdf5File Hdf5File::open(const std::string& path) {
  const Handle access = file_access(path);
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  if (id < 0) fail(path, "open the file");
  return {id, path};
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
    : id_(std::exchange(other.id_, -1)), name_(std::move(other.name_)) {}

Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(name_, other.name_);
  return *this;
}

Hdf5File::~Hdf5File() {
  if (id_ >= 0) H5Fclose(id_);
}

std::string Hdf5File::image() { return file_image(id_, name_); }

void Hdf5File::save(const std::string& path) { write_file_atomically(path, image()); }

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

}  // namespace isobar
