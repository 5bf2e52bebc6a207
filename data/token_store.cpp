#include "token_store.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace isobar {
namespace {

// Version 1 was in HDF5.
const FileKind store_kind{"token store", 2, "prepare it again"};
constexpr int64_t slot_count = (int64_t{64} << 20) / (store_chunk * 4);  // 64 MiB

uint64_t checksum_of(std::span<const int32_t> tokens) {
  return XXH3_64bits(tokens.data(), tokens.size_bytes());
}

std::vector<uint64_t> checksums_of_chunks(std::span<const int32_t> tokens) {
  std::vector<uint64_t> checksums;
  for (size_t begin = 0; begin < tokens.size(); begin += store_chunk)
    checksums.push_back(
        checksum_of(tokens.subspan(begin, std::min<size_t>(store_chunk, tokens.size() - begin))));
  return checksums;
}

std::string checksum_of_all(const std::vector<uint64_t>& checksums) {
  return fmt::format("{:016x}", XXH3_64bits(checksums.data(), checksums.size() * sizeof(uint64_t)));
}

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

bool fits_u16(const Tokenizer& tokenizer) { return tokenizer.vocab_size() <= 65536; }

struct Counts {
  int64_t tokens, documents, text_bytes;
};

// At least `room` bytes.
std::string header_bytes(const Counts& counts, bool narrow, const std::string& tokenizer,
                         const std::string& checksum, size_t room) {
  const auto tokens = static_cast<uint64_t>(counts.tokens), chunks = (tokens + store_chunk - 1) / store_chunk;
  const uint64_t end = tokens * (narrow ? 2 : 4);
  const SafetensorsHeader header{
      {{"tokens", narrow ? "U16" : "I32", {counts.tokens}, 0, end},
       {"checksums", "U8", {static_cast<int64_t>(chunks), 8}, end, end + 8 * chunks}},
      {{"tokenizer", tokenizer},
       {"documents", std::to_string(counts.documents)},
       {"text_bytes", std::to_string(counts.text_bytes)}}};
  return checked_header(header, store_kind, checksum, room);
}

int64_t number_of(const SafetensorsHeader& header, const std::string& key, const std::string& path) {
  const auto found = header.metadata.find(key);
  const std::string text = found != header.metadata.end() ? found->second : "";
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  check(error == std::errc() && end == text.data() + text.size() && number >= 0,
        "token store: {}: wanted a number as {} of its metadata", path, key);
  return number;
}

}  // namespace

TokenStoreWriter::TokenStoreWriter(const std::string& path, std::shared_ptr<const Tokenizer> tokenizer)
    : path_(path),
      tokenizer_(std::move(tokenizer)),
      tokenizer_json_(tokenizer_->to_json()),
      file_(path, PathFrom::user) {
  constexpr int64_t most = 99'999'999'999'999'999;
  room_ = header_bytes({most, most, most}, fits_u16(*tokenizer_), tokenizer_json_, std::string(16, '0'), 0)
              .size();
  file_.append(std::string(room_, '\0'));
}

void TokenStoreWriter::add(std::string_view piece, bool last) {
  if (!inside_ && piece.empty()) return;
  if (!inside_ && documents_++ > 0) {
    const std::vector<int32_t> separator = tokenizer_->separator();
    pending_.insert(pending_.end(), separator.begin(), separator.end());
  }
  inside_ = !last;
  text_bytes_ += static_cast<int64_t>(piece.size());
  feed_.add(piece, last, [&](const TextPart& part) { return tokenizer_->encode_part(part, pending_); });
  write(pending_.size() / store_chunk * store_chunk);
}

// Writes the first `count` pending tokens: whole chunks, or the last chunk.
void TokenStoreWriter::write(size_t count) {
  const std::span<const int32_t> tokens = std::span<const int32_t>(pending_).first(count);
  if (tokens.empty()) return;
  std::ranges::copy(checksums_of_chunks(tokens), std::back_inserter(checksums_));
  if (fits_u16(*tokenizer_))
    file_.append(bytes_of<uint16_t>(std::vector<uint16_t>(tokens.begin(), tokens.end())));
  else
    file_.append(bytes_of<int32_t>(tokens));
  written_ += static_cast<int64_t>(count);
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(count));
}

void TokenStoreWriter::save() {
  add("", true);
  write(pending_.size());
  check(written_ > 0, "token store: there is no text to prepare: all documents are empty");
  file_.append(bytes_of<uint64_t>(checksums_));
  file_.replace(0, header_bytes({written_, documents_, text_bytes_}, fits_u16(*tokenizer_), tokenizer_json_,
                                checksum_of_all(checksums_), room_));
  read_back(file_.finish());
  file_.save();
}

