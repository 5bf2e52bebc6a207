#include "lists.h"

#include <algorithm>

namespace isobar {

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  if (list.empty()) return words;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<size_t> evenly_chosen(size_t n, size_t most) {
  const size_t count = std::min(n, most);
  std::vector<size_t> chosen;
  for (size_t i = 0; i < count; ++i) chosen.push_back(count == 1 ? n - 1 : i * (n - 1) / (count - 1));
  return chosen;
}

}  // namespace isobar
