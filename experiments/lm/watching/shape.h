// Shape: is a trained LayerNorm's map from input to output S-shaped, as tanh is (Zhu et al. 2025)? Of one row the map
// is a straight line; over rows of different std it bends, for the largest inputs are in rows of large std.
#pragma once

#include "../../../nn/observe.h"

namespace isobar::ladder {

// The slope of y = (x − mean)/std, rows normalized as LayerNorm does, for the 1 % of elements with the largest |x|,
// over that for the half with the smallest: each the least-squares line of y on x with y·sign(x) against |x|. x is
// (…, C) with C > 1. 1 where all rows have one std; near 0 where the ends are flat. NaN for fewer than 200 elements.
double tail_over_centre(const Tensor& x);

// Keeps the embedding's output and the last block's, which the first and the last norm of a pre-norm model get.
class EndsOfStream : public Observer {
 public:
  void on_output(const Module& module, const Tensor& y) override;
  void on_output_gradient(const Module&, const Tensor&) override {}
  // Of both; empty where neither was seen.
  std::vector<double> tail_over_centre() const;

 private:
  Tensor first_, last_;
};

}  // namespace isobar::ladder
