// Spool: bytes that only grow, as a run's series and tables do: the newest 8 KiB are in memory, the rest in a
// temporary file. One thread at a time.
//
//   const auto file = std::make_shared<SpoolFile>("runs/x");
//   Spool losses(file);
//   losses.append("1,2.5\n");
//   losses.bytes();   // all of them
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace isobar {

// The file of several spools. It has no name, so that nothing is left of it where the process is killed, and
// is made when it is needed. Throws Error on a full disk.
class SpoolFile {
 public:
  // In this folder. With an empty name there is none, and all bytes stay in memory.
  explicit SpoolFile(std::string folder) : folder_(std::move(folder)) {}
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;
  ~SpoolFile();

  bool none() const { return folder_.empty(); }
  // Returns where the bytes begin.
  int64_t put(std::string_view bytes);
  void get(int64_t begin, char* bytes, size_t count) const;

 private:
  std::string folder_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

class Spool {
 public:
  explicit Spool(std::shared_ptr<SpoolFile> file) : file_(std::move(file)) {}

  void append(std::string_view bytes);
  size_t size() const { return in_file_ + newest_.size(); }
  // From `begin` to the end.
  std::string bytes(size_t begin = 0) const;

 private:
  struct Block {
    size_t first;   // its bytes' number
    int64_t place;  // in the file
  };

  std::shared_ptr<SpoolFile> file_;
  std::vector<Block> blocks_;
  size_t in_file_ = 0;
  std::string newest_;
};

}  // namespace isobar
