// Learning rates as pure functions of the step, counted from 0.
//
//   const WarmupCosine schedule{.lr = 1e-3, .min_lr = 1e-4, .warmup = 100, .steps = 2000};
//   optimizer.set_lr(schedule(step));
//
// A schedule has no state: a resumed run needs only its step. All schedules throw Error for a negative step.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "../core/error.h"

namespace isobar {

// Returns the learning rate of a warm-up: lr · (step + 1) / (warmup + 1) for the first `warmup` steps. It is
// not zero in step 0 (nanoGPT's get_lr; Karpathy, train.py).
inline double warming_up(double lr, int64_t step, int64_t warmup) {
  return lr * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
}

// Warm-up; then half a cosine from lr down to min_lr at step `steps`, and min_lr from there on: nanoGPT's
// get_lr. The cosine is that of Loshchilov & Hutter 2017 without restarts.
struct WarmupCosine {
  double lr, min_lr;
  int64_t warmup, steps;

  double operator()(int64_t step) const {
    check(step >= 0, "schedule: wanted a step of at least 0, got {}", step);
    check(warmup >= 0 && warmup <= steps, "schedule: wanted 0 <= warmup <= steps, got {} and {}", warmup,
          steps);
    if (step < warmup) return warming_up(lr, step, warmup);
    if (step >= steps) return min_lr;
    const double way = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
    return min_lr + 0.5 * (1 + cos_of(std::numbers::pi * way)) * (lr - min_lr);
  }

 private:
  static double cos_of(double x);  // the same on every machine
};

// PyTorch's StepLR: lr · gamma^⌊step / step_size⌋, so the rate is multiplied by gamma after each `step_size`
// steps.
struct StepLR {
  double lr;
  int64_t step_size;
  double gamma = 0.1;

  double operator()(int64_t step) const {
    check(step >= 0, "schedule: wanted a step of at least 0, got {}", step);
    check(step_size >= 1, "schedule: wanted a step_size of at least 1, got {}", step_size);
    double rate = lr, power = gamma;  // γ, γ², γ⁴, …: the same on every machine
    for (int64_t left = step / step_size; left > 0; left /= 2, power *= power)
      if (left % 2 == 1) rate *= power;
    return rate;
  }
};

// WSD (Hu et al. 2024, MiniCPM, section 4): warm-up; then lr; then over the last `decay` steps a straight
// line down to min_lr at step `steps`, and min_lr from there on. A decay over all steps after the warm-up
// makes the linear schedule (Bergsma et al. 2025).
struct WarmupStableDecay {
  double lr, min_lr;
  int64_t warmup, decay, steps;

  double operator()(int64_t step) const {
    check(step >= 0, "schedule: wanted a step of at least 0, got {}", step);
    check(warmup >= 0 && decay >= 0 && warmup + decay <= steps,
          "schedule: wanted warmup and decay of at least 0 and of {} steps together, got {} and {}", steps,
          warmup, decay);
    if (step < warmup) return warming_up(lr, step, warmup);
    if (step >= steps) return min_lr;
    if (step < steps - decay) return lr;
    const double left = static_cast<double>(steps - step) / static_cast<double>(decay);
    return min_lr + left * (lr - min_lr);
  }
};

}  // namespace isobar
