#include "json_string.h"

#include <fmt/format.h>

namespace isobar {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += '\\', result += c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == '<')
      result += fmt::format("\\u{:04x}", c);
    else
      result += c;
  }
  return result + '"';
}

}  // namespace isobar
