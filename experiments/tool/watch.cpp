// isobar watch: how a run of train_lm goes, while it goes, or how it went. It writes nothing there. Exit
// codes: 0 the run has finished (or --once), 1 it stopped before its end, 2 bad usage, 130 Ctrl-C.
#include <csignal>
#include <cstdlib>

#include "../../data/utf8_stream.h"
#include "../run/lists.h"
#include "../run/tool.h"
#include "verbs.h"
#include "watch/view.h"

namespace isobar::verbs {
namespace {

using Clock = std::chrono::steady_clock;

struct WatchOptions {
  std::string folder;
  bool once = false;
  double interval = 0;
};

volatile std::sig_atomic_t interrupted = 0;

// False when Ctrl-C came.
bool pause(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (interrupted == 0 && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return interrupted == 0;
}

// "runs/x: running, 120 of 2000 steps"
std::string title(const RunWatch& run, const std::string& folder) {
  const char* phase = run.phase() == RunPhase::running    ? "running"
                      : run.phase() == RunPhase::finished ? "finished"
                                                          : "stopped before its end";
  return fmt::format("{}: {}, {} of {} steps", one_line(folder), phase, run.steps_done(),
                     run.total_steps() > 0 ? std::to_string(run.total_steps()) : "?");
}

// The screen from its upper left corner, each line and what is below cleared of what stood there.
std::string redrawn(const std::string& text) {
  std::string drawn = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') drawn += "\x1b[K";
    drawn += c;
  }
  return drawn + "\x1b[J";
}

// The exit code.
int follow(const WatchOptions& options) {
  const bool terminal = is_terminal(stdout) && !options.once;
  const double interval = options.interval > 0 ? options.interval : terminal ? 1 : 10;
  if (std::signal(SIGINT, [](int) { interrupted = 1; }) == SIG_IGN) std::signal(SIGINT, SIG_IGN);  // nohup
  // A table that goes into a file is whole.
  const bool narrow = is_terminal(stdout) || std::getenv("COLUMNS") != nullptr;
  const size_t columns = terminal_size(stdout).columns, of_table = narrow ? columns : SIZE_MAX;
  RunWatch run(options.folder);
  std::vector<std::string> rows;
  const Clock::time_point start = Clock::now();
  for (bool first = true;; first = false) {
    const bool grown = run.refresh(std::chrono::duration<double>(Clock::now() - start).count());
    if (first && !grown && !options.once) write_out("waiting for the first step\n");
    const size_t known = rows.size();
    if (grown)
      for (const size_t step : chosen_steps(run, known == 0 ? 5 : 1)) rows.push_back(table_row(run, step));
    if (terminal && grown) {
      if (known == 0) write_out("\x1b[2J");
      write_out(redrawn(screen(run, title(run, options.folder), rows, terminal_size(stdout))));
    } else if (grown) {
      if (known == 0) write_out(within(table_heading(run), of_table));
      for (size_t i = known; i < rows.size(); ++i) write_out(within(rows[i], of_table));
    }
    if (options.once) {
      if (!rows.empty()) write_out(fmt::format("\n{}\n", within(metric_charts(run, 24, columns), of_table)));
      if (!run.modules().empty()) write_out(module_table(run.modules(), SIZE_MAX, columns) + "\n");
      write_out(title(run, options.folder) + "\n");
      return 0;
    }
    if (run.phase() == RunPhase::finished) {
      write_out(title(run, options.folder) + "\n");
      return 0;
    }
    if (run.phase() == RunPhase::stopped) {
      complain(stderr, "isobar watch",
               fmt::format("{}; train_lm --resume {} goes on from its last checkpoint",
                           title(run, options.folder), shell_word(options.folder)));
      return 1;
    }
    if (!pause(interval)) return 130;
  }
}

}  // namespace

int watch(const Words& words) {
  WatchOptions options;
  Tool tool("isobar watch", "Shows the progress of a run of train_lm: a table, and charts on a terminal.",
            "isobar watch runs/train_lm");
  tool.word("DIR", options.folder, "the folder of the run");
  tool.option("--once", options.once, "show the state now, and exit");
  tool.option("--interval", options.interval,
              "seconds between updates; 0 means 1 on a terminal and 10 otherwise", at_least(0));
  return tool.run(words, [&] { return follow(options); });
}

}  // namespace isobar::verbs
