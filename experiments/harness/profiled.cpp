#include "profiled.h"

#include "profile_report.h"
#include "table.h"

namespace isobar {
namespace {

// What a number of the table counts: a step, a backward pass where there is no optimizer, or all of the run.
struct Unit {
  double count;
  std::string name;
};

Unit unit_of(const ProfileResult& result) {
  if (result.steps > 0) return {static_cast<double>(result.steps), "step"};
  if (result.walks > 0) return {static_cast<double>(result.walks), "backward pass"};
  return {1, "run"};
}

std::string or_dash(double value, int digits) {
  return value > 0 ? fmt::format("{:.{}f}", value, digits) : "–";
}

void print_table(Run& run, const std::vector<ProfileSum>& sums, const ProfileResult& result, const Unit& unit,
                 bool modules) {
  constexpr size_t most = 25;
  Table table({modules ? "module" : "op", "", "ms", "%", "calls", "GFLOP", "MB", "% of limit"});
  ProfileSum rest;
  const auto add_row = [&](const std::string& name, const ProfileSum& sum) {
    table.row({name, name_of(sum.part), fmt::format("{:.3f}", 1e3 * sum.seconds / unit.count),
               fmt::format("{:.1f}", 100 * sum.seconds / result.seconds),
               fmt::format("{:.4g}", static_cast<double>(sum.calls) / unit.count),
               or_dash(sum.flops / unit.count / 1e9, 3), or_dash(sum.bytes / unit.count / 1e6, 3),
               or_dash(100 * sum.share(), 0)});
  };
  for (size_t i = 0; i < sums.size(); ++i) {
    const ProfileSum& sum = sums[i];
    const std::string none = sum.name.empty() ? "(no module)" : sum.name;
    if (i < most) {
      add_row(modules ? (sum.module.empty() ? none : sum.module) : sum.name, sum);
      continue;
    }
    rest.part = Activity::Part::other;
    rest.seconds += sum.seconds;
    rest.calls += sum.calls;
    rest.flops += sum.flops;
    rest.bytes += sum.bytes;
  }
  if (sums.size() > most) add_row(fmt::format("{} more", sums.size() - most), rest);
  table.row({"all", "", fmt::format("{:.3f}", 1e3 * result.seconds / unit.count), "100", "", "", "", ""});
  run.say("{}\n", table.text());
}

void write_rows(Run& run, const ProfileResult& result, const MachineLimits& limits) {
  Csv& csv = run.csv("profile.csv",
                     {"op", "module", "part", "calls", "seconds", "flops", "bytes", "share_of_limit"});
  for (const ProfileRow& row : result.rows)
    csv.row({row.name, row.module, std::string(name_of(row.part)), row.calls, row.seconds, row.flops,
             row.bytes, share_of_limit(row, limits)});
}

}  // namespace

void report_profile(Run& run, Profile& profile) {
  const ProfileResult result = profile.result();
  if (result.rows.empty()) return;
  run.text_file("profile.json", profile.trace());
  const MachineLimits limits = measure_limits();
  const Unit unit = unit_of(result);
  run.say("\nWhere the time went: {:.0f} × {:.3f} ms for a {}; {:.2f} s before and after are not counted\n",
          unit.count, 1e3 * result.seconds / unit.count, unit.name, result.outside);
  run.say(
      "Limits of this machine, {} thread{}: products {:.0f} GFLOP/s; memory {:.0f} GB/s, in caches up to {:.0f}\n\n",
      limits.threads, limits.threads == 1 ? "" : "s", limits.product / 1e9, limits.triads.back().rate / 1e9,
      std::max_element(
          limits.triads.begin(), limits.triads.end(),
          [](const auto& a, const auto& b) {
            return a.rate < b.rate;
          })->rate /
          1e9);
  print_table(run, by_op(result.rows, limits), result, unit, false);
  print_table(run, by_module(result.rows, limits), result, unit, true);
  for (const std::string& sentence : advice(result, limits)) run.say("{}\n", sentence);
  write_rows(run, result, limits);
}

}  // namespace isobar
