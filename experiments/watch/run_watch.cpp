#include "run_watch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "../../data/utf8_stream.h"
#include "../harness/bytes.h"
#include "../harness/process.h"

namespace isobar {
namespace {

// What a run's HDF5 file says.
struct Series {
  int64_t total_steps = 0, tokens_per_step = 0;
  std::vector<ModuleHistory> modules = {};
};

Series read_series(const std::string& path) {
  const Hdf5File file = Hdf5File::open_live(path);
  const auto number = [&](const char* name) {
    return file.has_attribute("/", name) ? file.int_attribute("/", name) : int64_t{0};
  };
  return {number("steps"), number("tokens_per_step"), module_histories(file)};
}

// Ten seconds, and a gibibyte more than there is now.
void limit_process() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t memory =
      static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{1} << 30);
  const auto limit = [](auto what, rlim_t most) {
    const rlimit both{most, most};
    ::setrlimit(what, &both);
  };
  limit(RLIMIT_AS, memory);
  limit(RLIMIT_CPU, 10);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
}

// The folder may be a stranger's, and libhdf5 is not safe against a file that somebody made to harm: a
// child process opens it. Nothing where that fails or crashes.
std::optional<Series> series_of(const std::string& path) {
  try {
    const Finished child = run_apart([&] {
      limit_process();
      return to_bytes(read_series(path));
    });
    if (child.code == 0) return from_bytes<Series>(child.out);
  } catch (const std::exception&) {  // the child wrote something else
  }
  return std::nullopt;
}

}  // namespace

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
        "has for --out",
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
    std::optional<Series> series = series_of(folder_ + name);
    if (!series) continue;  // it has just got its other name; the next refresh reads it
    total_steps_ = series->total_steps;
    tokens_per_step_ = series->tokens_per_step;
    modules_ = std::move(series->modules);
    for (ModuleHistory& module : modules_) {
      module.path = one_line(module.path);
      module.type = one_line(module.type);
    }
    return;
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
