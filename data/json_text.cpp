#include "json_text.h"

#include <algorithm>

#include "utf8_stream.h"

namespace isobar {

std::string json_complaint(std::string_view what) {
  if (what.starts_with('[')) what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
  return one_line(what.substr(0, what.find("; last read: ")), 200);
}

}  // namespace isobar
