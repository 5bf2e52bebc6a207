// MetricsFile: metrics.jsonl, what each step of a run measured, a line of JSON a step, for others to read
// while the run goes on (MetricsLog does). One thread at a time.
//
//   MetricsFile file("runs/x/metrics.jsonl", "");
//   file.append(metrics_line(12, {{"loss", 2.5}, {"val_loss", NAN}}));
//
// appends {"step":12,"loss":2.5,"val_loss":null}.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace isobar
