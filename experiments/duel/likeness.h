// Likeness: whether two contestants are one function, written twice.
#pragma once

#include "training.h"

namespace isobar::duel {

enum class Likeness { different, up_to_rounding, to_the_bit };

// How far apart untrained nets of one seed are, in f64: of the loss and all gradients, with the initial weights
// and with all parameters moved by the same random numbers, the largest difference over the largest element.
// Infinite where their parameters do not pair in order and shape, and where their flags differ.
double distance_of_nets(const Task& task, const Contestant& a, const Contestant& b);
// A net written in another order of operations is some 1e-15 away, one with another eps (1e-6 for 1e-5) 1e-6.
inline constexpr double rounding_of_f64 = 1e-10;

// By this distance, and by a pair of trainings: losses, signals and gradients are equal to the bit, or not.
Likeness likeness_of(double distance, const Trained& a, const Trained& b);

}  // namespace isobar::duel
