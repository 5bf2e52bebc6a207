// The library's log, on stderr. The library itself speaks at debug level only; programs may talk.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace isobar {

// Least severe level that is shown: "debug", "info", "warn", "error" or "off". Default: "warn".
void set_log_level(std::string_view level);
bool log_shows_debug();

void log_debug_text(const std::string& text);
void log_info_text(const std::string& text);
void log_warn_text(const std::string& text);

template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  if (log_shows_debug()) log_debug_text(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_info_text(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warn(fmt::format_string<Args...> format, Args&&... args) {
  log_warn_text(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace isobar
