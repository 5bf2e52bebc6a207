#include "profile_report.h"

#include <cctype>

#include "table.h"

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

using NameOf = std::string (*)(const ProfileRow&);

std::string own_name(const ProfileRow& row) { return row.name; }
std::string place_in_blocks(const ProfileRow& row) { return without_numbers(row.module); }

// `name` and `module` say what a row's sum is called.
std::vector<ProfileSum> added_up(const std::vector<ProfileRow>& rows, const MachineLimits& limits,
                                 NameOf name, NameOf module) {
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
  std::ranges::stable_sort(result, std::greater(), &ProfileSum::seconds);
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
  const auto loses = [&](const ProfileSum& row) { return row.product == product ? lost(row, limits) : 0; };
  const auto worst = std::ranges::max_element(rows, {}, loses);
  return worst != rows.end() && loses(*worst) > 0 ? &*worst : nullptr;
}

std::string saving(const ProfileRow& row, const ProfileResult& result, const MachineLimits& limits) {
  return fmt::format("at the limit the time would be {:.1f} % less",
                     percent(lost(row, limits), result.seconds));
}

std::string on_product(const ProfileRow& row, const ProfileResult& result, const MachineLimits& limits) {
  constexpr int64_t few = 256;  // half of what the limit was measured with
  return fmt::format(
      "{} takes {:.1f} % of the time and runs at {:.0f} % of the products' limit{}; {}", place_of(row),
      percent(row.seconds, result.seconds), 100 * share_of_limit(row, limits),
      row.rows > 0 ? fmt::format(": {} rows", row.rows) : "",
      row.rows > 0 && row.rows < few ? "a larger batch would help" : saving(row, result, limits));
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
          : saving(row, result, limits));
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
  Table table({modules ? "module" : "op", "part", "ms", "%", "calls", "GFLOP", "MB", "% of limit"},
              "llrrrrrr");
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
    const std::string none = modules && sum.name.empty() ? "(no module)" : sum.name;
    if (i < most)
      add_row(modules && !sum.module.empty() ? sum.module : none, sum);
    else
      add(rest, sum, std::nan(""));
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

double share_of_limit(const ProfileRow& row, const MachineLimits& limits) {
  if (row.thread_seconds <= 0 || row.calls <= 0) return std::nan("");
  const double at_all_threads = row.thread_seconds / limits.threads;
  if (row.product) return row.flops / (at_all_threads * limits.product);
  if (row.bytes <= 0 || row.flops > 0) return std::nan("");
  return row.bytes / (at_all_threads * limits.bandwidth(row.bytes / static_cast<double>(row.calls)));
}

double ProfileSum::share() const { return limited > seconds / 2 ? at_limit / limited : std::nan(""); }

std::vector<ProfileSum> by_op(const std::vector<ProfileRow>& rows, const MachineLimits& limits) {
  return added_up(rows, limits, own_name, [](const ProfileRow&) { return std::string(); });
}

std::vector<ProfileSum> by_module(const std::vector<ProfileRow>& rows, const MachineLimits& limits) {
  const NameOf other = [](const ProfileRow& row) { return row.part == Part::other ? row.name : ""; };
  return added_up(rows, limits, other, place_in_blocks);
}

std::vector<std::string> advice(const ProfileResult& result, const MachineLimits& limits) {
  std::vector<std::string> sentences;
  // Products of the same layer in all blocks have the same shapes; another op is the same code in all
  // modules.
  const std::vector<ProfileSum> places = added_up(result.rows, limits, own_name, place_in_blocks);
  const std::vector<ProfileSum> ops = by_op(result.rows, limits);
  if (const ProfileRow* row = most_lost(places, limits, true))
    sentences.push_back(on_product(*row, result, limits));
  if (const ProfileRow* row = most_lost(ops, limits, false))
    sentences.push_back(on_other_op(*row, result, limits));
  const auto rest = std::ranges::find(ops, Part::other, &ProfileSum::part);
  if (rest != ops.end()) sentences.push_back(on_the_rest(*rest, result));
  return sentences;
}

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
      std::ranges::max(limits.triads, {}, &MachineLimits::Triad::rate).rate / 1e9);
  print_table(run, by_op(result.rows, limits), result, unit, false);
  print_table(run, by_module(result.rows, limits), result, unit, true);
  for (const std::string& sentence : advice(result, limits)) run.say("{}\n", sentence);
  write_rows(run, result, limits);
}

}  // namespace isobar
