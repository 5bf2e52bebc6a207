// What watch shows of a run: rows of a table, and a whole screen with charts.
#pragma once

#include "../../run/table.h"
#include "run_watch.h"

namespace isobar {

// The columns' names: step, the metrics, tokens/s, ETA.
std::string table_heading(const RunWatch& run);
// The row of the step at this place of the log. A metric that is not measured in every step is shown as it
// was last. Speed and time to go are those of now: for the last step alone, "–" elsewhere.
std::string table_row(const RunWatch& run, size_t index);
// Up to `count` places of steps, evenly chosen, with the last and, of several, the first among them.
std::vector<size_t> chosen_steps(const RunWatch& run, size_t count);

// A chart of each metric, as many beside each other as fit; val_x is in that of x. All have rows × columns.
std::string metric_charts(const RunWatch& run, size_t rows, size_t columns);

// A bar, the last of `rows`, charts and a table of modules, within the terminal.
std::string screen(const RunWatch& run, const std::string& title, const std::vector<std::string>& rows,
                   TerminalSize size);

// The lines of a text, each as far as it fits into so many columns.
std::string within(const std::string& text, size_t columns);

// --- Each module's std and gradient norm at the first log step and now, and how they moved between; and,
// where there is room, the shares of its output that are zero and saturated now.

// The values as blocks of rising height on a logarithmic scale from least to greatest: "▁▃▅█"; of more than
// columns evenly chosen ones. Infinity is "↑"; what is not positive is a blank.
std::string sparkline(const std::vector<double>& values, size_t columns);

// A heading of two lines and a line for each module, within rows × columns: all modules where they fit, else
// those of the first levels, else blocks and what is around them, else some of these. Where columns do not
// suffice, first the sparklines go, then the first values. "" where nothing fits.
std::string module_table(const std::vector<ModuleHistory>& modules, size_t rows, size_t columns);

}  // namespace isobar
