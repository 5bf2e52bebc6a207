#include "profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>

namespace isobar {
namespace {

using Part = Activity::Part;

// "blocks.3.fc1" as "blocks.*.fc1".
std::string without_numbers(const std::string& path) {
  std::string result;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('.', at), path.size());
    const bool number = std::all_of(path.begin() + static_cast<std::ptrdiff_t>(at),
                                    path.begin() + static_cast<std::ptrdiff_t>(end),
                                    [](unsigned char c) { return std::isdigit(c) != 0; });
    result += number ? "*" : path.substr(at, end - at);
    if (end < path.size()) result += '.';
    at = end + 1;
  }
  return result;
}

void add(ProfileSum& sum, const ProfileRow& row, double share) {
  sum.calls += row.calls;
  sum.rows = row.rows;
  sum.product |= row.product;
  sum.seconds += row.seconds;
  sum.flops += row.flops;
  sum.bytes += row.bytes;
  sum.thread_seconds += row.thread_seconds;
  if (std::isnan(share)) return;
  sum.limited += row.seconds;
  sum.at_limit += row.seconds * share;
}

// `name` and `module` say what a row's sum is called.
template <class Name, class Module>
std::vector<ProfileSum> added_up(const std::vector<ProfileRow>& rows, const MachineLimits& limits,
                                 const Name& name, const Module& module) {
  std::map<std::tuple<std::string, std::string, Part>, ProfileSum> sums;
  for (const ProfileRow& row : rows) {
    ProfileSum& sum = sums[{name(row), module(row), row.part}];
    sum.name = name(row);
    sum.module = module(row);
    sum.part = row.part;
    add(sum, row, share_of_limit(row, limits));
  }
  std::vector<ProfileSum> result;
  for (const auto& [key, sum] : sums) result.push_back(sum);
  std::stable_sort(result.begin(), result.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
  return result;
}

std::string place_of(const ProfileRow& row) {
  std::string text = row.name;
  if (!row.module.empty()) text += " in " + row.module;
  if (row.part != Part::other) text += fmt::format(", {},", name_of(row.part));
  return text;
}

std::string size_text(double bytes) {
  return bytes < 1e6 ? fmt::format("{:.3g} kB", bytes / 1e3) : fmt::format("{:.3g} MB", bytes / 1e6);
}

double percent(double part, double whole) { return 100 * part / whole; }

// Seconds that the row would not take at the machine's limit.
double lost(const ProfileRow& row, const MachineLimits& limits) {
  const double share = share_of_limit(row, limits);
  return std::isnan(share) ? 0 : row.seconds * (1 - std::min(share, 1.0));
}

// Of products, or of other ops; null: none loses any.
const ProfileSum* most_lost(const std::vector<ProfileSum>& rows, const MachineLimits& limits, bool product) {
  const ProfileSum* worst = nullptr;
  for (const ProfileSum& row : rows) {
    if (row.product != product || !(lost(row, limits) > 0)) continue;
    if (worst == nullptr || lost(row, limits) > lost(*worst, limits)) worst = &row;
  }
  return worst;
}

std::string on_product(const ProfileRow& row, const ProfileResult& result, const MachineLimits& limits) {
  constexpr int64_t few = 256;  // half of what the limit was measured with
  return fmt::format("{} takes {:.1f} % of the time and runs at {:.0f} % of the products' limit{}; {}",
                     place_of(row), percent(row.seconds, result.seconds), 100 * share_of_limit(row, limits),
                     row.rows > 0 ? fmt::format(": {} rows", row.rows) : "",
                     row.rows > 0 && row.rows < few
                         ? "a larger batch would help"
                         : fmt::format("at the limit the time would be {:.1f} % less",
                                       percent(lost(row, limits), result.seconds)));
}

std::string on_other_op(const ProfileRow& row, const ProfileResult& result, const MachineLimits& limits) {
  const double each = 1e6 * row.seconds / static_cast<double>(row.calls);
  const double bytes = row.bytes / static_cast<double>(row.calls);
  constexpr double small = 64 * 1024;  // bytes that take about as long as it takes to call an op
  return fmt::format(
      "{} takes {:.1f} % of the time, {:.1f} µs a call, and moves its {} at {:.0f} % of the memory's limit; {}",
      place_of(row), percent(row.seconds, result.seconds), each, size_text(bytes),
      100 * share_of_limit(row, limits),
      bytes < small
          ? "so few bytes cost less than the call: a larger batch, or one op in place of several, would help"
          : fmt::format("at the limit the time would be {:.1f} % less",
                        percent(lost(row, limits), result.seconds)));
}

std::string on_the_rest(const ProfileRow& row, const ProfileResult& result) {
  const char* help = "fewer or smaller ones would help";
  if (row.name == "other") help = "this is no op's time: look at what the loop does between them";
  if (row.name == "optimizer")
    help = "its time does not depend on the batch: a larger one would spread it over more rows";
  if (row.name == "evaluation") help = "fewer evaluations, or fewer batches in each, would help";
  if (row.name == "data") help = "batches that are made ahead, or fewer bytes in each, would help";
  return fmt::format("{} takes {:.1f} % of the time; {}", row.name, percent(row.seconds, result.seconds),
                     help);
}

}  // namespace

double share_of_limit(const ProfileRow& row, const MachineLimits& limits) {
  if (row.thread_seconds <= 0 || row.calls <= 0) return std::nan("");
  const double at_all_threads = row.thread_seconds / limits.threads;
  if (row.product) return row.flops / (at_all_threads * limits.product);
  if (row.bytes <= 0 || row.flops > 0) return std::nan("");
  return row.bytes / (at_all_threads * limits.bandwidth(row.bytes / static_cast<double>(row.calls)));
}

double ProfileSum::share() const { return limited > seconds / 2 ? at_limit / limited : std::nan(""); }

std::vector<ProfileSum> by_op(const std::vector<ProfileRow>& rows, const MachineLimits& limits) {
  return added_up(
      rows, limits, [](const ProfileRow& row) { return row.name; }, [](const ProfileRow&) { return ""; });
}

std::vector<ProfileSum> by_module(const std::vector<ProfileRow>& rows, const MachineLimits& limits) {
  return added_up(
      rows, limits, [](const ProfileRow& row) { return row.part == Part::other ? row.name : ""; },
      [](const ProfileRow& row) { return without_numbers(row.module); });
}

std::vector<std::string> advice(const ProfileResult& result, const MachineLimits& limits) {
  std::vector<std::string> sentences;
  // Products of the same layer in all blocks have the same shapes; another op is the same code in all
  // modules.
  const std::vector<ProfileSum> places = added_up(
      result.rows, limits, [](const ProfileRow& row) { return row.name; },
      [](const ProfileRow& row) { return without_numbers(row.module); });
  const std::vector<ProfileSum> ops = by_op(result.rows, limits);
  if (const ProfileRow* row = most_lost(places, limits, true))
    sentences.push_back(on_product(*row, result, limits));
  if (const ProfileRow* row = most_lost(ops, limits, false))
    sentences.push_back(on_other_op(*row, result, limits));
  const auto rest =
      std::find_if(ops.begin(), ops.end(), [](const ProfileRow& row) { return row.part == Part::other; });
  if (rest != ops.end()) sentences.push_back(on_the_rest(*rest, result));
  return sentences;
}

}  // namespace isobar
