// Rules of the gradient diagnosis about formulas: a slope, a term or a factor that was left out.
#pragma once

#include <optional>

#include "matrices.h"

namespace isobar {

// T holds ones: dy comes through without the slope.
std::optional<Diagnosis> slope_left_out(const Jacobian& j, const GradientMatrices& m);
// T − J is −1 times the identity, or lies along ones, the input or y in every group of elements.
std::optional<Diagnosis> term_left_out(const Jacobian& j, const GradientMatrices& m);
// J is T times an input, y, or a simple function of these; or T is J times it.
std::optional<Diagnosis> factor_left_out(const Jacobian& j, const GradientMatrices& m);
// T is J where J is not zero; or is zero exactly where J is not.
std::optional<Diagnosis> mask_left_out(const Jacobian& j, const GradientMatrices& m);
// The same as factor_left_out where the factor is a single number, c = T / J everywhere.
std::optional<Diagnosis> number_left_out(const Jacobian& j, double c);

}  // namespace isobar
