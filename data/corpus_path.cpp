#include "corpus_path.h"

#include <cstdlib>
#include <system_error>

namespace isobar {
namespace {

// The value of an environment variable; empty if it is unset.
std::filesystem::path folder_from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

// The user's cache folder; empty if there is none. A relative XDG_CACHE_HOME is ignored, as the XDG
// base directory specification demands.
std::filesystem::path cache_folder() {
  const auto cache = folder_from_environment("XDG_CACHE_HOME");
  if (cache.is_absolute()) return cache;
  const auto home = folder_from_environment("HOME");
  return home.empty() ? home : home / ".cache";
}

}  // namespace

std::filesystem::path find_tiny_shakespeare() {
  const auto data = folder_from_environment("ISOBAR_DATA"), cache = cache_folder();
  std::error_code unreadable;  // a folder without permission counts as empty
  if (!data.empty() && std::filesystem::is_regular_file(data / "tinyshakespeare.txt", unreadable))
    return data / "tinyshakespeare.txt";
  if (!cache.empty() && std::filesystem::is_regular_file(cache / "isobar/tinyshakespeare.txt", unreadable))
    return cache / "isobar/tinyshakespeare.txt";
  return {};
}

}  // namespace isobar
