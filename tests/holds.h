// Whether a text holds another.
#pragma once

#include <string>

namespace isobar {

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace isobar
