#include "progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "table.h"

namespace isobar {
namespace {

using namespace std::chrono_literals;

// Held while a bar moves. One for all bars: they share the terminal.
std::mutex moving;

double share(const ProgressState& state) {
  return state.total <= 0 ? 1
                          : std::min(1.0, static_cast<double>(state.done) / static_cast<double>(state.total));
}

}  // namespace

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string time_left(const ProgressState& state) {
  const int64_t passed = state.done - state.begun, left = std::max<int64_t>(0, state.total - state.done);
  if (passed <= 0) return "?";
  return clock_text(state.seconds * static_cast<double>(left) / static_cast<double>(passed));
}

std::string progress_bar(const ProgressState& state, size_t columns) {
  constexpr size_t longest = 20, shortest = 4, frame = 2;  // "[" and "]"
  const std::string text =
      fmt::format("{:3.0f}%  {}/{} {}  ETA {}{}{}", 100 * share(state), state.done, state.total, state.unit,
                  time_left(state), state.note.empty() ? "" : "  ", state.note);
  const size_t needed = display_width(text) + frame + 1;
  if (columns < needed + shortest) return cut(text, columns);
  const size_t width = std::min(longest, columns - needed);
  const auto full = static_cast<size_t>(share(state) * static_cast<double>(width));
  std::string bar;
  for (size_t i = 0; i < width; ++i) bar += i < full ? "█" : "·";
  return fmt::format("[{}] {}", bar, text);
}

std::string progress_line(const ProgressState& state) {
  return fmt::format("{}/{} {} ({:.0f}%), {} passed, {} to go{}{}", state.done, state.total, state.unit,
                     100 * share(state), clock_text(state.seconds), time_left(state),
                     state.note.empty() ? "" : "; ", state.note);
}

Progress::Progress(int64_t total, std::string unit, std::FILE* stream, int64_t done)
    : total_(total),
      unit_(std::move(unit)),
      stream_(stream),
      terminal_(stream != nullptr && is_terminal(stream)),
      start_(Clock::now()),
      begun_(done),
      shown_(start_),
      done_(done) {}

Progress::~Progress() { clear(); }

void Progress::advance(int64_t steps, std::string_view note) {
  const std::lock_guard lock(moving);
  done_ += steps;
  const auto now = Clock::now();
  if (stream_ == nullptr || now - shown_ < (terminal_ ? 100ms : 10s)) return;
  shown_ = now;
  const ProgressState state{done_, total_, unit_, std::chrono::duration<double>(now - start_).count(),
                            note,  begun_};
  if (terminal_) {
    // Back to the line's start, the bar, and away with what an earlier, longer one left.
    // The last column stays free: there a terminal goes on to the next line.
    show(fmt::format("\r{}\x1b[K", progress_bar(state, terminal_size(stream_).columns - 1)));
    bar_visible_ = true;
  } else {
    show(progress_line(state) + "\n");
  }
}

// A stream that cannot be written is no reason to stop.
void Progress::show(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream_);
  std::fflush(stream_);
}

void Progress::clear() {
  const std::lock_guard lock(moving);
  if (!bar_visible_) return;
  show("\r\x1b[K");
  bar_visible_ = false;
}

}  // namespace isobar
