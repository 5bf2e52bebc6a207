#include "checksum.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "../core/error.h"

namespace isobar {
namespace {

std::string first_line(std::string_view kind) { return fmt::format("isobar {}\n", kind); }

std::string header(std::string_view kind, std::string_view content) {
  std::string text =
      first_line(kind) + fmt::format("xxh3-64 {}\nbytes {}\n", checksum(content), content.size());
  check(text.size() <= checksum_header_bytes, "checksum header: the kind '{}' is too long", kind);
  text.resize(checksum_header_bytes, '\0');
  return text;
}

// The number after "bytes " in a header, or -1.
int64_t declared_length(std::string_view head) {
  const size_t at = head.find("\nbytes ");
  if (at == std::string_view::npos) return -1;
  int64_t length = 0;
  for (size_t i = at + 7; i < head.size() && head[i] >= '0' && head[i] <= '9' && length < int64_t{1} << 56;
       ++i)
    length = 10 * length + (head[i] - '0');
  return length;
}

}  // namespace

std::string checksum(std::string_view bytes) {
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

std::string add_checksum_header(std::string_view kind, std::string content) {
  return std::move(content.insert(0, header(kind, content)));
}

std::string_view without_checksum_header(std::string_view kind, std::string_view bytes,
                                         const std::string& name) {
  const std::string line = first_line(kind);
  check(bytes.starts_with(line), "{}: is no isobar {}, or its first line is damaged", name, kind);
  check(bytes.size() >= checksum_header_bytes, "{}: is cut short: {} bytes, less than its header", name,
        bytes.size());
  const std::string_view head = bytes.substr(0, checksum_header_bytes),
                         content = bytes.substr(checksum_header_bytes);
  if (head == header(kind, content)) return content;
  const int64_t declared = declared_length(head), there = static_cast<int64_t>(content.size());
  check(declared == there, "{}: wanted {} bytes after its header, got {}; it is cut short or damaged", name,
        declared, there);
  throw_error(fmt::format("{}: is damaged: its checksum is not that of its content", name));
}

}  // namespace isobar
