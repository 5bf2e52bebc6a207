#include "metrics_file.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>

#include "../core/error.h"
#include "json_text.h"
#include "utf8_stream.h"

namespace isobar {
namespace {

using OrderedJson = nlohmann::ordered_json;  // keeps the order of the values

constexpr size_t block_bytes = size_t{1} << 16, longest_line = size_t{1} << 26;

std::string json_text_of(const std::string& text) {
  return OrderedJson(text).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string json_text_of(double value) {
  if (std::isnan(value)) return "null";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  if (value == 0 && std::signbit(value)) return "-0.0";  // JSON readers take -0 for the integer 0
  return fmt::format("{}", value);
}

template <class T>
std::string json_text_of(const std::vector<T>& list) {
  std::string text = "[";
  for (const T& value : list) (text += text.size() > 1 ? "," : "") += json_text_of(value);
  return text + "]";
}

// NaN for what is no number of a line; `valid` says whether it is one.
double number_of(const OrderedJson& value, bool& valid) {
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return INFINITY;
  if (value == "-inf") return -INFINITY;
  valid &= value.is_null();
  return std::nan("");
}

bool all_texts(const OrderedJson& list) {
  return std::ranges::all_of(list, [](const OrderedJson& one) { return one.is_string(); });
}

// A list of numbers, where it is one: ["inf"] is.
StepValue value_of(const std::string& name, const OrderedJson& value, bool& valid) {
  if (!value.is_array()) return {name, number_of(value, valid)};
  bool numbers = true;
  std::vector<double> list;
  list.reserve(value.size());
  for (const OrderedJson& one : value) list.push_back(number_of(one, numbers));
  if (numbers) return {name, std::move(list)};
  if (all_texts(value)) return {name, value.get<std::vector<std::string>>()};
  valid = false;
  return {name, 0.0};
}

const auto& value_named(const StepLine& line, const std::string& name) {
  const auto found = std::ranges::find(line.values, name, &StepValue::name);
  check(found != line.values.end(), "wanted a value '{}'", one_line(name));
  return found->value;
}

}  // namespace

double StepLine::number(const std::string& name) const {
  const auto* const found = std::get_if<double>(&value_named(*this, name));
  check(found != nullptr, "wanted a number as '{}'", one_line(name));
  return *found;
}

const std::vector<double>& StepLine::numbers(const std::string& name) const {
  const auto* const found = std::get_if<std::vector<double>>(&value_named(*this, name));
  check(found != nullptr, "wanted a list of numbers as '{}'", one_line(name));
  return *found;
}

std::vector<std::string> StepLine::texts(const std::string& name) const {
  const auto& value = value_named(*this, name);
  const auto* const empty = std::get_if<std::vector<double>>(&value);
  if (empty != nullptr && empty->empty()) return {};
  const auto* const found = std::get_if<std::vector<std::string>>(&value);
  check(found != nullptr, "wanted a list of texts as '{}'", one_line(name));
  return *found;
}

std::string step_line(int64_t step, const std::vector<StepValue>& values) {
  std::string line = fmt::format("{{\"step\":{}", step);
  for (const auto& [name, value] : values) {
    line += fmt::format(",{}:", json_text_of(name));
    line += std::visit([](const auto& held) { return json_text_of(held); }, value);
  }
  return line + "}\n";
}

std::string metrics_line(int64_t step, const std::vector<Metric>& metrics) {
  std::vector<StepValue> values;
  for (const auto& [name, value] : metrics) values.push_back({name, value});
  return step_line(step, values);
}

StepLine parse_step_line(std::string_view line) {
  const OrderedJson json = parse_json<OrderedJson>(line);
  bool valid = json.is_object() && json.contains("step") && json["step"].is_number_integer();
  StepLine read{valid ? json["step"].get<int64_t>() : 0, {}};
  if (valid)
    for (const auto& [name, value] : json.items())
      if (name != "step") read.values.push_back(value_of(name, value, valid));
  check(valid, "wanted {{\"step\":…}} with numbers and lists, got '{}'", one_line(line));
  return read;
}

MetricsFile::MetricsFile(const std::string& path, OutputFile&& begun) : path_(path) {
  begun.finish();
  begun.save();
  descriptor_ = open_to_append(path);
}

MetricsFile::~MetricsFile() { ::close(descriptor_); }

void MetricsFile::append(const std::string& line) { append_to(descriptor_, line, path_); }

void MetricsFile::sync() {
  check(::fsync(descriptor_) == 0, "file: cannot write '{}': {}", path_, std::strerror(errno));
}

int64_t StepLines::read(const std::function<void(const StepLine&)>& take,
                        const std::function<void()>& begin_anew, int64_t most) {
  std::shared_ptr<const InputFile> now;
  try {
    now = std::make_shared<InputFile>(path_);
  } catch (const Error&) {
    return 0;
  }
  if (file_ == nullptr || !file_->is(*now) || now->size() < offset_) {
    *this = StepLines(path_);
    if (begin_anew) begin_anew();
  }
  file_ = now;
  const int64_t before = lines_;
  std::string block;
  while (offset_ < now->size() && lines_ - before < most) {
    block.resize(std::min<uint64_t>(block_bytes, now->size() - offset_));
    now->read(offset_, block.data(), block.size());
    size_t begin = 0;
    for (size_t end; lines_ - before < most && (end = block.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      half_.append(block, begin, end - begin);
      take_line(half_, take);
      half_.clear();
    }
    if (lines_ - before < most) {
      half_.append(block, begin);
      begin = block.size();
    }
    check(half_.size() <= longest_line, "{}: line {}: wanted at most {} bytes", path_, lines_ + 1,
          longest_line);
    offset_ += begin;
  }
  return lines_ - before;
}

void StepLines::take_line(std::string_view line, const std::function<void(const StepLine&)>& take) {
  ++lines_;
  try {
    take(parse_step_line(line));
  } catch (const Error& error) {
    throw_error(fmt::format("{}: line {}: {}", path_, lines_, error.what()));
  }
}

void copy_lines(const std::string& source, int64_t count, OutputFile& lines) {
  std::exception_ptr failure;  // of writing: no fault of the line that was read
  const auto copy = [&](const StepLine& line) {
    try {
      if (failure == nullptr) lines.append(step_line(line.step, line.values));
    } catch (const Error&) {
      failure = std::current_exception();
    }
  };
  StepLines(source).read(copy, {}, count);
  if (failure != nullptr) std::rethrow_exception(failure);
}

bool MetricsLog::read() {
  return lines_.read([&](const StepLine& line) { take(line); },
                     [&] {
                       steps_.clear();
                       columns_.clear();
                     }) > 0;
}

void MetricsLog::take(const StepLine& line) {
  if (steps_.empty()) {
    columns_.clear();
    for (const StepValue& value : line.values) columns_.push_back({value.name, {}});
  }
  check(line.values.size() == columns_.size(), "wanted the {} numbers of the lines before, got {}",
        columns_.size(), line.values.size());
  for (Column& column : columns_) column.values.push_back(line.number(column.name));
  steps_.push_back(static_cast<double>(line.step));
}

}  // namespace isobar
