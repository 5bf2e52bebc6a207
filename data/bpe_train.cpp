#include <algorithm>
#include <queue>
#include <tuple>

#include "bpe.h"

namespace isobar {

size_t WordCounts::add(const TextPart& part) {
  return for_each_word(part.text, part.last, [&](std::string_view word) {
    const auto found = counts_.find(word);
    if (found != counts_.end())
      ++found->second;
    else
      counts_.emplace(word, 1);
  });
}

int64_t WordCounts::total() const {
  int64_t sum = 0;
  for (const auto& [word, count] : counts_) sum += count;
  return sum;
}

// All distinct words are stored in one array of cells, one cell per byte. A token of n bytes takes n cells;
// its first and last cells hold its id, so both neighbours of a token are found from its place. For each pair
// the array keeps the places of its left token; a merge visits only these places.
class BpeTrainer {
 public:
  BpeTrainer(const WordCounts& counts, const BpeOptions& options);
  BpeTokenizer train();

 private:
  using Pair = BpeTokenizer::Pair;
  using Place = uint32_t;  // of a cell
  static constexpr int32_t gap = -1, inside = -2;

  struct PairUse {
    int64_t count = 0;  // over all words of the text
    std::vector<Place> places;
  };
  // The top of a queue is the pair to merge next. Its count may have decreased since it was pushed.
  struct Candidate {
    int64_t count;
    Pair pair;
    bool operator<(const Candidate& other) const {
      return std::tie(count, other.pair) < std::tie(other.count, pair);
    }
  };

  static uint64_t key_of(Pair pair) { return BpeTokenizer::key_of(pair); }
  size_t length_of(int32_t token) const { return tokens_[token].size(); }
  int64_t count_at(Place place) const;
  void count_pairs();
  Pair most_frequent();
  void merge(Pair pair);
  int32_t token_for(Pair pair);

