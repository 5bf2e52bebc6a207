// Checksums: XXH3 of 64 bits (Collet, xxhash 0.8), as 16 hex digits. They find accidental damage, not
// forgery.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace isobar {

std::string checksum(std::string_view bytes);

// The same of bytes that come in pieces.
class Checksum {
 public:
  Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;
  ~Checksum();

  void add(std::string_view bytes);
  // Of all that was added so far.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isobar
