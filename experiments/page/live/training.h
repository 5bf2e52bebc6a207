// A training of what_trains by the definition (tests/spec/spec.h), as a browser does it: a residual MLP on the page's digits.
// The bits are those of train_on_page() (../../studies/what_trains/page_training.h).
#pragma once

#include <functional>

#include "../../studies/what_trains/config.h"

namespace isobar::live {

struct Trained {
  std::vector<double> losses;  // of each step's batch, up to the last finite one
  double loss, accuracy;       // on the validation images; NaN where it diverged
  std::string bits;
};
// `seen` is told of each step's loss.
Trained train(const trains::Net& net, double rate,
              const std::function<void(int64_t step, double loss)>& seen);

}  // namespace isobar::live
