// Error: the one exception of the library, and check(), the one way to throw it.
//
//   check(x.ndim() == 2, "matmul: wanted a matrix, got {}", x.shape());
//
// A message names the op, what was wanted, what it got (with shapes), and the repair if it is known. Any
// thread may throw and catch errors.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace isobar {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message), message_(message) {}
  const char* what() const noexcept override { return message_.c_str(); }

  // Puts "in <module path>: " before the message, once: the path of the innermost module stays.
  void locate(std::string_view module_path);

 private:
  std::string message_;
  bool located_ = false;
};

[[noreturn]] void throw_error(std::string message);

// Throws Error with the formatted message if `ok` is false, in every build. It is for mistakes of the caller;
// the library's own are asserted.
template <class... Args>
void check(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    throw_error(fmt::format(format, std::forward<Args>(args)...));
}

// A formatter for fmt: writes x.text() for a type that has it, otherwise name_of(x). It takes no format
// options.
struct TextFormatter {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  auto format(const auto& x, fmt::format_context& context) const {
    if constexpr (requires { x.text(); })
      return fmt::format_to(context.out(), "{}", x.text());
    else
      return fmt::format_to(context.out(), "{}", name_of(x));
  }
};

}  // namespace isobar
