#include "checked_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "../core/error.h"
#include "utf8_stream.h"

namespace isobar {
namespace {

// Where the digits of the two checksums are: after the header's length and these bytes, and after the first
// digits and those.
constexpr std::string_view beginning = "{\"__metadata__\":{\"XXH3\":\"", between = "\",\"XXH3_of_data\":\"";
constexpr size_t checksum_size = 16, digits_at = 8 + beginning.size(),
                 data_digits_at = digits_at + checksum_size + between.size();

std::string first_bytes(const InputFile& file) {
  std::string bytes(std::min<uint64_t>(file.size(), data_digits_at), '\0');
  file.read(0, bytes.data(), bytes.size());
  return bytes;
}

bool begins_as_checked(std::string_view bytes) {
  return bytes.size() >= data_digits_at && bytes.substr(8).starts_with(beginning) &&
         bytes.substr(digits_at + checksum_size).starts_with(between);
}

bool is_hdf5(std::string_view bytes) {
  return bytes.starts_with("\x89HDF\r\n\x1a\n") || bytes.starts_with("isobar checkpoint\n") ||
         bytes.starts_with("isobar bad step\n");
}

void mark(std::map<std::string, std::string>& metadata, const FileKind& kind) {
  metadata["XXH3"] = metadata["XXH3_of_data"] = std::string(checksum_size, '0');
  metadata["isobar"] = kind.name;
  metadata["version"] = std::to_string(kind.version);
}

// The first `header` bytes are a header with zeros for both checksums.
void put_checksums(std::string& bytes, size_t header, const std::string& of_data) {
  check(begins_as_checked(bytes), "checked file: a key of the metadata sorts before XXH3_of_data");
  bytes.replace(data_digits_at, checksum_size, of_data);
  bytes.replace(digits_at, checksum_size, checksum(std::string_view(bytes).substr(0, header)));
}

void check_header(std::string bytes, const std::string& path) {
  const std::string wanted = bytes.substr(digits_at, checksum_size);
  check(wanted == checksum(bytes.replace(digits_at, checksum_size, checksum_size, '0')),
        "{}: is damaged: its checksum is not that of its header", path);
}

std::string checksum_of_data(const InputFile& file, uint64_t begin) {
  std::string piece;
  return checksum([&, at = begin]() mutable {
    piece.resize(std::min<uint64_t>(size_t{1} << 20, file.size() - at));
    file.read(at, piece.data(), piece.size());
    at += piece.size();
    return std::string_view(piece);
  });
}

}  // namespace

std::string checked_bytes(Safetensors file, const FileKind& kind) {
  mark(file.metadata, kind);
  std::string bytes = safetensors_bytes(file);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  const size_t begin = 8 + length;
  put_checksums(bytes, begin, checksum(std::string_view(bytes).substr(begin)));
  return bytes;
}

std::string checked_header(SafetensorsHeader header, const FileKind& kind, const std::string& data_checksum,
                           size_t room) {
  mark(header.metadata, kind);
  std::string bytes = header.bytes(room);
  put_checksums(bytes, bytes.size(), data_checksum);
  return bytes;
}

SafetensorsHeader read_checked_header(const InputFile& file, const FileKind& kind) {
  const std::string& path = file.path();
  const std::string begin = first_bytes(file);
  check(!is_hdf5(begin),
        "{}: is in HDF5, as isobar wrote it before version 0.3, and can no longer be read; {}", path,
        kind.repair);
  check(begins_as_checked(begin), "{}: is no isobar {}, or its first bytes are damaged", path, kind.name);
  const std::string bytes = SafetensorsHeader::bytes_of(file);
  check_header(bytes, path);
  SafetensorsHeader header =
      SafetensorsHeader::parse(std::string_view(bytes).substr(8), file.size() - bytes.size(), path);
  const auto text = [&](const std::string& key) { return one_line(header.metadata[key]); };
  check(text("isobar") == kind.name, "{}: is no isobar {}, but '{}'", path, kind.name, text("isobar"));
  const auto known = [&] {
    for (int64_t version = kind.oldest; version <= kind.version; ++version)
      if (text("version") == std::to_string(version)) return true;
    return false;
  };
  check(known(), "{}: wanted an isobar {} of version {}, got version {}; {}", path, kind.name, kind.version,
        text("version"), kind.repair);
  return header;
}

Safetensors read_checked(const std::string& path, const FileKind& kind) {
  const InputFile file(path);
  const SafetensorsHeader header = read_checked_header(file, kind);
  check(header.metadata.at("XXH3_of_data") == checksum_of_data(file, header.data_begin),
        "{}: is damaged: its checksum is not that of its content", path);
  return read_safetensors(file, header);
}

bool looks_checked(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;  // reading a pipe would consume it
  const std::string begin = first_bytes(InputFile(path));
  return is_hdf5(begin) || begins_as_checked(begin);
}

}  // namespace isobar
