#include "softcap_table.h"

#include <algorithm>
#include <cmath>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "../harness/table.h"

namespace isobar {

void softcap_table(Run& run) {
  constexpr double cap = 50;  // Gemma 2's, on attention logits
  Csv& csv = run.csv("softcap.csv", {"x", "softcap", "theory", "slope", "slope_theory", "slope_f32"});
  Table table({"x", "softcap(x, 50)", "theory", "slope", "theory", "slope in f32"});
  const auto value_and_slope = [](double x, Dtype dtype) {
    Tensor input = full({1}, x, dtype).set_trainable();
    Tape tape;
    const Tensor y = softcap(input, cap);
    tape.backward(y);
    return std::pair{y.item(), input.grad().item()};
  };
  double worst_value = 0, worst_slope = 0, clip_gap = 0;
  for (const double x : {10.0, 50.0, 100.0, 200.0, 500.0}) {
    const auto [value, slope] = value_and_slope(x, Dtype::f64);
    const double slope_f32 = value_and_slope(x, Dtype::f32).second;
    const double value_theory = cap * std::tanh(x / cap);
    const double slope_theory = 1 / (std::cosh(x / cap) * std::cosh(x / cap));
    run.measured(fmt::format("softcap50.value.x{}", x), value, value_theory);
    run.measured(fmt::format("softcap50.slope.x{}", x), slope, slope_theory);
    worst_value = std::max(worst_value, std::abs(value - value_theory));
    worst_slope = std::max(worst_slope, std::abs(slope - slope_theory));
    clip_gap = std::max(clip_gap, std::abs(value - std::min(x, cap)) / cap);
    csv.row({x, value, value_theory, slope, slope_theory, slope_f32});
    table.row({number_text(x), number_text(value), number_text(value_theory), number_text(slope),
               number_text(slope_theory), number_text(slope_f32)});
  }
  run.measured("softcap50.largest_gap_to_clip_over_cap", clip_gap, 1 - std::tanh(1.0));
  run.say("\n{}", table.text());
  // Numbers up to 50 and up to 1, a few roundings each.
  run.expect("softcap is t tanh(x/t)", worst_value < 1e-13,
             fmt::format("off by {}", number_text(worst_value)));
  run.expect("its slope is 1 − tanh²(x/t)", worst_slope < 1e-14,
             fmt::format("off by {}", number_text(worst_slope)));
}

}  // namespace isobar
