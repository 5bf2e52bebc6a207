// Lists: settings that are words or numbers with commas between, and a few items chosen from many.
#pragma once

#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include "../../core/error.h"

namespace isobar {

// "a,b" → {"a", "b"}; "" → {}. An empty word between commas stays one.
std::vector<std::string> words_of(const std::string& list);

// Throws Error naming the flag for what is not a number above 0.
template <class Number>
std::vector<Number> numbers_of(const char* flag, const std::string& list) {
  std::vector<Number> result;
  for (const std::string& word : words_of(list)) {
    Number number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    check(error == std::errc() && end == word.data() + word.size() && number > 0 &&
              number <= std::numeric_limits<Number>::max(),
          "--{}: wanted numbers above 0 with commas between, got '{}'", flag, list);
    result.push_back(number);
  }
  return result;
}

// Up to `most` of the numbers 0 … n − 1, evenly, with the first and the last among them; of one, the last.
std::vector<size_t> evenly_chosen(size_t n, size_t most);

}  // namespace isobar
