// The reading functions of Hdf5File. They check everything that the file declares.
#include <hdf5.h>

#include "../../core/raw.h"
#include "../hdf5_file.h"
#include "handle.h"

namespace isobar {

using namespace hdf5;

namespace {

struct Attribute {
  Handle id, type, space;
};

Attribute open_attribute(hid_t id, const std::string& file, const std::string& object,
                         const std::string& name) {
  const Handle holder = open_object(id, file, object);
  check(H5Aexists(holder, name.c_str()) > 0, "hdf5: {}: '{}' has no attribute '{}'", file, object, name);
  Handle attribute(H5Aopen(holder, name.c_str(), H5P_DEFAULT), H5Aclose, file,
                   fmt::format("open attribute '{}' of '{}'", name, object));
  Handle type(H5Aget_type(attribute), H5Tclose, file, "read a type");
  Handle space(H5Aget_space(attribute), H5Sclose, file, "read a shape");
  return {std::move(attribute), std::move(type), std::move(space)};
}

// A dataset that may be read: with extents, elements stored in this file without filters, and no larger than
// the file.
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
  const uint64_t bytes = checked_bytes(declared, element, limit, file, path);
  // HDF5 reads as many bytes as the shape says, also where a layout without chunks holds fewer.
  check(H5Pget_layout(layout) == H5D_CHUNKED || bytes == H5Dget_storage_size(dataset) || bytes == 0,
        "hdf5: {}: '{}' declares {} bytes, but holds {}", file, path, bytes, H5Dget_storage_size(dataset));
  if (H5Pget_layout(layout) == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(declared.size());
    must(H5Pget_chunk(layout, ndim, chunk.data()), file, fmt::format("read the layout of '{}'", path));
    checked_bytes(chunk, element, limit, file, path);
  }
  int64_t numel = 1;
  for (const hsize_t extent : declared) numel *= static_cast<int64_t>(extent);
  return {std::move(dataset), std::move(type), {declared.begin(), declared.end()}, numel};
}

// A single number.
template <class T>
T number_attribute(hid_t id, const std::string& file, const std::string& object, const std::string& name) {
  const bool real = std::is_same_v<T, double>;
  const Attribute attribute = open_attribute(id, file, object, name);
  check(H5Tget_class(attribute.type) == (real ? H5T_FLOAT : H5T_INTEGER) &&
            H5Sget_simple_extent_npoints(attribute.space) == 1,
        "hdf5: {}: wanted a single {} in attribute '{}' of '{}'", file, real ? "float" : "integer", name,
        object);
  T value{};
  must(H5Aread(attribute.id, type_of(dtype_of<T>()), &value), file,
       fmt::format("read attribute '{}' of '{}'", name, object));
  return value;
}

// A text without its padding.
std::string unpadded(const char* text, size_t length) {
  while (length > 0 && text[length - 1] == '\0') --length;
  return {text, length};
}

void check_fixed_text(hid_t type, const std::string& file, const std::string& what) {
  check(H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0,
        "hdf5: {}: wanted text of fixed length in {}", file, what);
}

}  // namespace

std::string Hdf5File::text_attribute(const std::string& object, const std::string& name) const {
  const auto [attribute, type, space] = open_attribute(id_, name_, object, name);
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
  return number_attribute<int64_t>(id_, name_, object, name);
}

double Hdf5File::double_attribute(const std::string& object, const std::string& name) const {
  return number_attribute<double>(id_, name_, object, name);
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
    must(H5Dread(source.dataset, type_of(dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT, raw::write<T>(values)), name_,
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

}  // namespace isobar
