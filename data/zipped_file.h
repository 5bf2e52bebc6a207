// A file that may be compressed by gzip, read from its beginning to its end by zlib.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

struct gzFile_s;

namespace isobar {

class ZippedFile {
 public:
  ZippedFile() = default;
  // Not opened where the file cannot be; errno says why.
  explicit ZippedFile(const std::string& path);

  bool opened() const { return file_ != nullptr || ended_; }
  // Whether the file is none of gzip's, and is read as it is. Asked before the first read().
  bool is_plain() const;
  // Reads up to `wanted` < 2^31 bytes; fewer only at the end of the file. Throws Error, "{reader}: cannot read
  // {path}: why", where the stream is damaged or cut.
  size_t read(void* bytes, size_t wanted, const char* reader);

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  std::string path_;
  bool ended_ = false;
  std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace isobar
