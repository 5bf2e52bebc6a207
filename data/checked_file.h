// Checked files: Isobar's own safetensors files (a checkpoint, a bad step, a token store). Their metadata
// says what they are, and has checksums, so that damage is found before the content is used.
//
//   write_file_atomically(path, checked_bytes({.tensors = …}, {"checkpoint", 3, "train again"}));
//   const Safetensors file = read_checked(path, {"checkpoint", 3, "train again"});
//
// The metadata begins with XXH3, the checksum of the header with its length, in which these 16 digits are
// zeros. Further keys are XXH3_of_data, isobar (the kind) and version. The checksums find accidental
// damage, not forgery: readers still check the content.
#pragma once

#include "safetensors.h"

namespace isobar {

// A format of checked files: its name and version.
struct FileKind {
  std::string name;
  int64_t version;
  std::string repair;        // what to do about a file of another version, "prepare it again"
  int64_t oldest = version;  // that is still read
};

// Returns the bytes of a checked file. Throws Error as safetensors_bytes() does.
std::string checked_bytes(Safetensors file, const FileKind& kind);
// Reads a checked file. Throws Error, which begins with the path, if there is no such file, or if it is of
// another kind or version, truncated, damaged, or has a dtype that is never written.
Safetensors read_checked(const std::string& path, const FileKind& kind);

// Returns the first bytes of a checked file whose data are too large for the memory: its header, padded to at
// least `room` bytes. `data_checksum` is what this kind of file stores as XXH3_of_data.
std::string checked_header(SafetensorsHeader header, const FileKind& kind, const std::string& data_checksum,
                           size_t room = 0);
// Reads the header of a checked file, and checks its entries against the size of the file. Throws Error as
// read_checked() does.
SafetensorsHeader read_checked_header(const InputFile& file, const FileKind& kind);

// Whether this is a file that begins as checked ones do, or as those in HDF5 that an isobar before 0.3
// wrote: reading it says which.
bool looks_checked(const std::string& path);

}  // namespace isobar
