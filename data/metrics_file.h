// MetricsFile: metrics.jsonl, what each step of a run measured, a line of JSON a step, for others to read
// while the run goes on (MetricsLog does). One thread at a time.
//
//   MetricsFile file("runs/x/metrics.jsonl", "");
//   file.append(metrics_line(12, {{"loss", 2.5}, {"val_loss", NAN}}));
//
// appends {"step":12,"loss":2.5,"val_loss":null}.
#pragma once

#include <memory>

#include "file.h"

namespace isobar {

struct Metric {
  std::string name;
  double value;
};

// With its newline. Numbers read back exactly; NaN, which means "not measured", is null, and infinities are
// the strings "inf" and "-inf".
std::string metrics_line(int64_t step, const std::vector<Metric>& metrics);

class MetricsFile {
 public:
  // Replaces `path` by a file of these lines. Throws Error when it cannot, as append() and sync() do.
  MetricsFile(const std::string& path, const std::string& lines);
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;
  ~MetricsFile();

  // Hands the line to the system at once: readers see it, and a kill does not lose it.
  void append(const std::string& line);
  // Brings all lines to the disk.
  void sync();

 private:
  std::string path_;
  int descriptor_;
};

// MetricsLog: a metrics.jsonl that may still grow, by columns. One thread at a time.
//
//   MetricsLog log("runs/x/metrics.jsonl");
//   while (…) if (log.read()) show(log.steps(), log.columns());
class MetricsLog {
 public:
  struct Column {
    std::string name;
    std::vector<double> values;  // one a step; NaN where there was none
  };

  explicit MetricsLog(std::string path) : path_(std::move(path)) {}

  // Takes the lines that came since; false where there is nothing new, or no file. Half a line, as a writer
  // leaves that is killed, waits for its rest. A file that was replaced by another is read anew. Throws Error
  // where a line is not one of metrics.jsonl, with file and line.
  bool read();

  const std::vector<double>& steps() const { return steps_; }
  const std::vector<Column>& columns() const { return columns_; }

 private:
  void take(const std::string& line);

  std::string path_;
  std::shared_ptr<const InputFile> file_;  // that was read, and stays open: no other then has its number
  uint64_t offset_ = 0;                    // how much of it
  std::string half_;                       // a line that has not ended
  std::vector<double> steps_;
  std::vector<Column> columns_;
};

}  // namespace isobar
