// The token store: a corpus as tokens in a file, for training on a corpus larger than memory.
//
//   TokenStoreWriter writer("tokens.safetensors", tokenizer);
//   writer.add("to be or not to be", true);            // pieces of documents
//   writer.save();
//   const TokenStore store("tokens.safetensors");
//   TokenDataset train(store, 0, train_part(store.size()), 64, "training part");
//
// The file is a checked one (checked_file.h): tokens, U16 for a vocab_size of up to 65536, else I32;
// checksums, U8 [chunks, 8], for each chunk of store_chunk tokens their XXH3 (64 bits, little-endian) as
// little-endian i32; and the metadata tokenizer, its JSON text, documents, text_bytes, and in XXH3_of_data
// the XXH3 of the checksums. Opening checks the header and the checksums; a chunk is checked each time that
// it is read from the file. Documents are separated by the tokenizer's separator.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "checked_file.h"
#include "text.h"

namespace isobar {

// The number of tokens that share a checksum.
inline constexpr int64_t store_chunk = 16384;

// Writes a store of any size in little memory. The file appears under its path, whole, in save().
class TokenStoreWriter {
 public:
  TokenStoreWriter(const std::string& path, std::shared_ptr<const Tokenizer> tokenizer);

  // A piece of a document; `last` ends it.
  void add(std::string_view piece, bool last);
  // Reads all of it once more before it gets its name. Throws Error if there are no tokens, or others than
  // were written.
  void save();

  int64_t tokens() const { return written_ + static_cast<int64_t>(pending_.size()); }
  int64_t documents() const { return documents_; }
  int64_t text_bytes() const { return text_bytes_; }

 private:
  void write(size_t count);
  void read_back(const std::string& written) const;

  std::string path_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::string tokenizer_json_;
  size_t room_;  // for the header, whose numbers are known at the end
  OutputFile file_;
  TextFeed feed_;
  std::vector<int32_t> pending_;  // tokens of the last chunk, which is not full yet
  std::vector<uint64_t> checksums_;
  int64_t written_ = 0, documents_ = 0, text_bytes_ = 0;
  bool inside_ = false;  // a document has begun
};

// XXH3 of the checksums of these tokens' chunks, as 16 hex digits.
std::string tokens_checksum(std::span<const int32_t> tokens);

// A store whose chunks are read on demand; at most 64 MiB of them stay in memory. Threads may share it.
class TokenStore : public TokenSource {
 public:
  // Throws Error if the file is not a token store or its header is damaged.
  explicit TokenStore(const std::string& path);

  // Whether this is no text but a checked file, or another one that begins as safetensors do; the constructor
  // then says whether it is a store.
  static bool is_one(const std::string& path);

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  int64_t documents() const { return documents_; }
  // tokens_checksum() of all tokens, from the header alone.
  std::string checksum() const;
  int64_t size() const override { return size_; }
  // Also throws Error if a chunk of these tokens is damaged.
  void read(int64_t begin, std::span<int32_t> tokens) const override;
  // Reads all chunks once. Throws Error if one is damaged.
  void check_all() const;

 private:
  struct Slot {
    int64_t chunk = -1;
    std::vector<int32_t> tokens;
  };

  void load(int64_t number, Slot& slot) const;

  InputFile file_;
  uint64_t tokens_at_ = 0;  // the place of the first token in the file
  bool narrow_ = false;     // tokens are u16
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::vector<uint64_t> checksums_;
  int64_t size_ = 0, documents_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<Slot> slots_;  // chunk i is cached in slot i mod slots_.size()
};

}  // namespace isobar