  const BpeOptions& options_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int32_t> numbers_;
  std::vector<Pair> merges_;
  std::vector<int32_t> cells_;        // words with a gap before, between and after them
  std::vector<Place> starts_;         // of the words
  std::vector<int64_t> word_counts_;  // in the same order
  std::unordered_map<uint64_t, PairUse> pairs_;
  std::priority_queue<Candidate> queue_;
};

BpeTrainer::BpeTrainer(const WordCounts& counts, const BpeOptions& options)
    : options_(options), tokens_(byte_vocabulary()) {
  const int64_t least = static_cast<int64_t>(tokens_.size() + options.specials.size());
  check(options.vocab_size >= least,
        "bpe: wanted a vocabulary of at least {} (256 bytes, {} special tokens), got {}", least,
        options.specials.size(), options.vocab_size);
  size_t cells = 1;
  for (const auto& [word, count] : counts.counts_) cells += word.size() + 1;
  check(cells <= UINT32_MAX, "bpe: the distinct words hold {} bytes, wanted less than 2^32; take less text",
        cells);
  cells_.reserve(cells);
  cells_.push_back(gap);
  int32_t of_byte[256];
  for (int32_t token = 0; token < 256; ++token) {
    of_byte[static_cast<unsigned char>(tokens_[token][0])] = token;
    numbers_[tokens_[token]] = token;
  }
  for (const auto& [word, count] : counts.counts_) {
    starts_.push_back(static_cast<Place>(cells_.size()));
    word_counts_.push_back(count);
    for (const char c : word) cells_.push_back(of_byte[static_cast<unsigned char>(c)]);
    cells_.push_back(gap);
  }
  count_pairs();
}

// The number of occurrences of the word at a place.
int64_t BpeTrainer::count_at(Place place) const {
  return word_counts_[std::upper_bound(starts_.begin(), starts_.end(), place) - starts_.begin() - 1];
}

// Counts all pairs; called while every token is a byte.
void BpeTrainer::count_pairs() {
  // first pass: counts, and how many places each pair has
  std::unordered_map<uint64_t, size_t> place_counts;
  const auto for_each_pair = [&](const auto& visit) {
    for (size_t word = 0; word < starts_.size(); ++word)
      for (Place place = starts_[word]; cells_[place + 1] != gap; ++place)
        visit(Pair{cells_[place], cells_[place + 1]}, word, place);
  };
  for_each_pair([&](Pair pair, size_t word, Place) {
    pairs_[key_of(pair)].count += word_counts_[word];
    ++place_counts[key_of(pair)];
  });
  for (auto& [key, use] : pairs_) use.places.reserve(place_counts[key]);
  // second pass: the places
  for_each_pair([&](Pair pair, size_t, Place place) { pairs_[key_of(pair)].places.push_back(place); });
  for (const auto& [key, use] : pairs_)
    queue_.push({use.count, {static_cast<int32_t>(key >> 32), static_cast<int32_t>(key & UINT32_MAX)}});
}

// The pair to merge next. Throws Error if every word is a single token.
BpeTokenizer::Pair BpeTrainer::most_frequent() {
  while (!queue_.empty()) {
    const Candidate top = queue_.top();
    queue_.pop();
    const auto found = pairs_.find(key_of(top.pair));
    const int64_t count = found == pairs_.end() ? 0 : found->second.count;
    if (count == top.count) return top.pair;
    // Its count has changed. If it increased, a newer candidate was pushed then.
    if (count > 0 && count < top.count) queue_.push({count, top.pair});
  }
  const size_t most = tokens_.size() + options_.specials.size();
  throw_error(fmt::format(
      "bpe: wanted a vocabulary of {}, but the text has pairs for {} only; take a vocabulary of at most "
      "{} or a longer text",
      options_.vocab_size, most, most));
}

// The token that a pair makes. Two pairs may make the same token: "a" "bc" and "ab" "c".
int32_t BpeTrainer::token_for(Pair pair) {
  std::string bytes = tokens_[pair.first] + tokens_[pair.second];
  const auto [entry, is_new] = numbers_.try_emplace(bytes, static_cast<int32_t>(tokens_.size()));
  if (is_new) tokens_.push_back(std::move(bytes));
  return entry->second;
}

void BpeTrainer::merge(Pair pair) {
  merges_.push_back(pair);
  const auto [left, right] = pair;
  const int32_t token = token_for(pair);
  const size_t left_length = length_of(left), right_length = length_of(right),
               length = left_length + right_length;
  std::vector<Place> places = std::move(pairs_[key_of(pair)].places);
  pairs_.erase(key_of(pair));
  // If two pairs make one token, the places of its later pairs are not in order.
  if (!std::is_sorted(places.begin(), places.end())) std::sort(places.begin(), places.end());

  std::vector<Pair> grown;
  const auto lose = [&](Pair gone, int64_t count) {
    const auto found = pairs_.find(key_of(gone));  // absent for the pair that is being merged
    if (found != pairs_.end() && (found->second.count -= count) == 0) pairs_.erase(found);
  };
  const auto gain = [&](Pair made, int64_t count, Place place) {
    PairUse& use = pairs_[key_of(made)];
    use.count += count;
    use.places.push_back(place);
    grown.push_back(made);
  };
  for (const Place place : places) {
    const Place next = place + static_cast<Place>(left_length);
    if (cells_[place] != left || cells_[next] != right) continue;  // merged into other tokens since
    const int64_t count = count_at(place);
    const int32_t before = cells_[place - 1], after = cells_[place + length];
    cells_[next - 1] = inside;
    cells_[next] = inside;
    cells_[place] = token;
    cells_[place + length - 1] = token;
    if (before != gap) {
      lose({before, left}, count);
      gain({before, token}, count, place - static_cast<Place>(length_of(before)));
    }
    if (after != gap) {
      lose({right, after}, count);
      gain({token, after}, count, place);
    }
  }
  std::sort(grown.begin(), grown.end());
  grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
  for (const Pair& made : grown)
    if (const auto found = pairs_.find(key_of(made)); found != pairs_.end())
      queue_.push({found->second.count, made});
}

BpeTokenizer BpeTrainer::train() {
  const size_t wanted = static_cast<size_t>(options_.vocab_size) - options_.specials.size();
  while (tokens_.size() < wanted) merge(most_frequent());
  std::vector<int32_t> specials;
  for (const std::string& special : options_.specials) {
    specials.push_back(static_cast<int32_t>(tokens_.size()));
    tokens_.push_back(special);
  }
  return BpeTokenizer(std::move(tokens_), std::move(merges_), std::move(specials));
}

BpeTokenizer train_bpe(const WordCounts& counts, const BpeOptions& options) {
  return BpeTrainer(counts, options).train();
}

}  // namespace isobar