// A write that failed without a word must not become a store that is found to be damaged in training.
void TokenStoreWriter::read_back(const std::string& written) const {
  try {
    const TokenStore store(written);
    check(store.size() == written_ && store.checksum() == checksum_of_all(checksums_), "other tokens");
    store.check_all();
  } catch (const Error& error) {
    throw_error(fmt::format("token store: what was written for {} is not what is read again: {}", path_,
                            error.what()));
  }
}

TokenStore::TokenStore(const std::string& path) : file_(path), slots_(slot_count) {
  const SafetensorsHeader header = read_checked_header(file_, store_kind);
  const auto fits = [](const SafetensorsHeader::Entry& entry, const char* name, const Shape& shape) {
    return entry.name == name && entry.shape == shape;
  };
  const auto& entries = header.entries;  // in the order of the file
  size_ = entries.empty() || entries[0].shape.ndim() != 1 ? 0 : entries[0].shape[0];
  const int64_t chunks = (size_ + store_chunk - 1) / store_chunk;
  check(
      size_ >= 1 && entries.size() == 2 && fits(entries[0], "tokens", {size_}) &&
          (entries[0].dtype == "U16" || entries[0].dtype == "I32") &&
          fits(entries[1], "checksums", {chunks, 8}) && entries[1].dtype == "U8",
      "token store: {}: wanted tokens of U16 or I32, at least one, and 8 bytes of checksum for each {} of them",
      path, store_chunk);
  narrow_ = entries[0].dtype == "U16";
  tokens_at_ = header.data_begin;
  documents_ = number_of(header, "documents", path);
  checksums_.resize(static_cast<size_t>(chunks));
  file_.read(header.data_begin + entries[1].begin, checksums_.data(), checksums_.size() * sizeof(uint64_t));
  check(header.metadata.at("XXH3_of_data") == checksum(),
        "token store: {}: its checksums are damaged; prepare it again", path);
  const auto tokenizer = header.metadata.find("tokenizer");
  check(tokenizer != header.metadata.end(), "token store: {}: its metadata have no tokenizer", path);
  tokenizer_ = tokenizer_from_json(tokenizer->second, path);
}

std::string TokenStore::checksum() const { return checksum_of_all(checksums_); }

std::string tokens_checksum(std::span<const int32_t> tokens) {
  return checksum_of_all(checksums_of_chunks(tokens));
}

bool TokenStore::is_one(const std::string& path) {
  if (looks_checked(path)) return true;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  // A store with a damaged byte here must not become a text. The first eight bytes of a text are no number
  // that small.
  const InputFile file(path);
  uint64_t length = 0;
  if (file.size() < 8) return false;
  file.read(0, &length, 8);
  return length <= file.size() - 8;
}

void TokenStore::check_all() const {
  Slot slot;
  for (size_t number = 0; number < checksums_.size(); ++number) load(static_cast<int64_t>(number), slot);
}

void TokenStore::load(int64_t number, Slot& slot) const {
  slot.chunk = -1;
  const int64_t begin = number * store_chunk;
  slot.tokens.resize(std::min(store_chunk, size_ - begin));
  if (narrow_) {
    std::vector<uint16_t> narrow(slot.tokens.size());
    file_.read(tokens_at_ + 2 * static_cast<uint64_t>(begin), narrow.data(), 2 * narrow.size());
    std::copy(narrow.begin(), narrow.end(), slot.tokens.begin());
  } else {
    file_.read(tokens_at_ + 4 * static_cast<uint64_t>(begin), slot.tokens.data(), 4 * slot.tokens.size());
  }
  check(checksum_of(slot.tokens) == checksums_[number],
        "token store: {}: tokens {} … {} are damaged: their checksum is another; prepare it again",
        file_.path(), begin, begin + static_cast<int64_t>(slot.tokens.size()) - 1);
  const auto [least, most] = std::minmax_element(slot.tokens.begin(), slot.tokens.end());
  check(*least >= 0 && *most < tokenizer_->vocab_size(),
        "token store: {}: token {} is outside of the tokenizer's 0 … {}", file_.path(),
        *least < 0 ? *least : *most, tokenizer_->vocab_size() - 1);
  slot.chunk = number;
}

void TokenStore::read(int64_t begin, std::span<int32_t> tokens) const {
  const int64_t wanted = static_cast<int64_t>(tokens.size());
  check(begin >= 0 && begin <= size_ && wanted <= size_ - begin,
        "token store: {}: tokens {} … {} are outside of 0 … {}", file_.path(), begin, begin + wanted - 1,
        size_ - 1);
  const std::lock_guard lock(mutex_);
  for (int64_t done = 0; done < wanted;) {
    const int64_t place = begin + done, inside = place % store_chunk;
    const int64_t count = std::min(wanted - done, store_chunk - inside);
    Slot& slot = slots_[place / store_chunk % slot_count];
    if (slot.chunk != place / store_chunk) load(place / store_chunk, slot);
    std::copy_n(slot.tokens.begin() + inside, count, tokens.begin() + done);
    done += count;
  }
}

}  // namespace isobar
