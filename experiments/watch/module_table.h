// Each module's std and gradient norm at the first log step and now, and how they moved between; and, where there is
// room, the shares of its output that are zero and saturated now.
#pragma once

#include <string>
#include <vector>

#include "../lm/module_history.h"

namespace isobar {

// The values as blocks of rising height on a logarithmic scale from their least to their greatest: "▁▃▅█"; where
// there are more of them than columns, evenly chosen ones with the first and the last. What is not positive and
// finite is a blank.
std::string sparkline(const std::vector<double>& values, size_t columns);

// A heading of two lines and a line for each module, at most `rows` lines and so many columns: all modules where
// they fit, else those of the first levels, else blocks and what is before and after them, else some of
// these. Where the columns do not suffice, first the sparklines go, then the first values. "" for fewer than
// three rows, or where there is no log step yet.
std::string module_table(const std::vector<ModuleHistory>& modules, size_t rows, size_t columns);

}  // namespace isobar
