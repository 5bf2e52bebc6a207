// The header of a safetensors file: read with distrust, and written.
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "safetensors.h"
#include "utf8.h"
#include "utf8_stream.h"

namespace isobar {
namespace {

// The bytes of an element; 0 for a dtype that the format does not have.
uint64_t bytes_of(const std::string& dtype) {
  static const std::map<std::string, uint64_t> all = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"F64", 8},     {"I64", 8}, {"U64", 8}};
  const auto found = all.find(dtype);
  return found != all.end() ? found->second : 0;
}

// The unchecked values of one tensor's JSON object; the lists are its shape and its data_offsets.
struct Claim {
  std::string name;
  std::optional<std::string> dtype = {};
  std::map<std::string, std::vector<uint64_t>> lists = {};
};

// Receives the events of the JSON parser and stops at the first one that the format does not allow, so that a
// hostile header builds no tree in memory. Depth 1 has names; depth 2 has the values of one tensor, or the
// metadata; depth 3 has the numbers of a list.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Reader(const std::string& who) : who_(who) {}
  std::vector<Claim> claims;
  std::map<std::string, std::string> metadata;

  bool start_object(size_t) override {
    refuse_unless(depth_ < 2, "an object");
    if (++depth_ == 2 && !in_metadata()) claims.push_back({name_});
    return true;
  }
  bool start_array(size_t) override {
    refuse_unless(depth_ == 2 && !in_metadata() && part_ != "dtype", "an array");
    ++depth_;
    claims.back().lists[part_];
    return true;
  }
  bool end_object() override { return --depth_ >= 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      check(names_.insert(name).second, "{}: '{}' appears twice in the header", who_, Shown{name});
      name_ = name;
      return true;
    }
    part_ = name;
    if (in_metadata()) {
      check(!metadata.contains(part_), "{}: metadata '{}' appears twice in the header", who_, Shown{part_});
      return true;
    }
    check(part_ == "dtype" || part_ == "shape" || part_ == "data_offsets",
          "{}: tensor '{}': wanted dtype, shape and data_offsets, got '{}'", who_, Shown{name_},
          Shown{part_});
    const Claim& claim = claims.back();
    check(part_ == "dtype" ? !claim.dtype.has_value() : !claim.lists.contains(part_),
          "{}: tensor '{}': {} appears twice", who_, Shown{name_}, part_);
    return true;
  }
  bool string(string_t& text) override {
    refuse_unless(depth_ == 2 && (in_metadata() || part_ == "dtype"), "a text");
    (in_metadata() ? metadata[part_] : claims.back().dtype.emplace()) = text;
    return true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    refuse_unless(depth_ == 3, fmt::format("{}", number));
    std::vector<uint64_t>& numbers = claims.back().lists[part_];
    const size_t most = part_ == "shape" ? size_t{max_dims} : 2;
    check(numbers.size() < most, "{}: tensor '{}': {} has more than {} numbers", who_, Shown{name_}, part_,
          most);
    numbers.push_back(number);
    return true;
  }
  bool number_integer(number_integer_t number) override { return refuse(fmt::format("{}", number)); }
  bool number_float(number_float_t, const string_t& text) override { return refuse(text); }
  bool boolean(bool value) override { return refuse(value ? "true" : "false"); }
  bool null() override { return refuse("null"); }
  bool binary(binary_t&) override { return refuse("binary"); }
  bool parse_error(size_t place, const std::string&, const nlohmann::detail::exception&) override {
    throw_error(fmt::format("{}: the header is not valid JSON near byte {}", who_, place));
  }

 private:
  bool in_metadata() const { return name_ == "__metadata__"; }
  bool refuse(const std::string& what) const {
    throw_error(fmt::format("{}: the header has {} {}", who_, what,
                            depth_ == 0   ? "where an object belongs"
                            : depth_ == 1 ? fmt::format("for '{}', where an object belongs", one_line(name_))
                                          : fmt::format("in '{}' of '{}', where it does not belong",
                                                        one_line(part_), one_line(name_))));
  }
  void refuse_unless(bool fits, const std::string& what) const {
    if (!fits) refuse(what);
  }

  const std::string& who_;
  std::set<std::string> names_;
  std::string name_, part_;  // the keys at depth 1 and 2
  int depth_ = 0;
};

