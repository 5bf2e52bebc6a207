#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace isobar {
namespace {

// What COLUMNS says; 0: nothing that is a width.
size_t columns_of_environment() {
  const char* text = std::getenv("COLUMNS");
  size_t columns = 0;
  if (text == nullptr) return 0;
  const char* end = text + std::strlen(text);
  const auto [read, error] = std::from_chars(text, end, columns);
  return error == std::errc() && read == end && columns <= 10000 ? columns : 0;
}

// How much of a word that is longer than a line goes onto it, in bytes.
size_t break_in(const std::string& word, size_t columns) {
  const size_t most = cut(word, columns).size(), comma = word.rfind(',', most - 1);
  return comma == std::string::npos ? most : comma + 1;
}

void add_wrapped(const std::string& paragraph, size_t columns, std::vector<std::string>& lines) {
  std::string line;
  size_t at = 0;
  do {
    const size_t end = word_end(paragraph, at);
    std::string word = paragraph.substr(at, end - at);
    at = end + 1;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > columns) {
      lines.push_back(line);
      line.clear();
    }
    while (display_width(word) > columns) {
      const size_t taken = break_in(word, columns);
      lines.push_back(word.substr(0, taken));
      word.erase(0, taken);
    }
    line += (line.empty() ? "" : " ") + word;
  } while (at < paragraph.size());
  lines.push_back(line);
}

}  // namespace

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

TerminalSize terminal_size(std::FILE* stream) {
  winsize size{};
  TerminalSize result;
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
    result = {size.ws_row, size.ws_col};
  if (const size_t columns = columns_of_environment(); columns > 0) result.columns = columns;
  return result;
}

std::string cut(const std::string& text, size_t columns) {
  size_t end = 0, shown = 0;
  for (; end < text.size(); ++end)
    if ((text[end] & 0xC0) != 0x80 && shown++ == columns) break;  // a code point begins
  return text.substr(0, end);
}

size_t word_end(std::string_view text, size_t at) {
  for (size_t end = at; end < text.size(); ++end) {
    if (text[end] == ' ') return end;
    const bool numbers =
        text[end] == '[' && end + 1 < text.size() && std::strchr("-.0123456789", text[end + 1]);
    if (const size_t close = text.find(']', end); numbers && close != std::string_view::npos) end = close;
  }
  return text.size();
}

std::vector<std::string> wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> lines;
  size_t at = 0;
  do {
    const size_t end = std::min(text.find('\n', at), text.size());
    add_wrapped(std::string(text.substr(at, end - at)), std::max<size_t>(columns, 1), lines);
    at = end + 1;
  } while (at < text.size());
  return lines;
}

size_t display_width(std::string_view text) {
  // Every byte but a continuation byte (10xxxxxx) begins a code point.
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace isobar
