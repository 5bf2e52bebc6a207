// The parts of norm_properties, and what they compare tensors with.
#pragma once

#include "../../../core/rng.h"
#include "../../run/measurements.h"

namespace isobar::properties {

// Largest |a − b| over all elements, summed and compared in double; infinite where either is not finite.
double largest_difference(const Tensor& a, const Tensor& b);
// Over the rows of x (N, d): mean and population std of each.
struct RowMoments {
  std::vector<double> mean, std;
};
RowMoments row_moments(const Tensor& x);
// The cosine between each row of a and the same row of b, computed in double; NaN for a row of zeros.
std::vector<double> row_cosines(const Tensor& a, const Tensor& b);
// The smallest of them; NaN where one is.
double least_cosine(const Tensor& a, const Tensor& b);

// What the study measures, one part a file. Each adds its measurements for one seed, with how close an
// identity must be. In f64 that is rounding: 1e-13 for sums of 40 products of numbers up to 5, 1e-12 for a
// block of matrices whose gradients reach 118 and for a cosine in f32, 1e-10 where 1e4 was added.
void measure_invariances(Measurements& measurements, const Rng& rng);  // shifts, scales, directions
void measure_formulas(Measurements& measurements, const Rng& rng);     // definitions, shapes, foldings
void measure_precision(Measurements& measurements, const Rng& rng);  // fp16 and bf16, with and without upcast
void measure_batches(Measurements& measurements, const Rng& rng);    // statistics over a batch
void measure_counts(Measurements& measurements, const Rng& rng);     // parameters
void measure_information(Measurements& measurements, const Rng& rng);  // eps, lost lengths, symmetry
void measure_scripts(Measurements& measurements, const Rng& rng);      // what two scripts of source 003 print
void print_scripts(Run& run, const Measurements& measurements);
void measure_torch(Measurements& measurements);  // PyTorch's literals, the same for all seeds

}  // namespace isobar::properties
