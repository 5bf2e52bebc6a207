// Files: reading whole ones, and the one door through which results and checkpoints are written. A file
// written here is either complete under its name or not there at all, also after a power cut.
//
//   write_file_atomically("runs/x/summary.json", text);
//
// All errors name the file and give the system's reason ("No space left on device"). Different threads may
// write different files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace isobar {

// Writes `bytes` to a temporary file in the same folder, syncs it to the disk, renames it to `path`
// (replacing what was there) and syncs the folder. On failure the temporary is removed, `path` is as before,
// and Error is thrown.
void write_file_atomically(const std::string& path, std::string_view bytes);

// The steps it is made of. Writes and syncs a file; on failure removes it and throws Error.
void write_file_durably(const std::string& path, std::string_view bytes);
// Renames within one file system, replacing `to`, and syncs the folder of `to`.
void rename_file(const std::string& from, const std::string& to);

// Makes a folder in an existing one, unless it is there already, and syncs the one that holds it.
void make_folder_durably(const std::string& path);

// Removes what write_file_atomically() leaves in a folder when its process is killed. Nobody may be writing
// there meanwhile.
void remove_temporaries(const std::string& folder);

// For files that another library writes. A name for a temporary file beside `path`, each time another one.
std::string temporary_name(const std::string& path);
// Makes the file at least `bytes` long and takes the room for them from the disk, so that writing within them
// cannot fail for want of it. Throws Error where there is no room.
void reserve_file(const std::string& path, size_t bytes);
// Cuts the file to `bytes` and syncs it to the disk.
void finish_file(const std::string& path, size_t bytes);

// The whole file. Throws Error when it cannot be read or is longer than `limit` bytes.
std::string read_file(const std::string& path, size_t limit);

}  // namespace isobar
