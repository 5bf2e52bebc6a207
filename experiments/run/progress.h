// Progress: how far a loop has come and when it will end, on stderr. On a terminal a bar that redraws itself;
// else a plain line every ten seconds, so that a log stays readable.
//
//   Progress progress(seeds, "seeds");
//   for (…) { …; progress.advance(1, fmt::format("loss {:.3f}", loss)); }
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace isobar {

class Progress {
 public:
  // Of `total` steps of `unit` ("seeds", "iterations"), `done` are done. Without a stream nothing is shown.
  Progress(int64_t total, std::string unit, std::FILE* stream = stderr, int64_t done = 0);
  // Clears the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `steps` more are done; any thread may call it. `note` is shown after the bar until the next call.
  void advance(int64_t steps = 1, std::string_view note = {});
  // Clears the bar so that other text can be printed; the next advance() draws it again.
  void clear();

 private:
  void show(const std::string& text);

  using Clock = std::chrono::steady_clock;

  const int64_t total_;
  const std::string unit_;
  std::FILE* const stream_;
  const bool terminal_;
  const Clock::time_point start_;
  const int64_t begun_;
  Clock::time_point shown_;
  int64_t done_;
  bool bar_visible_ = false;
};

struct ProgressState {
  int64_t done, total;
  std::string_view unit;
  double seconds;  // passed since `begun` of them were done
  std::string_view note = {};
  int64_t begun = 0;
};

// The texts it shows: "[█████·····]  50%  10/20 seeds  ETA 0:12  note" and
// "10/20 seeds (50%), 0:12 passed, 0:12 to go; note". The bar is as long as fits into so many columns, up to
// 20; where nothing of it does, the text ends early.
std::string progress_bar(const ProgressState& state, size_t columns);
std::string progress_line(const ProgressState& state);

// "0:07", "12:30", "1:02:03"
std::string clock_text(double seconds);
// Time left if the rest goes as fast as what was done; "?" before the first step.
std::string time_left(const ProgressState& state);

}  // namespace isobar
