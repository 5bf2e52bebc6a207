#include "gradient_check.h"

#include <fmt/ranges.h>

namespace isobar {

LayerCheck gradient_check(const Jacobian& j, double tolerance, const std::string& mode) {
  const Diagnosis found = diagnose(j, tolerance);
  const bool right = found.cause == Cause::none;
  LayerCheck result{fmt::format("gradient of {}{}", j.name, mode),
                    right ? LayerCheck::passed : LayerCheck::failed, found.text};
  if (right)
    result.text = fmt::format(
        "{}, within {:.0e} of differences",
        j.sampled ? "along 8 random directions" : fmt::format("all {} elements", j.columns), tolerance);
  if (j.kinks.empty()) return result;
  const Kink& kink = j.kinks.front();
  result.text +=
      fmt::format("; {} of {} skipped: near a kink, as at {} (slope {:.3g} on the left, {:.3g} on the right)",
                  j.kinks.size(), j.columns, kink.index, kink.left, kink.right);
  if (right && static_cast<int64_t>(j.kinks.size()) == j.columns) result.outcome = LayerCheck::skipped;
  return result;
}

void choose_diagnosis(LayerReport& report, const std::vector<Jacobian>& all, double tolerance) {
  if (report.diagnosis.cause != Cause::none) return;
  std::vector<std::string> others;
  for (const bool known : {true, false})
    for (const Jacobian& j : all) {
      const Diagnosis found = diagnose(j, tolerance);
      if (found.cause == Cause::none || (found.cause != Cause::unknown) != known) continue;
      if (report.diagnosis.cause != Cause::none) {
        others.push_back(j.name);
        continue;
      }
      report.diagnosis = found;
      report.worst = j.worst;
    }
  if (!others.empty()) report.diagnosis.text += fmt::format(" (wrong too: {})", fmt::join(others, ", "));
}

}  // namespace isobar
