// MetricsLog: a metrics.jsonl (metrics_file.h) that may still grow, by columns. One thread at a time.
//
//   MetricsLog log("runs/x/metrics.jsonl");
//   while (…) if (log.read()) show(log.steps(), log.columns());
#pragma once

#include <memory>

#include "file.h"

namespace isobar {

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
