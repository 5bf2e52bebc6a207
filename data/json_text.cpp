#include "json_text.h"

namespace isobar {

bool nested_too_deep(std::string_view json) {
  constexpr int most = 100;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') quoted = !quoted;
    if (quoted)
      i += c == '\\';
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (depth > most) return true;
  }
  return false;
}

}  // namespace isobar
