#include <algorithm>

#include "check_layer.h"

namespace isobar {
namespace {

// Whether a failed check of this name is explained by the report's diagnosis.
bool about_gradients(const std::string& check) {
  return check.starts_with("gradient") || check == "used twice";
}

std::vector<LayerCheck>::const_iterator first_failed(const std::vector<LayerCheck>& checks) {
  return std::find_if(checks.begin(), checks.end(),
                      [](const LayerCheck& check) { return check.outcome == LayerCheck::failed; });
}

}  // namespace

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
