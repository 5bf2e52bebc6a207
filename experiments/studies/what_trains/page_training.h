// PageTraining: what a reader trains in the live chapter of a page (../../page/live/training.h), by the library. The net is
// a residual MLP of the map, its 100 steps are the study's; its digits are few and black and white, so that a page can hold
// them.
#pragma once

#include "../../../data/tensor_dataset.h"
#include "page_digits.h"
#include "training.h"

namespace isobar::trains {

struct PageDigits {
  TensorDataset train, validation;
};
// The digits of page_digits.h. Throws Error unless find_mnist() gives the t10k files that come with Isobar, whatever
// ISOBAR_DATA says.
PageDigits read_page_digits();

struct PageTraining {
  Outcome outcome;
  // Of the loss of every step and the loss on the validation images, to the last bit (../../nets/decay/bits.h).
  std::string bits;
};
PageTraining train_on_page(const PageDigits& digits, const Net& net, double rate);

// What "learns" is on the page: this share of the best gain on its digits. So few digits cost deep nets more than the study's,
// so it is less than Config::share.
inline constexpr double page_share = 0.85;
// That of the best of 91 cells of the map that were tried, a net of 2 blocks without a norm at scale 1 and rate 2⁻⁵. Of the 91,
// 83 learn on the page if and only if they do on the map.
inline constexpr double page_best = 1.7685;

// The net's training as text: losses, gain and bits. Throws Error unless it is a residual net with AdamW, and `rate` above 0.
std::string page_training_text(const Net& net, double rate);

}  // namespace isobar::trains
