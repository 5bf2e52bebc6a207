// Learning rates beyond the edge of a grid: a sweep goes on until its best rate has a worse one on each side.
#pragma once

#include <optional>
#include <span>

namespace isobar {

// The rate to try next, where the best of `rates` is the least or the greatest of them: the next of 1e-5,
// 3e-5, 1e-4, …, 0.3, 1 beyond it that is nearest to √10 times as far. Nothing where the best rate lies
// between others, where there is only one rate, or where the next one would be less than 1e-5 or more than 1.
std::optional<double> rate_beyond(std::span<const double> rates, double best);

}  // namespace isobar
