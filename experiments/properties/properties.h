// The parts of norm_properties, and what they compare tensors with.
#pragma once

#include <vector>

#include "../../core/rng.h"
#include "../harness/figures.h"

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

// What the study looks at, one part a file. Each adds its figures for one seed.
void measure_invariances(Figures& figures, const Rng& rng);  // shifts, scales, directions
void measure_formulas(Figures& figures, const Rng& rng);     // definitions, shapes, foldings
void measure_precision(Figures& figures, const Rng& rng);    // fp16 and bf16, with and without upcast
void measure_batches(Figures& figures, const Rng& rng);      // statistics over a batch
void measure_counts(Figures& figures, const Rng& rng);       // parameters
void measure_torch(Figures& figures);                        // PyTorch's literals, the same for all seeds

}  // namespace isobar::properties
