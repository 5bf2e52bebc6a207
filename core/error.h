// Error: the one exception of the library, and check(), the one way to throw it.
//
//   check(x.ndim() == 2, "matmul: wanted a matrix, got {}", x.shape());
//
// A message names the op, what was wanted, what came (shapes included), and the repair where we know it.
// Errors are values: any thread may throw and catch them.
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

  // Puts "in <module path>: " before the message, the first time only: the innermost module's path stays.
  void locate(std::string_view module_path);

 private:
  std::string message_;
  bool located_ = false;
};

[[noreturn]] void throw_error(std::string message);

// Throws Error with the formatted message when `ok` is false, in every build. For callers' mistakes; our own
// are asserted.
template <class... Args>
void check(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    throw_error(fmt::format(format, std::forward<Args>(args)...));
}

// Formats what has a text() as that, and anything else as its name_of(). It takes no format options.
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
