#include "tool.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>

#include "../../core/error.h"
#include "../../core/parallel.h"
#include "environment.h"

namespace isobar {
namespace {

int complain(const std::string& name, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "{}: {}\n", name, message);
  return 2;
}

}  // namespace

Tool::Tool(std::string name, const std::string& about)
    : name_(std::move(name)), app_(std::make_unique<CLI::App>(about, name_)) {
  app_->set_version_flag("--version", fmt::format("{} {}", name_, isobar_version()));
  option("--threads", threads_, "threads (0: as many as the process may use)");
}

Tool::~Tool() = default;

void Tool::word(const std::string& name, std::string& value, const std::string& help) {
  app_->add_option(name, value, help)->required();
}
void Tool::option(const std::string& flags, std::string& value, const std::string& help) {
  app_->add_option(flags, value, help)->capture_default_str()->take_last();
}
void Tool::option(const std::string& flags, int64_t& value, const std::string& help) {
  app_->add_option(flags, value, help)->capture_default_str()->take_last();
}
void Tool::option(const std::string& flags, double& value, const std::string& help) {
  app_->add_option(flags, value, help)->capture_default_str()->take_last();
}
void Tool::option(const std::string& flags, bool& value, const std::string& help) {
  app_->add_flag(flags, value, help);
}

int Tool::run(const std::vector<std::string>& words, const std::function<void()>& body) {
  try {
    app_->parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 wants the last word first
  } catch (const CLI::Success& help) {
    return app_->exit(help);
  } catch (const CLI::ParseError& error) {
    return complain(name_, fmt::format("{}; see {} --help", error.what(), name_));
  }
  try {
    check(threads_ >= 0 && threads_ <= 1024, "--threads: wanted 0 to 1024, got {}", threads_);
    set_threads(threads_ > 0 ? static_cast<int>(threads_) : available_threads());
    body();
    // What is still to be written may be all that the program is for.
    check(std::fflush(stdout) == 0 && std::ferror(stdout) == 0, "stdout: cannot write; is the disk full?");
    return 0;
  } catch (const std::bad_alloc&) {
    return complain(name_, "out of memory");
  } catch (const std::exception& error) {
    return complain(name_, error.what());
  }
}

void write_out(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  check(written && std::fflush(stdout) == 0, "stdout: cannot write; is the disk full?");
}

}  // namespace isobar
