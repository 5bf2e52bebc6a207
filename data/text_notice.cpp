// What the first bytes of a corpus look like where they are hardly a text in UTF-8.
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "../core/error.h"
#include "text_input.h"
#include "utf8.h"
#include "utf8_stream.h"

namespace isobar {
namespace {

constexpr size_t sample_size = size_t{1} << 20, most_lines = 100;

struct Signature {
  std::string_view bytes, meaning;
  size_t offset = 0;
};
using namespace std::string_view_literals;
// The longer of two that begin alike is first.
constexpr std::array marks = {Signature{"\xff\xfe\0\0"sv, "UTF-32LE"},
                              Signature{"\0\0\xfe\xff"sv, "UTF-32BE"}, Signature{"\xff\xfe"sv, "UTF-16LE"},
                              Signature{"\xfe\xff"sv, "UTF-16BE"}};
constexpr std::string_view utf8_mark = "\xef\xbb\xbf";
constexpr std::array containers = {Signature{"PK\3\4"sv, "a zip archive"},
                                   Signature{"BZh"sv, "a bzip2 file"},
                                   Signature{"\xfd"
                                             "7zXZ\0"sv,
                                             "an xz file"},
                                   Signature{"\x1f\x8b"sv, "a gzip file"},
                                   Signature{"\x28\xb5\x2f\xfd"sv, "a zstd file"},
                                   Signature{"\x04\x22\x4d\x18"sv, "an lz4 file"},
                                   Signature{"7z\xbc\xaf\x27\x1c"sv, "a 7z archive"},
                                   Signature{"Rar!\x1a\x07"sv, "a rar archive"},
                                   Signature{"ustar"sv, "a tar archive", 257},
                                   Signature{"%PDF-"sv, "a PDF document"},
                                   Signature{"PAR1"sv, "a Parquet file"},
                                   Signature{"\x89HDF\r\n\x1a\n"sv, "an HDF5 file"}};

template <class Signatures>
std::string_view named(const Signatures& signatures, std::string_view bytes) {
  for (const Signature& one : signatures)
    if (bytes.size() >= one.offset && bytes.substr(one.offset).starts_with(one.bytes)) return one.meaning;
  return "";
}

// Western texts have a zero in each character's high bytes: "UTF-16LE" and the like, "" for none of them.
std::string_view wide_encoding(std::string_view bytes) {
  std::array<size_t, 4> zeros = {};
  for (size_t i = 0; i < bytes.size(); ++i) zeros[i % 4] += bytes[i] == 0;
  const size_t quarter = bytes.size() / 4;
  const auto mostly = [&](size_t place) { return 2 * zeros[place] > quarter; };
  const auto hardly = [&](size_t place) { return 20 * zeros[place] <= quarter; };
  if (quarter < 4) return "";
  if (hardly(0) && hardly(2) && mostly(1) && mostly(3)) return "UTF-16LE";
  if (mostly(0) && mostly(2) && hardly(1) && hardly(3)) return "UTF-16BE";
  if (hardly(0) && mostly(2) && mostly(3)) return "UTF-32LE";
  if (mostly(0) && mostly(1) && hardly(3)) return "UTF-32BE";
  return "";
}

// How many bytes are part of no character. The sample may end within one.
size_t stray_bytes(std::string_view bytes) {
  size_t stray = 0;
  bytes.remove_suffix(incomplete_bytes(bytes));
  for_each_character(bytes,
                     [&](const Character& character, size_t) { stray += character.number >= stray_byte; });
  return stray;
}

// Where all lines of the sample are JSON objects, the name of a text in the first of them, or "…"; else "".
std::string json_field(std::string_view bytes, bool cut) {
  std::string field;
  for (size_t lines = 0; !bytes.empty() && lines < most_lines;) {
    const size_t end = bytes.find('\n');
    const std::string_view line = bytes.substr(0, end);
    if (end == bytes.npos && cut && !field.empty()) break;
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object()) return "";
    ++lines;
    if (!field.empty()) continue;
    field = "…";
    for (const auto& [name, value] : object.items())
      if (value.is_string() && (field == "…" || name == "text")) field = one_line(name);
  }
  return field;
}

// What a sample looks like, and the repair; "" for a text. `cut`: the file goes on after it.
std::string look_of(std::string_view bytes, bool cut) {
  const auto wide = [](std::string_view encoding, const char* why) {
    return fmt::format("looks like {} ({}); iconv -f {} -t UTF-8 makes UTF-8 of it", encoding, why, encoding);
  };
  if (const std::string_view encoding = named(marks, bytes); !encoding.empty())
    return wide(encoding, "it begins with that byte order mark");
  if (const std::string_view container = named(containers, bytes); !container.empty())
    return fmt::format("looks like {}; unpack it first", container);
  if (bytes.starts_with(utf8_mark))
    return "begins with a byte order mark, which becomes a token; sed -i '1s/^\\xEF\\xBB\\xBF//' takes it away";
  if (const std::string_view encoding = wide_encoding(bytes); !encoding.empty())
    return wide(encoding, "by its zero bytes");
  if (bytes.find('\0') != bytes.npos) return "has bytes of zero, as no text has";
  if (const size_t stray = stray_bytes(bytes); stray > 0)
    return fmt::format(
        "has bytes that are not UTF-8 ({} of the first {}); if it is Latin-1: iconv -f LATIN1 -t UTF-8",
        stray, bytes.size());
  if (const std::string field = json_field(bytes, cut); !field.empty())
    return fmt::format("looks like JSON lines; isobar prepare --field {} takes the texts out of them", field);
  if (bytes.find('\r') != bytes.npos && bytes.find('\n') == bytes.npos)
    return "has line ends of CR alone; tr '\\r' '\\n' makes newlines of them";
  return "";
}

}  // namespace

std::string text_notice(const std::string& path) {
  std::error_code unknown;  // what cannot be read is the reader's to say
  if (!std::filesystem::is_regular_file(path, unknown)) return "";
  const std::string bytes = first_bytes(path, sample_size);
  const std::string look = look_of(bytes, bytes.size() == sample_size);
  return look.empty() ? "" : fmt::format("{} {}", path, look);
}

std::vector<std::string> text_notices(const TextInput& input) {
  std::vector<std::string> notices;
  if (!input.field.empty()) return notices;
  for (const std::string& path : input.paths)
    if (std::string notice = text_notice(path); !notice.empty()) notices.push_back(std::move(notice));
  return notices;
}

}  // namespace isobar
