// What check_layer says: of one gradient, of the wrong ones together, and the text of a report.
#include <fmt/ranges.h>

#include <algorithm>

#include "layer_runner.h"

namespace isobar {
namespace {

using Names = std::vector<std::string>;

std::string listed(const Names& names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

// Which gradients are wrong and which are right, and what that means: "x and wk (right: wq and wv; look where
// x and wk meet)".
std::string verdict(const Names& wrong, const Names& right, Cause cause) {
  if (right.empty() && wrong.size() < 2) return listed(wrong);
  if (right.empty()) return fmt::format("{} (all of them; look at what they share)", listed(wrong));
  const std::string meaning = wrong.size() > 1          ? fmt::format("; look where {} meet", listed(wrong))
                              : cause == Cause::unknown ? "; look at how its own parts are put together"
                                                        : "";
  return fmt::format("{} (right: {}{})", listed(wrong), listed(right), meaning);
}

// Whether a failed check of this name is explained by the report's diagnosis.
bool about_gradients(const std::string& check) {
  return check.starts_with("gradient") || check == "used twice";
}

std::vector<LayerCheck>::const_iterator first_failed(const std::vector<LayerCheck>& checks) {
  return std::find_if(checks.begin(), checks.end(),
                      [](const LayerCheck& check) { return check.outcome == LayerCheck::failed; });
}

}  // namespace

LayerCheck gradient_check(const Jacobian& j, const Diagnosis& found, double tolerance,
                          const std::string& mode) {
  const bool right = found.cause == Cause::none;
  LayerCheck result{fmt::format("gradient of {}{}", j.name, mode),
                    right ? LayerCheck::passed : LayerCheck::failed, found.text};
  if (!j.compared && j.error.empty()) return result;
  if (right)
    result.text =
        fmt::format("{}, within {:.0e} of differences{}",
                    j.sampled ? "along 8 random directions" : fmt::format("all {} elements", j.columns),
                    j.allowed(tolerance), j.rounding == Rounding::none ? "" : "; forward rounds to f32");
  else if (!j.worst.empty())
    result.text += fmt::format("; at {} wanted {:.6g}, got {:.6g}", j.worst[0].index, j.worst[0].numeric,
                               j.worst[0].tape);
  if (j.kinks.empty()) return result;
  const Kink& kink = j.kinks.front();
  const bool all =
      static_cast<int64_t>(j.kinks.size()) == j.columns;  // then parts of 8 of them were compared
  result.text += fmt::format(
      "; {} of {} {}: near a kink, as at {} (slope {:.3g} on the left, {:.3g} on the right)", j.kinks.size(),
      j.columns, all ? "only where y has none" : "skipped", kink.index, kink.left, kink.right);
  return result;
}

void choose_diagnosis(LayerReport& report, const std::vector<Jacobian>& all, double tolerance,
                      const std::string& mode) {
  if (report.diagnosis.cause != Cause::none) return;
  const std::vector<Diagnosis> found = diagnose(all, tolerance);
  Names wrong, right;
  size_t plainest = all.size();
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_right = found[i].cause == Cause::none;
    (is_right ? right : wrong).push_back(all[i].name);
    if (!is_right && (plainest == all.size() || found[i].rank < found[plainest].rank)) plainest = i;
  }
  if (wrong.empty()) return;
  // Where several are wrong, the text says of which one it speaks: it begins with its name.
  const std::string text =
      wrong.size() > 1 ? found[plainest].text : found[plainest].text.substr(wrong[0].size() + 2);
  report.diagnosis = {found[plainest].cause,
                      fmt::format("{}{}: {}", verdict(wrong, right, found[plainest].cause), mode, text),
                      found[plainest].rank};
  report.worst = all[plainest].worst;
}

bool LayerReport::passed() const { return first_failed(checks) == checks.end(); }

std::string LayerReport::text() const {
  const auto failed = first_failed(checks);
  std::string text;
  if (failed == checks.end())
    text = fmt::format("{}: right, {} checks\n", layer, checks.size());
  else if (diagnosis.cause != Cause::none && about_gradients(failed->name))
    text = fmt::format("{}: WRONG gradient of {}\n", layer, diagnosis.text);
  else
    text = fmt::format("{}: WRONG: {}: {}\n", layer, failed->name, failed->text);
  size_t width = 16;
  for (const LayerCheck& check : checks) width = std::max(width, check.name.size());
  for (const LayerCheck& check : checks) {
    const char* mark = check.outcome == LayerCheck::passed   ? "ok"
                       : check.outcome == LayerCheck::failed ? "WRONG"
                                                             : "skipped";
    text += fmt::format("  {:<8} {:<{}}  {}\n", mark, check.name, width, check.text);
  }
  if (!worst.empty())
    text += fmt::format("  {:<26} {:>14} {:>14}\n", "worst, for a random dy", "tape", "differences");
  for (const GradientEntry& entry : worst)
    text += fmt::format("    {:<24} {:>14.6g} {:>14.6g}\n", entry.index, entry.tape, entry.numeric);
  return text;
}

}  // namespace isobar
