#include "run_watch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace isobar {

RunPhase phase_of(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(descriptor >= 0, "cannot open the folder '{}': {}", folder, std::strerror(errno));
  // A run holds this lock until its process ends, however that ends.
  const bool alone = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  ::close(descriptor);
  if (!alone) return RunPhase::running;
  const std::string summary = folder + "/summary.json";
  if (!std::filesystem::exists(summary)) return RunPhase::stopped;
  check(!nlohmann::json::parse(read_regular_file(summary, size_t{1} << 28), nullptr, false).is_discarded(),
        "{}: is no JSON, though a run writes it whole: what changed it?", summary);
  return RunPhase::finished;
}

RunWatch::RunWatch(const std::string& folder)
    : folder_(folder), log_(folder + "/metrics.jsonl"), module_lines_(folder + "/modules.jsonl") {}

bool RunWatch::refresh(double now) {
  phase_ = phase_of(folder_);  // first: of a run that has ended all lines are there
  const int64_t before = steps_done();
  const bool grown = log_.read();
  check(phase_ == RunPhase::running || steps_done() > 0,
        "'{}' holds no run that takes steps: it has no metrics.jsonl; name the folder that a run of train_lm "
        "has for --out",
        folder_);
  if (!grown) return false;
  if (steps_done() < before) moments_.clear();  // another run's
  moments_.push_back({now, steps_done()});
  while (moments_.size() > 2 && moments_[1].seconds < now - 30) moments_.pop_front();
  module_lines_.read([&](const StepLine& line) { modules_.add(line); }, [&] { modules_ = {}; });
  return true;
}

double RunWatch::steps_per_second() const {
  if (moments_.size() < 2) return std::nan("");
  return static_cast<double>(moments_.back().steps - moments_.front().steps) /
         (moments_.back().seconds - moments_.front().seconds);
}

double RunWatch::tokens_per_second() const {
  return modules_.size.tokens_per_step > 0
             ? steps_per_second() * static_cast<double>(modules_.size.tokens_per_step)
             : std::nan("");
}

double RunWatch::seconds_left() const {
  return total_steps() > 0 ? static_cast<double>(total_steps() - steps_done()) / steps_per_second()
                           : std::nan("");
}

}  // namespace isobar
