#include "text_input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "../core/error.h"
#include "json_text.h"
#include "utf8_stream.h"
#include "zipped_file.h"

namespace isobar {
namespace {

constexpr size_t piece_size = size_t{1} << 20;

// The bytes of a file, decompressed if its name ends in .gz.
class ByteSource {
 public:
  explicit ByteSource(const std::string& path) : path_(path) {
    std::error_code unknown;  // a path that cannot be checked fails below
    check(!std::filesystem::is_directory(path, unknown), "text: {} is a folder; give it a text file", path);
    if (path.ends_with(".gz")) {
      zipped_ = ZippedFile(path);
    } else {
      plain_.open(path, std::ios::binary);
    }
    check(zipped_.opened() || plain_.is_open(),
          "text: cannot open {}: {}; give it a text file that exists and may be read", path,
          std::strerror(errno));
    check(!zipped_.opened() || !zipped_.is_plain(),
          "text: {} is no gzip file, though its name ends in .gz; give it its right name", path);
  }

  // The next bytes; empty at the end.
  std::string_view read() {
    buffer_.resize(piece_size);
    return std::string_view(buffer_).substr(0, zipped_.opened() ? read_zipped() : read_plain());
  }

 private:
  size_t read_plain() {
    errno = 0;
    plain_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    check(!plain_.bad(), "text: cannot read {}: {}", path_, std::strerror(errno));
    return static_cast<size_t>(plain_.gcount());
  }

  size_t read_zipped() { return zipped_.read(buffer_.data(), buffer_.size(), "text"); }

  std::string path_, buffer_;
  std::ifstream plain_;
  ZippedFile zipped_;
};

using Visit = std::function<void(std::string_view, bool)>;

void read_whole(const std::string& path, const Visit& visit) {
  ByteSource source(path);
  bool empty = true;
  for (std::string_view piece = source.read(); !piece.empty(); piece = source.read()) {
    visit(piece, false);
    empty = false;
  }
  if (!empty) visit("", true);
}

// Writes \uFFFD for each half of a surrogate pair that stands alone, in JSON. Returns how many there were.
int64_t replace_lone_surrogates(std::string& line) {
  // The code unit of a \uXXXX at this place; 0 for anything else.
  const auto unit = [&](size_t at) -> unsigned {
    unsigned value = 0;
    const char* const digits = line.data() + at + 2;
    if (at + 6 > line.size() || line[at] != '\\' || line[at + 1] != 'u') return 0;
    const auto [end, error] = std::from_chars(digits, digits + 4, value, 16);
    return error == std::errc() && end == digits + 4 ? value : 0;
  };
  const auto high = [&](size_t at) { return unit(at) >= 0xD800 && unit(at) < 0xDC00; };
  const auto low = [&](size_t at) { return unit(at) >= 0xDC00 && unit(at) < 0xE000; };
  int64_t replaced = 0;
  for (size_t at = line.find('\\'); at < line.size(); at = line.find('\\', at)) {
    const bool pair = high(at) && low(at + 6);
    if (!pair && (high(at) || low(at))) {
      line.replace(at, 6, "\\uFFFD");
      ++replaced;
    }
    at += pair ? 12 : 2;  // an escaped character is none that begins an escape
  }
  return replaced;
}

// Returns how many lone surrogates it replaced.
int64_t read_line(std::string_view line, const std::string& field, const std::string& where,
                  const Visit& visit) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return 0;
  using Json = nlohmann::json;
  int64_t replaced = 0;
  Json object = Json::parse(line, nullptr, false);
  if (object.is_discarded()) {
    std::string mended(line);
    replaced = replace_lone_surrogates(mended);
    try {
      object = Json::parse(mended);
    } catch (const Json::exception& error) {
      throw_error(fmt::format("text: {}: no JSON: {}", where, json_complaint(error.what())));
    }
  }
  check(object.is_object() && object.contains(field) && object[field].is_string(),
        "text: {}: wanted an object with a text under '{}'", where, field);
  const std::string& text = object[field].get_ref<const std::string&>();
  if (!text.empty()) visit(text, true);
  return replaced;
}

int64_t read_lines(const std::string& path, const std::string& field, const Visit& visit) {
  ByteSource source(path);
  std::string rest;
  int64_t number = 0, replaced = 0;
  const auto where = [&] { return fmt::format("{}:{}", path, number); };
  for (std::string_view piece = source.read(); !piece.empty(); piece = source.read()) {
    for (size_t end; (end = piece.find('\n')) != std::string_view::npos; piece.remove_prefix(end + 1)) {
      ++number;
      rest += piece.substr(0, end);
      replaced += read_line(rest, field, where(), visit);
      rest.clear();
    }
    rest += piece;
    check(rest.size() <= longest_json_line, "text: {}:{}: wanted a line of at most {} bytes", path,
          number + 1, longest_json_line);
  }
  ++number;
  return replaced + read_line(rest, field, where(), visit);
}

}  // namespace

int64_t read_documents(const TextInput& input, const Visit& visit) {
  int64_t replaced = 0;
  for (const std::string& path : input.paths) {
    if (input.field.empty())
      read_whole(path, visit);
    else
      replaced += read_lines(path, input.field, visit);
  }
  return replaced;
}

std::string read_text(const std::string& path, size_t limit) {
  std::string text;
  read_whole(path, [&](std::string_view piece, bool) {
    text += piece;
    check(
        text.size() <= limit,
        "text: {} holds more than {} bytes, which memory is not asked to hold; make a token store of it: isobar "
        "prepare {} -o tokens.safetensors",
        path, limit, path);
  });
  check(!text.empty(), "text: {} is empty; give it a text file", path);
  return text;
}

std::string first_bytes(const std::string& path, size_t most) {
  ByteSource source(path);
  std::string text;
  for (std::string_view piece = source.read(); !piece.empty() && text.size() < most; piece = source.read())
    text += piece;
  text.resize(std::min(text.size(), most));
  return text;
}

}  // namespace isobar
