// The smooth clips and signs of source 004: Softcap (tanh) and ISRUClip, and how far they are from what they smooth.
#pragma once

#include "../../core/rng.h"
#include "../harness/measurements.h"

namespace isobar::jacobian {

// With a cap of 1, where tanh and x/√(1 + x²) are themselves, <curve> tanh or isru:
//   "clip.<curve>.largest_gap"  the largest |clip(x, −1, 1) − y|, at x = 1: 1 − tanh 1, 1 − 1/√2
//   "clip.<curve>.bound"        the largest |y|
//   "sign.<curve>.gap.k<k>"     the largest |sign(x) − y(k x)| over |x| ≥ 1: 1 − y(k)
// "chain.sign.error": x/√x², RMSNorm of one number, against sign(x); "chain.sign.mse": against RMSNorm of 512
// numbers N(0, 1): E(|x| − 1)² = 2 − 2√(2/π), with a row's rms as 1.
void measure_clips(Measurements& measurements, const Rng& rng);

}  // namespace isobar::jacobian
