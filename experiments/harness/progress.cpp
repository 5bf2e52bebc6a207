#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace isobar {
namespace {

using namespace std::chrono_literals;

// "0:07", "12:30", "1:02:03"
std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

double share(int64_t done, int64_t total) {
  return total <= 0 ? 1 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
}

// Time left if the rest goes as fast as what is done; "?" before the first step.
std::string time_left(int64_t done, int64_t total, double seconds) {
  if (done <= 0) return "?";
  return clock_text(seconds * static_cast<double>(std::max<int64_t>(0, total - done)) /
                    static_cast<double>(done));
}

}  // namespace

std::string progress_bar(int64_t done, int64_t total, std::string_view unit, double seconds,
                         std::string_view note) {
  constexpr int width = 20;
  const int full = static_cast<int>(share(done, total) * width);
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < full ? "█" : "·";
  return fmt::format("[{}] {:3.0f}%  {}/{} {}  ETA {}{}{}", bar, 100 * share(done, total), done, total, unit,
                     time_left(done, total, seconds), note.empty() ? "" : "  ", note);
}

std::string progress_line(int64_t done, int64_t total, std::string_view unit, double seconds,
                          std::string_view note) {
  return fmt::format("{}/{} {} ({:.0f}%), {} passed, {} to go{}{}", done, total, unit,
                     100 * share(done, total), clock_text(seconds), time_left(done, total, seconds),
                     note.empty() ? "" : "; ", note);
}

Progress::Progress(int64_t total, std::string unit, std::FILE* stream)
    : total_(total),
      unit_(std::move(unit)),
      stream_(stream),
      terminal_(isatty(fileno(stream)) != 0),
      start_(Clock::now()),
      shown_(start_) {}

Progress::~Progress() { clear(); }

void Progress::advance(int64_t steps, std::string_view note) {
  done_ += steps;
  const auto now = Clock::now();
  if (now - shown_ < (terminal_ ? 100ms : 10s)) return;
  shown_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (terminal_) {
    // Back to the line's start, the bar, and away with what an earlier, longer one left.
    fmt::print(stream_, "\r{}\x1b[K", progress_bar(done_, total_, unit_, seconds, note));
    bar_visible_ = true;
  } else {
    fmt::print(stream_, "{}\n", progress_line(done_, total_, unit_, seconds, note));
  }
  std::fflush(stream_);
}

void Progress::clear() {
  if (!bar_visible_) return;
  fmt::print(stream_, "\r\x1b[K");
  std::fflush(stream_);
  bar_visible_ = false;
}

}  // namespace isobar
