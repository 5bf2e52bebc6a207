#include "text_input.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "../core/error.h"
#include "utf8_stream.h"

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
      zipped_.reset(gzopen(path.c_str(), "rb"));
    } else {
      plain_.open(path, std::ios::binary);
    }
    check(zipped_ != nullptr || plain_.is_open(),
          "text: cannot open {}: {}; give it a text file that exists and may be read", path,
          std::strerror(errno));
    check(zipped_ == nullptr || gzdirect(zipped_.get()) == 0,
          "text: {} is no gzip file, though its name ends in .gz; give it its right name", path);
  }

  // The next bytes; empty at the end.
  std::string_view read() {
    buffer_.resize(piece_size);
    return std::string_view(buffer_).substr(0, zipped_ ? read_zipped() : read_plain());
  }

 private:
  size_t read_plain() {
    errno = 0;
    plain_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    check(!plain_.bad(), "text: cannot read {}: {}", path_, std::strerror(errno));
    return static_cast<size_t>(plain_.gcount());
  }

  size_t read_zipped() {
    const int got = gzread(zipped_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
    int code = Z_OK;
    const char* reason = gzerror(zipped_.get(), &code);  // starts with the path
    check(got >= 0 && (code == Z_OK || code == Z_STREAM_END), "text: cannot read {}; get the file again",
          reason);
    return static_cast<size_t>(got);
  }

  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };
  std::string path_, buffer_;
  std::ifstream plain_;
  std::unique_ptr<gzFile_s, Close> zipped_;
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

void read_line(std::string_view line, const std::string& field, const std::string& where,
               const Visit& visit) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  using Json = nlohmann::json;
  Json object;
  try {
    object = Json::parse(line);
  } catch (const Json::exception& error) {
    throw_error(fmt::format("text: {}: no JSON: {}", where, one_line(error.what(), 200)));
  }
  check(object.is_object() && object.contains(field) && object[field].is_string(),
        "text: {}: wanted an object with a text under '{}'", where, field);
  const std::string& text = object[field].get_ref<const std::string&>();
  if (!text.empty()) visit(text, true);
}

void read_lines(const std::string& path, const std::string& field, const Visit& visit) {
  ByteSource source(path);
  std::string rest;
  int64_t number = 0;
  const auto where = [&] { return fmt::format("{}:{}", path, number); };
  for (std::string_view piece = source.read(); !piece.empty(); piece = source.read()) {
    for (size_t end; (end = piece.find('\n')) != std::string_view::npos; piece.remove_prefix(end + 1)) {
      ++number;
      rest += piece.substr(0, end);
      read_line(rest, field, where(), visit);
      rest.clear();
    }
    rest += piece;
    check(rest.size() <= longest_json_line, "text: {}:{}: wanted a line of at most {} bytes", path,
          number + 1, longest_json_line);
  }
  ++number;
  read_line(rest, field, where(), visit);
}

}  // namespace

void read_documents(const TextInput& input, const Visit& visit) {
  for (const std::string& path : input.paths) {
    if (input.field.empty())
      read_whole(path, visit);
    else
      read_lines(path, input.field, visit);
  }
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

}  // namespace isobar
