// Scope: names the part of the program that records now, such as the module "blocks.3.attention". Nodes keep
// it; errors, prints of a tape and dropout's keys use it. Thread-local, nested like the blocks it stands in.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace isobar {

class Scope {
 public:
  explicit Scope(const std::string* name) : outer_(std::exchange(current_, name)) {}
  ~Scope() { current_ = outer_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // The innermost name, or null outside of all scopes.
  static const std::string* current() { return current_; }
  // A copy of `name` that lives as long as the program: nodes point to it.
  static const std::string* intern(std::string_view name);

 private:
  const std::string* outer_;
  static thread_local const std::string* current_;
};

}  // namespace isobar
