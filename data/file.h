// Files: reading whole files, and atomic writes, which all results and checkpoints use. A file written here
// is either complete under its name or absent, also after a power failure.
//
//   write_file_atomically("runs/x/summary.json", text);
//
// All errors name the file and give the system's reason ("No space left on device"). Different threads may
// write different files.
//
// Every file that a program creates is created by create_file(). A folder of results is untrusted: any name
// in it may be a link to a file of the user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isobar {

// The origin of the path of an output. `program`: a program chose the name. A symbolic link with this name is
// replaced, and its target does not change. `user`: the user gave the path. A symbolic link stays, and its
// target is written, through a temporary file in the folder of the target. A file in /dev (/dev/stdout,
// /dev/null) or an open file in /proc is written to, and never replaced.
enum class PathFrom { program, user };

// Writes `bytes` to a temporary file in the same folder, syncs it to the disk, renames it to `path`
// (replacing an existing file) and syncs the folder. Throws Error if this fails, and if `path` is a folder, a
// FIFO or a device; then the temporary file is removed and `path` does not change.
void write_file_atomically(const std::string& path, std::string_view bytes,
                           PathFrom from = PathFrom::program);

// The content of a file, for write_files_atomically().
struct NamedBytes {
  std::string path;
  std::string_view bytes;
  PathFrom from = PathFrom::program;
};
// Writes several files that belong together. No file appears under its name before all bytes are on the disk;
// then they appear in this order. An earlier version of the last file is removed first, so that it is never
// found beside new files.
void write_files_atomically(const std::vector<NamedBytes>& files);

// Renames a file within a file system, replacing the file or symbolic link `to`, and syncs the folder of
// `to`: the last step of write_file_atomically().
void rename_file(const std::string& from, const std::string& to);

// Creates a file and opens it to read and write: the one function that creates files. Returns the descriptor,
// or -1 with errno, EEXIST where anything has this name, a symbolic link included.
int create_file(const std::string& path, unsigned mode = 0666);

// Opens a file that a program wrote in a folder, to append to it. Throws Error unless it is a regular file
// that has no other name: appending to a link would write to a file elsewhere. Returns the descriptor.
int open_to_append(const std::string& path);
// Appends all bytes. Throws Error, which names `path`, and appends none if they cannot be written.
void append_to(int descriptor, std::string_view bytes, const std::string& path);

// Throws Error if this is a symbolic link. For a folder that a program makes in a folder of results.
void refuse_link(const std::string& path);

// Whether PathFrom::user writes to what is there, in /dev or /proc, rather than replacing it.
bool is_written_in_place(const std::string& path);

// Makes a folder in an existing folder, unless it exists, and syncs the existing folder. A symbolic link is
// refused.
void make_folder_durably(const std::string& path);

// Returns the names in a folder, sorted, or none if there is no folder. Throws Error if it cannot be read.
// (The directory_iterator of libstdc++ ends the process if it gets no memory.)
std::vector<std::string> names_in(const std::string& folder);

// The name that a temporary file of this name would get in the end; none where temporary_name() makes no such
// name.
std::optional<std::string> final_name_of(const std::string& name);
// Whose files are meant where several machines share a folder.
enum class Machines { this_one, all };
// Removes the temporary files that killed processes of this machine, or of all, left in a folder, of the final names
// that are the caller's: others may be files of the user's. With `all` a file of a user's that is named like a
// temporary goes, too. No process of these machines may be writing there.
void remove_temporaries(const std::string& folder,
                        const std::function<bool(const std::string& final_name)>& is_own,
                        Machines machines = Machines::this_one);

// A file open for reading. Threads may share it.
class InputFile {
 public:
  // Throws Error unless this is a regular file that can be read.
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  // In bytes, when it was opened.
  uint64_t size() const { return size_; }
  // Whether both are one file, whatever its name: while it is open, no other gets its number.
  bool is(const InputFile& other) const { return identity_ == other.identity_; }
  // Its bytes from `offset` on. Throws Error where it ends before.
  void read(uint64_t offset, void* bytes, size_t count) const;

 private:
  std::string path_;
  int descriptor_;
  uint64_t size_ = 0;
  std::pair<uint64_t, uint64_t> identity_;  // of the file system, and of the file in it
};

// A file that is written in pieces, under a temporary name beside `path`; save() renames it. Errors name
// `path`.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path, PathFrom from = PathFrom::program);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  // Without save() the temporary file is removed, unless the process is killed.
  ~OutputFile();

  void append(std::string_view bytes);
  // Replaces bytes that were appended.
  void replace(uint64_t offset, std::string_view bytes);
  // All bytes are on the disk. Returns the temporary name, for whoever reads them again.
  const std::string& finish();
  // After finish().
  void save();

 private:
  void write(uint64_t offset, std::string_view bytes);

  std::string path_, target_, temporary_;
  bool in_place_;  // save() writes the bytes to the target
  int descriptor_;
  uint64_t size_ = 0;
};

// A new temporary file in the folder of `path`, open to read and write. Throws Error if it cannot be created.
struct TemporaryFile {
  std::string path;
  int descriptor;
};
// Creates a temporary file beside `path`, with the name temporary_name(path). Throws Error if it cannot.
TemporaryFile create_temporary(const std::string& path, unsigned mode = 0666);

// The name of such a file: different in every call and on every machine. Removes those for this path whose
// processes, on this machine, have ended.
std::string temporary_name(const std::string& path);
// Makes a file that is there at least `bytes` long and allocates them on the disk, so that writes within
// them cannot fail on a full disk. Throws Error if the disk is full.
void reserve_file(const std::string& path, size_t bytes);
// Truncates the file to `bytes` and syncs it to the disk.
void finish_file(const std::string& path, size_t bytes);

// Returns the whole file. Throws Error if it cannot be read or is longer than `limit` bytes.
std::string read_file(const std::string& path, size_t limit);
// Returns the whole file, which a program wrote in a folder. Throws Error also if it is not a regular file:
// read_file() would wait for a FIFO.
std::string read_regular_file(const std::string& path, size_t limit);

// Checksums: XXH3 of 64 bits (Collet, xxhash 0.8), as 16 hex digits. They find accidental damage, not
// forgery.
std::string checksum(std::string_view bytes);
// Returns the checksum of the concatenated results of next(), which is called until it returns an empty one.
std::string checksum(const std::function<std::string_view()>& next);

}  // namespace isobar
