// Spool: bytes that only grow: the newest 8 KiB in memory, the rest in a temporary file. For one thread.
//
//   const auto file = std::make_shared<SpoolFile>("runs/x");
//   Spool losses(file);
//   losses.append("1,2.5\n");
//   losses.bytes();   // all of them
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace isobar {

// The file of several spools. It has no name, so that nothing is left of it where the process is killed, and
// is made when it is needed. Throws Error on a full disk.
class SpoolFile {
 public:
  // In this folder. With an empty name there is none, and all bytes stay in memory.
  explicit SpoolFile(std::string folder) : folder_(std::move(folder)) {}

  bool none() const { return folder_.empty(); }
  // Returns where the bytes begin.
  int64_t put(std::string_view bytes);
  void get(int64_t begin, char* bytes, size_t count) const;  // of those that were put

 private:
  std::string folder_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
};

class Spool {
 public:
  explicit Spool(std::shared_ptr<SpoolFile> file) : file_(std::move(file)) {}

  void append(std::string_view bytes);
  size_t size() const { return in_file_ + newest_.size(); }
  // From `begin` on, `most` of them where there are so many.
  std::string bytes(size_t begin = 0, size_t most = std::string::npos) const;

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

// Comma-separated values, kept until the run is complete; without a spool's file, in memory.
class Csv {
 public:
  using Cell = std::variant<int64_t, double, std::string>;

  Csv(std::string name, const std::vector<std::string>& columns,
      std::shared_ptr<SpoolFile> spool = std::make_shared<SpoolFile>(""));
  // Numbers are written so that they read back exactly. Throws Error unless there is one cell per column.
  void row(const std::vector<Cell>& cells);

  const std::string& name() const { return name_; }
  std::string text() const { return heading_ + rows_.bytes(); }
  // Writes the text as write_file_atomically() does, block by block.
  void save(const std::string& path) const;

 private:
  std::string name_;
  size_t columns_;
  std::string heading_;
  Spool rows_;
};

}  // namespace isobar
