#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace isobar {

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

TerminalSize terminal_size(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

std::string cut(const std::string& text, size_t columns) {
  size_t end = 0, shown = 0;
  for (; end < text.size(); ++end)
    if ((text[end] & 0xC0) != 0x80 && shown++ == columns) break;  // a code point begins
  return text.substr(0, end);
}

}  // namespace isobar
