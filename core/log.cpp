#include "log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "error.h"

namespace isobar {
namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto log =
        std::make_shared<spdlog::logger>("isobar", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    log->set_level(spdlog::level::warn);
    log->set_pattern("%^%l%$: %v");
    return log;
  }();
  return *instance;
}

}  // namespace

void set_log_level(std::string_view level) {
  const auto wanted = spdlog::level::from_str(std::string(level));
  check(wanted != spdlog::level::off || level == "off",
        "log level: wanted debug, info, warn, error or off, got '{}'", level);
  logger().set_level(wanted);
}

bool log_shows_debug() { return logger().should_log(spdlog::level::debug); }
void log_debug_text(const std::string& text) { logger().debug(text); }
void log_info_text(const std::string& text) { logger().info(text); }
void log_warn_text(const std::string& text) { logger().warn(text); }

}  // namespace isobar
