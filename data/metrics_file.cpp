#include "metrics_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "../core/error.h"
#include "json_text.h"
#include "utf8_stream.h"

namespace isobar {
namespace {

std::string json_number(double value) {
  if (std::isnan(value)) return "null";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  return fmt::format("{}", value);
}

using Json = nlohmann::ordered_json;  // keeps the order of the columns

// NaN for what is no number of metrics.jsonl; `valid` says whether it is one.
double number_of(const Json& value, bool& valid) {
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return INFINITY;
  if (value == "-inf") return -INFINITY;
  valid &= value.is_null();
  return std::nan("");
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

bool MetricsLog::read() {
  std::shared_ptr<const InputFile> now;
  try {
    now = std::make_shared<InputFile>(path_);
  } catch (const Error&) {
    return false;
  }
  if (file_ == nullptr || !file_->is(*now) || now->size() < offset_) *this = MetricsLog(path_);
  file_ = now;
  std::string fresh(now->size() - offset_, '\0');
  now->read(offset_, fresh.data(), fresh.size());
  offset_ = now->size();

  const size_t before = steps_.size();
  size_t begin = 0;
  for (size_t end; (end = fresh.find('\n', begin)) != std::string::npos; begin = end + 1) {
    half_.append(fresh, begin, end - begin);
    take(half_);
    half_.clear();
  }
  half_.append(fresh, begin);
  return steps_.size() > before;
}

void MetricsLog::take(const std::string& line) {
  const Json json = parse_json<Json>(line);
  bool valid = json.is_object() && json.contains("step") && json["step"].is_number();
  if (valid && steps_.empty()) {
    columns_.clear();
    for (const auto& [name, value] : json.items())
      if (name != "step") columns_.push_back({name, {}});
  }
  valid = valid && json.size() == columns_.size() + 1;
  for (Column& column : columns_) {
    valid = valid && json.contains(column.name);
    if (valid) column.values.push_back(number_of(json[column.name], valid));
  }
  if (!valid)
    throw_error(
        fmt::format("{}: line {}: wanted {{\"step\":…}} with the numbers of the lines before, got '{}'",
                    path_, steps_.size() + 1, one_line(line)));
  steps_.push_back(json["step"].get<double>());
}

}  // namespace isobar
