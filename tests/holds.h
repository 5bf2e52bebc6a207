// Whether a text holds another.
#pragma once

#include <string_view>

namespace isobar {

inline bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace isobar
