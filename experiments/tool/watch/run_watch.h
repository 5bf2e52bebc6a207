// RunWatch: what others can know of a run by its folder: how far it came, how fast it goes, whether it lives.
//
//   RunWatch run("runs/x");
//   for (…) { run.refresh(seconds); print(run.row(…)); }
//
// It reads metrics.jsonl and modules.jsonl, and writes nothing. One thread.
#pragma once

#include "../../../data/metrics_file.h"
#include "../../lm/watching/module_series.h"

namespace isobar {

// Running: its process holds the lock of the folder. Finished: summary.json is there. Stopped: neither.
enum class RunPhase { running, finished, stopped };
// Throws Error where there is no such folder.
RunPhase phase_of(const std::string& folder);

class RunWatch {
 public:
  explicit RunWatch(const std::string& folder);

  // Looks at the folder `now` seconds after some fixed moment. Returns whether steps were done since. Throws
  // Error where there is no such folder, or no run in it that takes steps.
  bool refresh(double now);

  RunPhase phase() const { return phase_; }
  const MetricsLog& log() const { return log_; }
  int64_t steps_done() const { return static_cast<int64_t>(log_.steps().size()); }
  // Of the whole run; 0 while unknown.
  int64_t total_steps() const { return modules_.size.steps; }
  // Empty before the first log step.
  const std::vector<ModuleHistory>& modules() const { return modules_.modules; }

  // Over the last half minute; NaN while there is but one, or the size of a step is unknown.
  double steps_per_second() const;
  double tokens_per_second() const;
  double seconds_left() const;

 private:
  struct Moment {
    double seconds;
    int64_t steps;
  };

  std::string folder_;
  RunPhase phase_ = RunPhase::stopped;
  MetricsLog log_;
  StepLines module_lines_;
  ModuleHistories modules_;
  std::deque<Moment> moments_;  // refreshes that saw new steps
};

}  // namespace isobar
