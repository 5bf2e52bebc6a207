// LockFile: a file whose bytes are locks, each of which one process holds at a time.
//
//   LockFile locks("runs/x/.trainings.lock");
//   if (locks.try_lock(7)) { …; locks.unlock(7); }   // or the process ends, in whatever way: the lock is free then
//
// The locks are those of fcntl. The kernel frees them when the process ends, and a file system that several machines
// share keeps them for all of these (NFS 4 does). The threads of a process that use the same LockFile are one holder.
#pragma once

#include <cstdint>
#include <string>

namespace isobar {

enum class IfMissing { make, leave };

class LockFile {
 public:
  // Opens the file. Where there is none it is made, or is_there() is false. Throws Error where it cannot be made, and
  // unless it is a regular file: not a link, which may lead elsewhere.
  explicit LockFile(std::string path, IfMissing if_missing = IfMissing::make);
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

  // Returns whether this process holds the lock now. Throws Error where the file system keeps no locks.
  bool try_lock(uint64_t byte);
  // Waits for the lock.
  void lock(uint64_t byte);
  void unlock(uint64_t byte);

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  // Whether the path names this file: another process may have removed or replaced it.
  bool is_there() const;

 private:
  bool set(int command, short type, uint64_t byte);

  std::string path_;
  int descriptor_;
};

}  // namespace isobar
