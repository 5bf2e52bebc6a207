// Files of JSON lines: what a run measures, as it goes. metrics.jsonl has a line for each step, modules.jsonl
// one for each log step. Others read them while they grow (StepLines, MetricsLog). One thread at a time.
//
//   MetricsFile file("runs/x/metrics.jsonl");
//   file.append(metrics_line(12, {{"loss", 2.5}, {"val_loss", NAN}}));
//
// appends {"step":12,"loss":2.5,"val_loss":null}.
//
// Numbers are written with as few digits as read back exactly. NaN, which means "not measured", is null, and
// infinities are the strings "inf" and "-inf".
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <variant>

#include "file.h"

namespace isobar {

// A named measurement of a step.
struct Metric {
  std::string name;
  double value;
};

// A value of a line: a number, a list of numbers, or a list of texts.
struct StepValue {
  std::string name;
  std::variant<double, std::vector<double>, std::vector<std::string>> value;
};

// A line, read. Each function throws Error that names the value where there is none of this name and type.
struct StepLine {
  int64_t step;
  std::vector<StepValue> values;  // in their order in the line

  double number(const std::string& name) const;
  const std::vector<double>& numbers(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;
};

// Returns the line of JSON, with its newline, of the values of a step.
std::string step_line(int64_t step, const std::vector<StepValue>& values);
// Returns the line of JSON, with its newline, of the metrics of a step.
std::string metrics_line(int64_t step, const std::vector<Metric>& metrics);

// Reads a line without its newline. Throws Error where it is none of step_line()'s.
StepLine parse_step_line(std::string_view line);

class MetricsFile {
 public:
  // Replaces `path` by a file without lines. Throws Error where it cannot, as append() and sync() do.
  explicit MetricsFile(const std::string& path) : MetricsFile(path, OutputFile(path)) {}
  // The same with the lines that are in `begun` so far, which is a file for this path.
  MetricsFile(const std::string& path, OutputFile&& begun);
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;
  ~MetricsFile();

  // Hands the line to the system at once: readers see it, and a kill does not lose it. Whole, or not at all.
  void append(const std::string& line);
  // Brings all lines to the disk.
  void sync();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

// StepLines: the lines of a file that may still grow.
//
//   StepLines lines("runs/x/metrics.jsonl");
//   while (…) lines.read([&](const StepLine& line) { show(line); });
class StepLines {
 public:
  explicit StepLines(std::string path) : path_(std::move(path)) {}

  // Calls take() with each line that came since the last call, up to `most` of them, and returns how many
  // these are; 0 also where there is no file. Part of a line, as a killed writer leaves it, waits for its
  // rest. Where the file was replaced by another, begin_anew() is called, and the other is read from its
  // beginning. Needs no more memory than a line and a block. Errors, of a line that is none and of take(),
  // name file and line.
  int64_t read(const std::function<void(const StepLine&)>& take, const std::function<void()>& begin_anew = {},
               int64_t most = std::numeric_limits<int64_t>::max());

 private:
  void take_line(std::string_view line, const std::function<void(const StepLine&)>& take);

  std::string path_;
  std::shared_ptr<const InputFile> file_;  // that was read, and stays open: no other then has its number
  uint64_t offset_ = 0;                    // how much of it
  std::string half_;                       // a line that has not ended
  int64_t lines_ = 0;
};

// Appends the first `count` lines of the file at `source` to `lines`, or all where there are fewer; what
// comes after them may be cut off or damaged.
void copy_lines(const std::string& source, int64_t count, OutputFile& lines);

// MetricsLog: a metrics.jsonl that may still grow, by columns.
//
//   MetricsLog log("runs/x/metrics.jsonl");
//   while (…) if (log.read()) show(log.steps(), log.columns());
class MetricsLog {
 public:
  struct Column {
    std::string name;
    std::vector<double> values;  // one a step; NaN where there was none
  };

  explicit MetricsLog(std::string path) : lines_(std::move(path)) {}

  // Takes the lines that came since; false where there is nothing new, or no file. Throws Error where a line
  // has not the numbers of the lines before.
  bool read();

  const std::vector<double>& steps() const { return steps_; }
  const std::vector<Column>& columns() const { return columns_; }

 private:
  void take(const StepLine& line);

  StepLines lines_;
  std::vector<double> steps_;
  std::vector<Column> columns_;
};

}  // namespace isobar
