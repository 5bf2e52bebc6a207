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

// The whole file. Throws Error when it cannot be read or is longer than `limit` bytes.
std::string read_file(const std::string& path, size_t limit);

}  // namespace isobar
