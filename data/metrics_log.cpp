#include "metrics_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "../core/error.h"
#include "json_text.h"
#include "utf8_stream.h"

namespace isobar {
namespace {

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

bool MetricsLog::read() {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct stat status {};
  ::fstat(descriptor, &status);
  if (status.st_ino != file_ || status.st_size < offset_) {
    *this = MetricsLog(path_);
    file_ = status.st_ino;
  }
  std::string fresh;
  char block[1 << 16];
  for (ssize_t got = 1; got > 0; offset_ += got, fresh.append(block, static_cast<size_t>(got)))
    got = std::max<ssize_t>(0, ::pread(descriptor, block, sizeof block, offset_));
  ::close(descriptor);

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
  check(valid, "{}: line {}: wanted {{\"step\":…}} with the numbers of the lines before, got '{}'", path_,
        steps_.size() + 1, one_line(line));
  steps_.push_back(json["step"].get<double>());
}

}  // namespace isobar
