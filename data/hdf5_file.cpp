#include "hdf5_file.h"

#include <hdf5.h>

#include <algorithm>

#include "../core/raw.h"
#include "file.h"
#include "hdf5/handle.h"

namespace isobar {

using namespace hdf5;

namespace {

// UTF-8 of fixed length, padded with NUL. Strings of variable length would need a heap whose lengths a
// hostile file can falsify.
Handle string_type(size_t length, const std::string& file) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, file, "make a string type");
  H5Tset_size(type, std::max<size_t>(length, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

// Makes a dataset and writes all its elements.
void write_dataset(hid_t id, const std::string& file, const std::string& path, hid_t type,
                   std::span<const uint64_t> extents, const void* values, bool empty) {
  check(!exists(id, file, path), "hdf5: {}: '{}' exists already", file, path);
  const Handle dataset = make_dataset(id, file, path, type, extents);
  if (empty) return;
  must(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), file,
       fmt::format("write dataset '{}'", path));
}

void write_attribute(hid_t id, const std::string& file, const std::string& object, const std::string& name,
                     hid_t type, const void* value) {
  const Handle holder = open_object(id, file, object);
  const std::string what = fmt::format("write attribute '{}' of '{}'", name, object);
  if (H5Aexists(holder, name.c_str()) > 0) must(H5Adelete(holder, name.c_str()), file, what);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, file, "make a shape");
  const Handle attribute(H5Acreate2(holder, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         file, what);
  must(H5Awrite(attribute, type, value), file, what);
}

}  // namespace

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

void Hdf5File::set_attribute(const std::string& object, const std::string& name, const std::string& value) {
  // An attribute is stored in its object's header, which is limited to 64 KiB.
  check(value.size() <= 60000,
        "hdf5: {}: wanted at most 60000 bytes in attribute '{}', got {}; write a dataset", name_, name,
        value.size());
  const Handle type = string_type(value.size(), name_);
  write_attribute(id_, name_, object, name, type, value.c_str());
}

void Hdf5File::set_attribute(const std::string& object, const std::string& name, int64_t value) {
  write_attribute(id_, name_, object, name, type_of(Dtype::i64), &value);
}

void Hdf5File::set_attribute(const std::string& object, const std::string& name, double value) {
  write_attribute(id_, name_, object, name, type_of(Dtype::f64), &value);
}

void Hdf5File::write(const std::string& path, const Tensor& values) {
  const Tensor packed = raw::contiguous(values);
  const std::vector<uint64_t> extents(packed.shape().begin(), packed.shape().end());
  dispatch_any(packed.dtype(), [&]<class T>() {
    write_dataset(id_, name_, path, type_of(packed.dtype()), extents, packed.data<T>(), packed.numel() == 0);
  });
}

void Hdf5File::write(const std::string& path, const std::vector<std::string>& values) {
  size_t length = 1;
  for (const std::string& value : values) length = std::max(length, value.size());
  std::string padded(values.size() * length, '\0');
  for (size_t i = 0; i < values.size(); ++i) values[i].copy(&padded[i * length], length);
  const Handle type = string_type(length, name_);
  const uint64_t extent = values.size();
  write_dataset(id_, name_, path, type, {&extent, 1}, padded.data(), values.empty());
}

template <class T>
void Hdf5File::append(const std::string& path, std::span<const T> rows, size_t length) {
  check(!rows.empty(), "hdf5: {}: append to '{}': wanted a row of at least one value", name_, path);
  check(rows.size() % length == 0, "hdf5: {}: append to '{}': wanted rows of {} values, got {} values", name_,
        path, length, rows.size());
  const Rows series{path, length, dtype_of<T>()};
  if (!exists(id_, name_, path)) series.make(id_, name_);
  const Handle dataset(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose, name_,
                       fmt::format("open dataset '{}'", path));
  const Handle space(H5Dget_space(dataset), H5Sclose, name_, fmt::format("read the shape of '{}'", path));
  check(H5Sget_simple_extent_ndims(space) == (length == 1 ? 1 : 2),
        "hdf5: {}: append to '{}': the dataset has rows of another length", name_, path);
  hsize_t extents[max_dims] = {};
  H5Sget_simple_extent_dims(space, extents, nullptr);
  check(length == 1 || extents[1] == length, "hdf5: {}: append to '{}': wanted a row of {} values, got {}",
        name_, path, extents[1], length);
  series.append(dataset, name_, extents[0], rows.size() / length, rows.data());
}

template void Hdf5File::append(const std::string&, std::span<const float>, size_t);
template void Hdf5File::append(const std::string&, std::span<const double>, size_t);
template void Hdf5File::append(const std::string&, std::span<const int32_t>, size_t);
template void Hdf5File::append(const std::string&, std::span<const int64_t>, size_t);

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
