// Can these numbers come from this code? The verdict on a table, and which single change comes nearest.
#pragma once

#include "law.h"

namespace isobar::doubt {

// Of tables that a net of these settings printed, one in a thousand is called impossible, or fewer.
inline constexpr double error_rate = 0.001;

// Two looks share half of it; the other half is for numbers that are not quite normal (README.md has rates that were
// simulated). The first look is by few nets, which show what is far off; the second by many.
inline constexpr double first_look = 0.05 * error_rate, last_look = 0.45 * error_rate;
inline int64_t nets_of_first_look(size_t numbers) { return static_cast<int64_t>(numbers) + 20; }
inline int64_t nets_of_last_look(size_t numbers) {
  return std::max<int64_t>(300, 5 * static_cast<int64_t>(numbers));
}

struct Verdict {
  bool can = true;
  int64_t nets = 0;  // that were measured
  std::vector<Number> numbers;
  std::vector<JudgedNumber> judged;  // one for each
};

// Seeds first_seed, first_seed + 1, …
Verdict judge(const PrintedTable& table, int64_t first_seed = 0);

// A net that differs from the table's in one setting, and how far its medians lie from the printed numbers.
struct Change {
  std::string flags;    // "--init he_normal"
  double factor = 1;    // the printed numbers are off by this factor, typically
  bool closed = false;  // its medians are closed forms; else those of four nets
  bool can = false;     // judged like the table's own net
};

// Changes of initialization (with it, the bias), order, norm, activation and width; the nearest first. `own` is
// the factor of the table's own net. Means are left out, which have no factor; there is no change where there
// are only means.
struct Changes {
  double own = 1;
  std::vector<Change> nearest;
};
Changes nearest_changes(const PrintedTable& table, int64_t first_seed = 0);

// What the program prints. `changes` may be null.
std::string report_of(const PrintedTable& table, const Verdict& verdict, const Changes* changes);
// Its first sentence.
std::string sentence_of(const Verdict& verdict);

}  // namespace isobar::doubt
