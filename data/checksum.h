// Checksums, and a checksum header before a file's content, so that damage is found before the content is
// used.
//
//   write_file_atomically(path, add_checksum_header("checkpoint", file.image()));
//   const std::string_view image = without_checksum_header("checkpoint", bytes, path);
//
// The header is 512 bytes of text, padded with NUL: "isobar checkpoint\nxxh3-64 <16 hex digits>\nbytes
// <N>\n", the checksum and length of the content. Before an HDF5 file it is the user block that HDF5 skips
// (HDF5 File Format Specification 3.0, section II.A), so h5py and h5dump open such a file directly. The
// checksum, XXH3 (Collet, xxhash 0.8), finds accidental damage, not forgery: readers still check the content.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace isobar {

constexpr size_t checksum_header_bytes = 512;

// XXH3 of 64 bits, as 16 hex digits.
std::string checksum(std::string_view bytes);

// The header for content of this `kind` ("checkpoint"), then the content.
std::string add_checksum_header(std::string_view kind, std::string content);

// The content after such a header, as a view of `bytes`. Throws Error that starts with `name` if the bytes
// are of another kind, truncated, or changed.
std::string_view without_checksum_header(std::string_view kind, std::string_view bytes,
                                         const std::string& name);

}  // namespace isobar
