// The numbers of a table as this code would print them: a net of these settings, for each seed.
#pragma once

#include <span>

#include "printed_table.h"

namespace isobar::doubt {

// One value for each number: the net and the input of this seed, as decay_study has them. No backward pass
// where no number needs it, and no layers above the last one that is printed.
std::vector<double> measured(const decay::Config& net, std::span<const Number> numbers, int64_t seed);

// Of seeds first, first + 1, …, in parallel on all threads; a row for each seed.
std::vector<std::vector<double>> measured(const decay::Config& net, std::span<const Number> numbers,
                                          int64_t first, int64_t seeds);

// The median that the closed forms give for each number; NaN where none is known.
std::vector<double> closed_form(const decay::Config& net, std::span<const Number> numbers);

}  // namespace isobar::doubt
