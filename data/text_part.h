// TextPart: a part of a longer text, as a file is read. TextFeed: passes a text that arrives in pieces to a
// function that needs whole characters and words.
//
//   TextFeed feed;
//   std::vector<int32_t> tokens;
//   const auto encode = [&](const TextPart& part) { return tokenizer.encode_part(part, tokens); };
//   feed.add("It", false, encode);
//   feed.add("'s", true, encode);      // tokens are now those of "It's"
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace isobar {

struct TextPart {
  std::string_view text;
  bool last = true;     // whether the whole text ends here
  uint64_t offset = 0;  // where the part begins in the whole text, for errors
};

class TextFeed {
 public:
  // `take(part)` returns how many bytes it has processed: all bytes of a last part. The others are passed
  // again, followed by the next piece. After a last piece a new text may start.
  template <class Take>
  void add(std::string_view piece, bool last, const Take& take) {
    rest_ += piece;
    const size_t taken = take(TextPart{rest_, last, offset_});
    rest_.erase(0, taken);
    offset_ = last ? 0 : offset_ + taken;
  }

 private:
  std::string rest_;
  uint64_t offset_ = 0;
};

}  // namespace isobar