// Checks that shape, dtype and offsets agree with each other and with the file, and returns the entry.
SafetensorsHeader::Entry checked(const Claim& claim, uint64_t data_bytes, const std::string& file) {
  const std::string who = fmt::format("{}: tensor '{}'", file, one_line(claim.name));
  const bool has_shape = claim.lists.contains("shape"), has_offsets = claim.lists.contains("data_offsets");
  check(claim.dtype && has_shape && has_offsets, "{}: wanted dtype, shape and data_offsets, got no {}", who,
        !claim.dtype ? "dtype"
        : !has_shape ? "shape"
                     : "data_offsets");
  const std::vector<uint64_t>& shape = claim.lists.at("shape");
  const std::vector<uint64_t>& offsets = claim.lists.at("data_offsets");
  check(offsets.size() == 2, "{}: wanted two data_offsets, got {}", who, offsets.size());
  uint64_t bytes = bytes_of(*claim.dtype), span = bytes;  // span: with an extent of 0 counted as 1
  check(bytes > 0, "{}: there is no dtype '{}'", who, one_line(*claim.dtype));
  std::vector<int64_t> extents;
  for (const uint64_t extent : shape) {
    const bool fits =
        !__builtin_mul_overflow(span, std::max<uint64_t>(extent, 1), &span) && span < uint64_t{1} << 58;
    bytes *= extent;
    check(fits, "{}: [{}] has more elements than memory can hold", who, fmt::join(shape, ", "));
    extents.push_back(static_cast<int64_t>(extent));
  }
  const uint64_t begin = offsets[0], end = offsets[1];
  check(begin <= end && end <= data_bytes, "{}: its bytes {} to {} lie outside of the {} that the file holds",
        who, begin, end, data_bytes);
  check(end - begin == bytes, "{}: {} [{}] takes {} bytes, but its offsets leave {}", who, *claim.dtype,
        fmt::join(shape, ", "), bytes, end - begin);
  return {claim.name, *claim.dtype, Shape(std::span<const int64_t>(extents)), begin, end};
}

// Throws Error for a text that is not valid UTF-8. The error shows `what` and the text, with invalid bytes as
// \xff.
void check_utf8(const char* what, std::string_view text) {
  std::string shown;
  bool valid = true;
  for_each_character(text, [&](const Character& character, size_t offset) {
    if (character.number < stray_byte) {
      shown += text.substr(offset, character.bytes);
    } else {
      valid = false;
      shown += fmt::format("\\x{:02x}", character.number - stray_byte);
    }
  });
  check(valid, "safetensors: {} '{}' is not valid UTF-8", what, shown);
}

}  // namespace

std::string SafetensorsHeader::bytes_of(const InputFile& file) {
  check(file.size() >= 8, "{}: not a safetensors file: {} bytes, wanted eight for the header's length",
        file.path(), file.size());
  uint64_t length = 0;
  file.read(0, &length, 8);
  check(length <= longest, "{}: wanted a header of at most {} bytes, got {}", file.path(), longest, length);
  check(length <= file.size() - 8, "{}: its header has {} bytes, but only {} follow", file.path(), length,
        file.size() - 8);
  std::string bytes(8 + length, '\0');
  file.read(0, bytes.data(), bytes.size());
  return bytes;
}

std::string SafetensorsHeader::bytes(size_t room) const {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (const auto& [key, text] : metadata) {
    check_utf8("the metadata", key);
    check_utf8("the metadata", text);
  }
  if (!metadata.empty()) header["__metadata__"] = metadata;
  for (const Entry& entry : entries) {
    check_utf8("the name", entry.name);
    header[entry.name] = {{"dtype", entry.dtype},
                          {"shape", std::vector<int64_t>(entry.shape.begin(), entry.shape.end())},
                          {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text = header.dump();
  text.resize(std::max((text.size() + 7) / 8 * 8, room - std::min<size_t>(room, 8)), ' ');
  const uint64_t length = text.size();
  check(length <= longest, "safetensors: wanted a header of at most {} bytes, got {}", longest, length);
  return std::string(reinterpret_cast<const char*>(&length), 8) + text;
}

SafetensorsHeader SafetensorsHeader::parse(std::string_view text, uint64_t data_bytes,
                                           const std::string& who) {
  check(text.starts_with("{"), "{}: not a safetensors file: its header does not start with {{", who);
  // The parser takes a NUL for the end, and would not see what follows it.
  const size_t nul = text.find('\0');
  check(nul == std::string_view::npos, "{}: the header is not valid JSON near byte {}", who, nul + 1);
  Reader reader(who);
  nlohmann::json::sax_parse(text, &reader);
  SafetensorsHeader header{{}, std::move(reader.metadata), 8 + text.size()};
  for (const Claim& claim : reader.claims) header.entries.push_back(checked(claim, data_bytes, who));
  std::sort(header.entries.begin(), header.entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t end = 0;
  for (const Entry& entry : header.entries) {
    check(entry.begin == end, "{}: tensor '{}' begins at byte {}, {} the end of the one before, {}", who,
          entry.name, entry.begin, entry.begin < end ? "inside, before" : "a gap after", end);
    end = entry.end;
  }
  check(end == data_bytes, "{}: {} bytes after the last tensor belong to no tensor", who, data_bytes - end);
  return header;
}

}  // namespace isobar
