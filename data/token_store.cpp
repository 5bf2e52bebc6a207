#include "token_store.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace isobar {
namespace {

constexpr std::string_view format_name = "isobar tokens";
constexpr int64_t format_version = 1;
constexpr int64_t slot_count = (int64_t{64} << 20) / (store_chunk * 4);  // 64 MiB

int64_t checksum(std::span<const int32_t> tokens) {
  return static_cast<int64_t>(XXH3_64bits(tokens.data(), tokens.size_bytes()));
}

std::string checksum_of_all(const std::vector<int64_t>& checksums) {
  return fmt::format("{:016x}", XXH3_64bits(checksums.data(), checksums.size() * sizeof(int64_t)));
}

// The header of a store, without its checksum.
struct Header {
  std::string tokenizer;  // as JSON
  std::vector<int64_t> checksums;
  int64_t tokens, documents, text_bytes;

  std::string checksum() const {
    const std::string text = fmt::format(
        "{} {} {} {} {} {:x} {:x}", format_name, format_version, tokens, documents, text_bytes,
        XXH3_64bits(tokenizer.data(), tokenizer.size()), XXH3_64bits(checksums.data(), checksums.size() * 8));
    return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
  }
};

// Reads the header. Throws Error if the file is not a token store or the header's checksum is wrong.
Header read_header(const Hdf5File& file, const std::string& path) {
  const bool marked = file.has_attribute("/", "format") && file.text_attribute("/", "format") == format_name;
  check(marked, "token store: {} is an HDF5 file, but no token store; make one with isobar prepare", path);
  const int64_t version = file.int_attribute("/", "version");
  check(version == format_version, "token store: {} has version {}, wanted {}; prepare it again", path,
        version, format_version);
  const std::vector<std::string> tokenizer = file.read_strings("/tokenizer");
  check(tokenizer.size() == 1, "token store: {}: wanted one tokenizer, got {}", path, tokenizer.size());
  const Tensor checksums = file.read("/checksums");
  check(checksums.dtype() == Dtype::i64, "token store: {}: wanted checksums of i64", path);
  const Header header{.tokenizer = tokenizer[0],
                      .checksums = checksums.to_vector<int64_t>(),
                      .tokens = file.length("/tokens"),
                      .documents = file.int_attribute("/", "documents"),
                      .text_bytes = file.int_attribute("/", "text_bytes")};
  check(file.text_attribute("/", "header_checksum") == header.checksum(),
        "token store: {}: its header is damaged: the checksum is another; prepare it again", path);
  const int64_t chunks = (header.tokens + store_chunk - 1) / store_chunk;
  check(header.tokens >= 1 && static_cast<int64_t>(header.checksums.size()) == chunks,
        "token store: {}: wanted a checksum for each of {} chunks, got {}", path, chunks,
        header.checksums.size());
  return header;
}

}  // namespace

TokenStoreWriter::TokenStoreWriter(const std::string& path, std::shared_ptr<const Tokenizer> tokenizer)
    : path_(path), tokenizer_(std::move(tokenizer)), file_(Hdf5File::create_on_disk(path)) {}

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
  for (size_t begin = 0; begin < count; begin += store_chunk)
    checksums_.push_back(checksum(tokens.subspan(begin, std::min<size_t>(store_chunk, count - begin))));
  if (tokenizer_->vocab_size() <= 65536) {
    const std::vector<uint16_t> narrow(tokens.begin(), tokens.end());
    file_.extend<uint16_t>("/tokens", narrow, store_chunk);
  } else {
    file_.extend<int32_t>("/tokens", tokens, store_chunk);
  }
  written_ += static_cast<int64_t>(count);
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(count));
}

void TokenStoreWriter::save() {
  add("", true);
  write(pending_.size());
  check(written_ > 0, "token store: there is no text to prepare: all documents are empty");
  const Header header{tokenizer_->to_json(), checksums_, written_, documents_, text_bytes_};
  file_.write("/tokenizer", std::vector<std::string>{header.tokenizer});
  file_.write("/checksums", header.checksums);
  file_.set_attribute("/", "format", std::string(format_name));
  file_.set_attribute("/", "version", format_version);
  file_.set_attribute("/", "documents", documents_);
  file_.set_attribute("/", "text_bytes", text_bytes_);
  file_.set_attribute("/", "header_checksum", header.checksum());
  file_.save(path_);
}

TokenStore::TokenStore(const std::string& path)
    : path_(path), file_(Hdf5File::open(path)), slots_(slot_count) {
  Header header = read_header(file_, path);
  tokenizer_ = tokenizer_from_json(header.tokenizer, path);
  checksums_ = std::move(header.checksums);
  size_ = header.tokens;
  documents_ = header.documents;
}

std::string TokenStore::checksum() const { return checksum_of_all(checksums_); }

std::string tokens_checksum(std::span<const int32_t> tokens) {
  std::vector<int64_t> checksums;
  for (size_t begin = 0; begin < tokens.size(); begin += store_chunk)
    checksums.push_back(
        checksum(tokens.subspan(begin, std::min<size_t>(store_chunk, tokens.size() - begin))));
  return checksum_of_all(checksums);
}

bool TokenStore::is_one(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;  // reading a pipe would consume it
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> start{};
  file.read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == "\x89HDF\r\n\x1a\n";
}

const std::vector<int32_t>& TokenStore::chunk(int64_t number) const {
  Slot& slot = slots_[number % slot_count];
  if (slot.chunk == number) return slot.tokens;
  slot.chunk = -1;
  const int64_t begin = number * store_chunk;
  slot.tokens.resize(std::min(store_chunk, size_ - begin));
  file_.read_range("/tokens", begin, slot.tokens);
  check(isobar::checksum(slot.tokens) == checksums_[number],
        "token store: {}: tokens {} … {} are damaged: their checksum is another; prepare it again", path_,
        begin, begin + static_cast<int64_t>(slot.tokens.size()) - 1);
  const auto [least, most] = std::minmax_element(slot.tokens.begin(), slot.tokens.end());
  check(*least >= 0 && *most < tokenizer_->vocab_size(),
        "token store: {}: token {} is outside of the tokenizer's 0 … {}", path_, *least < 0 ? *least : *most,
        tokenizer_->vocab_size() - 1);
  slot.chunk = number;
  return slot.tokens;
}

void TokenStore::read(int64_t begin, std::span<int32_t> tokens) const {
  const int64_t wanted = static_cast<int64_t>(tokens.size());
  check(begin >= 0 && begin <= size_ && wanted <= size_ - begin,
        "token store: {}: tokens {} … {} are outside of 0 … {}", path_, begin, begin + wanted - 1, size_ - 1);
  const std::lock_guard lock(mutex_);
  for (int64_t done = 0; done < wanted;) {
    const int64_t place = begin + done, inside = place % store_chunk;
    const int64_t count = std::min(wanted - done, store_chunk - inside);
    const std::vector<int32_t>& from = chunk(place / store_chunk);
    std::copy_n(from.begin() + inside, count, tokens.begin() + done);
    done += count;
  }
}

}  // namespace isobar
