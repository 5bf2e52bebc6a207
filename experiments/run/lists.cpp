#include "lists.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <utility>

#include "../../data/utf8_stream.h"

namespace isobar {
namespace {

constexpr std::string_view escaped = "nt\\'", escapes = "\n\t\\'";  // in $'…', and what they stand for

// What a terminal would not show as it is: control characters, marks of direction, bytes that are no UTF-8.
bool is_shown(const std::string& word) {
  return word.find('\n') == std::string::npos && printable(word) == word && unseen_character(word).empty();
}

// $'…' of bash, zsh, ksh and POSIX 2024, in which every byte may be written as \xHH.
std::string escaped_word(const std::string& word) {
  std::string quoted = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (const size_t at = escapes.find(c); at != std::string_view::npos)
      quoted += {'\\', escaped[at]};
    else
      quoted += byte < 0x20 || byte >= 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return quoted + "'";
}

// Appends what stands in $'…' from `i` on, which moves to the closing quote. False where there is none.
bool read_escaped(std::string_view line, size_t& i, std::string& word) {
  for (; i < line.size() && line[i] != '\''; ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      word += line[i];
      continue;
    }
    const char letter = line[++i];
    unsigned byte = 0;
    const char* const digits = line.data() + i + 1;
    const auto two = std::min<size_t>(2, line.size() - i - 1);
    if (letter == 'x' && std::from_chars(digits, digits + two, byte, 16).ptr == digits + 2) {
      word += static_cast<char>(byte);
      i += 2;
    } else if (const size_t at = escaped.find(letter); at != std::string_view::npos) {
      word += escapes[at];
    } else {
      word += {'\\', letter};
    }
  }
  return i < line.size();
}

}  // namespace

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

std::optional<std::vector<std::string>> shell_words(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;  // that is open
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (quote == 0 && line.substr(i).starts_with("$'")) {
      if (!read_escaped(line, i += 2, words.back())) return std::nullopt;
      continue;
    }
    if (c == quote || (quote == 0 && (c == '"' || c == '\'')))
      quote = c == quote ? '\0' : c;
    else if (c == '\\' && i + 1 < line.size() &&
             (quote == 0 ||
              (quote == '"' && std::string_view("\"\\$`").find(line[i + 1]) != std::string_view::npos)))
      words.back() += line[++i];
    else
      words.back() += c;
  }
  return quote == 0 ? std::optional(words) : std::nullopt;
}

std::string shell_word(const std::string& word) {
  const bool plain = std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_./+-,:@%=").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain && !word.empty()) return word;
  if (!is_shown(word)) return escaped_word(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_line(std::span<const std::string> words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(shell_word(word));
  return fmt::format("{}", fmt::join(quoted, " "));
}

std::vector<size_t> evenly_chosen(size_t n, size_t most) {
  const size_t count = std::min(n, most);
  std::vector<size_t> chosen;
  for (size_t i = 0; i < count; ++i) chosen.push_back(count == 1 ? n - 1 : i * (n - 1) / (count - 1));
  return chosen;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  // row[j] is the distance between the letters of a seen so far and the first j of b.
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  // No name is longer than this; the bound keeps a hostile one from costing time.
  if (known.empty() || name.size() > 100) return "";
  const auto small = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  const auto distance = [&](const std::string& other) {
    return edit_distance(small(std::string(name)), small(other));
  };
  const auto best = std::ranges::min_element(known, {}, distance);
  if (2 * distance(*best) > std::max(name.size(), best->size())) return "";
  return fmt::format("; did you mean {}?", *best);
}

std::string not_one_of(std::span<const std::string> known, std::string_view name) {
  return fmt::format("wanted one of {}, got '{}'{}", fmt::join(known, ", "), one_line(name),
                     did_you_mean(name, known));
}

}  // namespace isobar
