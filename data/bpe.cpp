#include "bpe.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_set>

namespace isobar {
namespace {

// A pair of neighbours that can merge. The top of a queue is the pair with the earliest merge; of equal
// merges, the leftmost pair.
struct Candidate {
  int32_t rank;
  int32_t place;  // of the left token, in bytes from the word's start
  int32_t left, right, token;

  bool operator<(const Candidate& other) const {
    return std::tie(rank, place) > std::tie(other.rank, other.place);
  }
};

}  // namespace

BpeTokenizer::BpeTokenizer(std::vector<std::string> tokens, std::vector<Pair> merges,
                           std::vector<int32_t> specials)
    : tokens_(std::move(tokens)), merges_(std::move(merges)), specials_(std::move(specials)) {
  const int32_t count = static_cast<int32_t>(tokens_.size());
  std::vector<bool> made(tokens_.size());  // by a merge, or special
  for (const int32_t special : specials_) {
    check(special >= 0 && special < count, "bpe: special token {} is outside of 0 … {}", special, count - 1);
    check(!tokens_[special].empty() && !made[special], "bpe: special token {} is empty or comes twice",
          special);
    made[special] = true;
  }
  std::unordered_map<std::string_view, int32_t> numbers;
  std::unordered_set<std::string_view> special_texts;
  for (int32_t token = 0; token < count; ++token) {
    const bool first = made[token] ? special_texts.insert(tokens_[token]).second
                                   : numbers.emplace(tokens_[token], token).second;
    check(first, "bpe: tokens {} and another are the same bytes", token);
  }
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const auto found = numbers.find(std::string_view(&c, 1));
    check(found != numbers.end(), "bpe: byte 0x{:02X} has no token; wanted one for each of the 256", byte);
    bytes_[byte] = found->second;
    made[found->second] = true;
  }
  for (const auto& [left, right] : merges_) {
    const int32_t rank = static_cast<int32_t>(by_pair_.size());
    check(left >= 0 && left < count && right >= 0 && right < count,
          "bpe: merge {} is of tokens {} and {}, outside of 0 … {}", rank, left, right, count - 1);
    const auto found = numbers.find(tokens_[left] + tokens_[right]);
    check(found != numbers.end(), "bpe: merge {} of tokens {} and {} makes no token of the vocabulary", rank,
          left, right);
    check(by_pair_.emplace(key_of({left, right}), Merge{rank, found->second}).second,
          "bpe: merge {} of tokens {} and {} comes twice", rank, left, right);
    made[found->second] = true;
  }
  const auto lost = std::find(made.begin(), made.end(), false);
  check(lost == made.end(), "bpe: token {} is neither a byte nor made by a merge nor special",
        lost - made.begin());
}

const BpeTokenizer::Merge* BpeTokenizer::find_merge(int32_t left, int32_t right) const {
  const auto found = by_pair_.find(key_of({left, right}));
  return found == by_pair_.end() ? nullptr : &found->second;
}

void BpeTokenizer::encode_word(std::string_view word, std::vector<int32_t>& tokens) const {
  constexpr int32_t none = -1;
  const int32_t length = static_cast<int32_t>(word.size());
  // A token is stored at the place of its first byte, with the places of its neighbours.
  struct Place {
    int32_t token, before, after;
  };
  std::vector<Place> places(word.size());
  for (int32_t i = 0; i < length; ++i)
    places[i] = {bytes_[static_cast<unsigned char>(word[i])], i - 1, i + 1 < length ? i + 1 : none};

  std::priority_queue<Candidate> queue;
  const auto propose = [&](int32_t left, int32_t right) {
    if (left == none || right == none) return;
    const Merge* merge = find_merge(places[left].token, places[right].token);
    if (merge != nullptr)
      queue.push({merge->rank, left, places[left].token, places[right].token, merge->token});
  };
  for (int32_t i = 0; i + 1 < length; ++i) propose(i, i + 1);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Place& left = places[best.place];
    // Skip a pair whose tokens have been merged into others since.
    if (left.token != best.left || left.after == none || places[left.after].token != best.right) continue;
    Place& right = places[left.after];
    left.token = best.token;
    left.after = right.after;
    right.token = none;
    if (left.after != none) places[left.after].before = best.place;
    propose(left.before, best.place);
    propose(best.place, left.after);
  }
  for (int32_t i = 0; i != none; i = places[i].after) tokens.push_back(places[i].token);
}

size_t BpeTokenizer::encode_part(const TextPart& part, std::vector<int32_t>& tokens) const {
  // Words repeat: for each word seen before, the place of its tokens in `tokens`.
  struct Range {
    size_t begin, end;
  };
  std::unordered_map<std::string_view, Range> known;
  return for_each_word(part.text, part.last, [&](std::string_view word) {
    const auto [entry, is_new] = known.try_emplace(word);
    const size_t begin = tokens.size();
    if (is_new) {
      encode_word(word, tokens);
      entry->second = {begin, tokens.size()};
    } else {
      for (size_t i = entry->second.begin; i < entry->second.end; ++i) tokens.push_back(tokens[i]);
    }
  });
}

std::vector<int32_t> BpeTokenizer::separator() const {
  for (const int32_t special : specials_)
    if (tokens_[special] == "<|endoftext|>") return {special};
  return encode("\n");
}

}  // namespace isobar
