#include "spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../../core/error.h"
#include "../../data/file.h"

namespace isobar {
namespace {

constexpr size_t block_bytes = 8192;

[[noreturn]] void fail(const char* what, const std::string& folder, int reason) {
  throw_error(
      fmt::format("file: cannot {} a temporary file in '{}': {}", what, folder, std::strerror(reason)));
}

int open_nameless(const std::string& folder) {
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  // Some file systems have no such files.
  const std::string path = temporary_name(folder + "/spool");
  descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) fail("create", folder, errno);
  ::unlink(path.c_str());
  return descriptor;
}

}  // namespace

SpoolFile::~SpoolFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int64_t SpoolFile::put(std::string_view bytes) {
  if (descriptor_ < 0) descriptor_ = open_nameless(folder_);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                                     static_cast<off_t>(size_) + static_cast<off_t>(done));
    if (written < 0 && errno != EINTR) fail("write", folder_, errno);
    if (written > 0) done += static_cast<size_t>(written);
  }
  return std::exchange(size_, size_ + static_cast<int64_t>(bytes.size()));
}

void SpoolFile::get(int64_t begin, char* bytes, size_t count) const {
  for (size_t done = 0; done < count;) {
    const ssize_t got = ::pread(descriptor_, bytes + done, count - done,
                                static_cast<off_t>(begin) + static_cast<off_t>(done));
    if (got == 0 || (got < 0 && errno != EINTR)) fail("read", folder_, got == 0 ? EIO : errno);
    if (got > 0) done += static_cast<size_t>(got);
  }
}

void Spool::append(std::string_view bytes) {
  newest_ += bytes;
  if (newest_.size() < block_bytes || file_->none()) return;
  blocks_.push_back({in_file_, file_->put(newest_)});
  in_file_ += newest_.size();
  newest_.clear();
}

std::string Spool::bytes(size_t begin) const {
  std::string all(size() - begin, '\0');
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const size_t first = std::max(begin, blocks_[i].first),
                 end = i + 1 < blocks_.size() ? blocks_[i + 1].first : in_file_;
    if (first < end)
      file_->get(blocks_[i].place + static_cast<int64_t>(first - blocks_[i].first), &all[first - begin],
                 end - first);
  }
  const size_t first = std::max(begin, in_file_);
  newest_.copy(all.data() + (first - begin), newest_.size(), first - in_file_);
  return all;
}

}  // namespace isobar
