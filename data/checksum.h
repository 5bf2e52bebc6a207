// Checksums, and a checksum header in front of a file's bytes: damage is found before anything in them is used.
//
//   write_file_atomically(path, add_checksum_header("checkpoint", file.image()));
//   const std::string_view image = without_checksum_header("checkpoint", bytes, path);
//
// The header is 512 bytes of text, padded with NUL: "isobar checkpoint\nxxh3-64 <16 hex digits>\nbytes
// <N>\n", the checksum and length of what follows. In front of an HDF5 file it is the user block that HDF5
// skips (HDF5 File Format Specification 3.0, section II.A), so that h5py and h5dump open such a file as it
// is. The checksum, XXH3 (Collet, xxhash 0.8), finds accidents, not forgeries: readers go on to distrust the
// content.
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

// The content of bytes that begin with such a header, as a view of them. Throws Error that begins with `name`
// where they are of another kind, cut short, or changed anywhere.
std::string_view without_checksum_header(std::string_view kind, std::string_view bytes,
                                         const std::string& name);

}  // namespace isobar
