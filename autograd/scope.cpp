#include "scope.h"

#include <mutex>
#include <unordered_set>

namespace isobar {

thread_local const std::string* Scope::current_ = nullptr;

const std::string* Scope::intern(std::string_view name) {
  static std::mutex mutex;
  static auto* const names =
      new std::unordered_set<std::string>;  // never destroyed: nodes may outlive statics
  std::lock_guard lock(mutex);
  return &*names->emplace(name).first;
}

}  // namespace isobar
