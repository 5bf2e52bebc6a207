#include "error.h"

namespace isobar {

void Error::locate(std::string_view module_path) {
  if (located_ || module_path.empty()) return;
  message_ = fmt::format("in {}: {}", module_path, message_);
  located_ = true;
}

void throw_error(std::string message) { throw Error(message); }

}  // namespace isobar
