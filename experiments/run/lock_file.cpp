#include "lock_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "../../core/error.h"

namespace isobar {

LockFile::LockFile(std::string path, IfMissing if_missing)
    : path_(std::move(path)),
      descriptor_(::open(path_.c_str(),
                         O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
                             (if_missing == IfMissing::make ? O_CREAT : 0),
                         0666)) {
  if (descriptor_ < 0 && errno == ENOENT && if_missing == IfMissing::leave) return;
  check(descriptor_ >= 0, "{}: cannot open it: {}; remove it, or choose another folder", path_,
        std::strerror(errno));
  struct stat status {};
  const bool regular = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1;
  if (!regular) ::close(descriptor_);
  check(regular, "{}: wanted a regular file that has no other name; remove it, or choose another folder",
        path_);
}

LockFile::~LockFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// "Open file description" locks: those of plain F_SETLK would end when any descriptor of the file is closed.
bool LockFile::set(int command, short type, uint64_t byte) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(byte & ((uint64_t{1} << 62) - 1));
  range.l_len = 1;
  for (;;) {
    if (::fcntl(descriptor_, command, &range) == 0) return true;
    if (errno == EAGAIN || errno == EACCES) return false;
    check(errno == EINTR,
          "{}: cannot lock it: {}; choose a folder on a file system that keeps locks, such as NFS 4", path_,
          std::strerror(errno));
  }
}

bool LockFile::try_lock(uint64_t byte) { return set(F_OFD_SETLK, F_WRLCK, byte); }
void LockFile::lock(uint64_t byte) { set(F_OFD_SETLKW, F_WRLCK, byte); }
void LockFile::unlock(uint64_t byte) { set(F_OFD_SETLK, F_UNLCK, byte); }

bool LockFile::is_there() const {
  struct stat open {
  }, named{};
  return ::fstat(descriptor_, &open) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

}  // namespace isobar
