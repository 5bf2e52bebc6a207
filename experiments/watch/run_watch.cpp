#include "run_watch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "../../core/error.h"
#include "../../data/hdf5_file.h"
#include "../../data/utf8_stream.h"

namespace isobar {

RunPhase phase_of(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(descriptor >= 0, "cannot open the folder '{}': {}", folder, std::strerror(errno));
  // A run holds this lock until its process ends, however that ends.
  const bool alone = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  ::close(descriptor);
  if (!alone) return RunPhase::running;
  return std::filesystem::exists(folder + "/summary.json") ? RunPhase::finished : RunPhase::stopped;
}

RunWatch::RunWatch(const std::string& folder) : folder_(folder), log_(folder + "/metrics.jsonl") {}

bool RunWatch::refresh(double now) {
  phase_ = phase_of(folder_);  // first: of a run that has ended all lines are there
  const int64_t before = steps_done();
  const bool grown = log_.read();
  check(phase_ == RunPhase::running || steps_done() > 0,
        "'{}' holds no run that takes steps: it has no metrics.jsonl; name the folder that a run of train_lm "
        "has "
        "for --out",
        folder_);
  if (!grown) return false;
  if (steps_done() < before) moments_.clear();  // another run's
  moments_.push_back({now, steps_done()});
  while (moments_.size() > 2 && moments_[1].seconds < now - 30) moments_.pop_front();
  read_file();
  return true;
}

// From run.partial.h5, or from run.h5, its name at the end. Neither may be there at this moment.
void RunWatch::read_file() {
  for (const char* name : {"/run.partial.h5", "/run.h5"}) {
    if (!std::filesystem::exists(folder_ + name)) continue;
    try {
      const Hdf5File file = Hdf5File::open_live(folder_ + name);
      if (file.has_attribute("/", "steps")) total_steps_ = file.int_attribute("/", "steps");
      if (file.has_attribute("/", "tokens_per_step"))
        tokens_per_step_ = file.int_attribute("/", "tokens_per_step");
      modules_ = module_histories(file);
      for (ModuleHistory& module : modules_) {
        module.path = one_line(module.path);
        module.type = one_line(module.type);
      }
      return;
    } catch (const Error&) {
      // It has just got its other name; the next refresh reads it.
    }
  }
}

double RunWatch::steps_per_second() const {
  if (moments_.size() < 2) return std::nan("");
  return static_cast<double>(moments_.back().steps - moments_.front().steps) /
         (moments_.back().seconds - moments_.front().seconds);
}

double RunWatch::tokens_per_second() const {
  return tokens_per_step_ > 0 ? steps_per_second() * static_cast<double>(tokens_per_step_) : std::nan("");
}

double RunWatch::seconds_left() const {
  return total_steps_ > 0 ? static_cast<double>(total_steps_ - steps_done()) / steps_per_second()
                          : std::nan("");
}

}  // namespace isobar
