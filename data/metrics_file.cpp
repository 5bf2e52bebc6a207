#include "metrics_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "../core/error.h"
#include "file.h"

namespace isobar {
namespace {

std::string json_number(double value) {
  if (std::isnan(value)) return "null";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  return fmt::format("{}", value);
}

}  // namespace

std::string metrics_line(int64_t step, const std::vector<Metric>& metrics) {
  std::string line = fmt::format("{{\"step\":{}", step);
  for (const auto& [name, value] : metrics) line += fmt::format(",\"{}\":{}", name, json_number(value));
  return line + "}\n";
}

MetricsFile::MetricsFile(const std::string& path, const std::string& lines) : path_(path) {
  write_file_atomically(path, lines);
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  check(descriptor_ >= 0, "file: cannot open '{}': {}", path, std::strerror(errno));
}

MetricsFile::~MetricsFile() { ::close(descriptor_); }

void MetricsFile::append(const std::string& line) {
  for (size_t done = 0; done < line.size();) {
    const ssize_t written = ::write(descriptor_, line.data() + done, line.size() - done);
    check(written >= 0 || errno == EINTR, "file: cannot write '{}': {}", path_, std::strerror(errno));
    if (written > 0) done += static_cast<size_t>(written);
  }
}

void MetricsFile::sync() {
  check(::fsync(descriptor_) == 0, "file: cannot write '{}': {}", path_, std::strerror(errno));
}

}  // namespace isobar
