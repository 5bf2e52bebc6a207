#include "kept.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "../../data/file.h"
#include "../../experiments/run/environment.h"

namespace isobar::bench {

// A shared machine's share of one commit moves by so much; a kernel that has lost a tenth shows.
constexpr double least_of_share = 0.9;
constexpr size_t most_bytes = 1 << 20;  // of a file
constexpr int most_measurements = 3;
constexpr double stray_page_faults = 1, slack_elsewhere = 0.05;
constexpr const char* counts[] = {"step_bytes", "storage_allocations", "heap_allocations", "page_faults"};

// Throws where a key is missing or of another kind.
void check_row(const Json& row, bool first) {
  check(row.at("bench").is_string() && (row["bench"] == "environment") == first,
        "the first describes a machine, no other");
  if (first) {
    check(row.at("cpu").is_string(), "cpu is no text");
    return;
  }
  check(row.at("threads").is_number_integer(), "threads is no integer");
  check(row.at("share").is_number(), "share is no number");
  for (const char* key : counts) check(row.at(key).is_number(), "{} is no number", key);
}

// The objects of a file.
std::vector<Json> read(const std::string& file) {
  std::vector<Json> rows;
  std::istringstream lines(read_file(file, most_bytes));
  for (std::string line; std::getline(lines, line);) {
    const size_t number = rows.size() + 1;
    try {
      rows.push_back(Json::parse(line));
      check_row(rows.back(), number == 1);
    } catch (const std::exception& error) {
      throw_error(
          fmt::format("{}: line {} is not one that bench --keep wrote: {}", file, number, error.what()));
    }
  }
  check(!rows.empty(), "{}: wanted lines that bench --keep wrote, got none", file);
  return rows;
}

std::string text_of(const std::vector<Json>& rows) {
  std::string text;
  for (const Json& row : rows) text += row.dump() + "\n";
  return text;
}

bool is_row_of(const Json& row, const std::string& name, int threads) {
  return row["bench"] == name && row.value("threads", 0) == threads;
}

// "study8_fwdbwd, 2 threads"
std::string title(const Json& kept) {
  const int64_t threads = kept["threads"];
  return fmt::format("{}, {} thread{}", kept["bench"].get<std::string>(), threads, threads == 1 ? "" : "s");
}

// Threads come to a kernel for the first time, and take memory there, in any step: a count is the smallest of
// several.
Json counts_of(const Case& one, int threads, const Measure& measure,
               const std::function<bool(const Json&)>& enough) {
  Json least = measure(one, threads, Measured::counts);
  for (int i = 1; i < most_measurements && !enough(least); ++i) {
    const Json again = measure(one, threads, Measured::counts);
    for (const char* key : counts)
      least[key] = std::min(least[key].get<double>(), again.at(key).get<double>());
  }
  return least;
}

// 1280 rather than 1280.0.
Json whole_if_so(double count) {
  if (count == std::floor(count)) return static_cast<int64_t>(count);
  return count;
}

Json row_to_keep(const Case& one, int threads, const Measure& measure) {
  Json row = {{"bench", one.name}, {"threads", threads}};
  const Json times = measure(one, threads, Measured::times);
  row["share"] = std::round(1e3 * times.at("share").get<double>()) / 1e3;
  const Json counted = counts_of(one, threads, measure, [](const Json& least) {
    return least["storage_allocations"] == 0 && least["page_faults"] == 0;
  });
  for (const char* key : counts) row[key] = whole_if_so(counted[key]);
  return row;
}

// "", or what is worse than kept.
std::string fallen_share(const Json& kept, const Case& one, const Measure& measure) {
  const double wanted = kept["share"];
  double best = 0;
  for (int i = 0; i < most_measurements && best < least_of_share * wanted; ++i)
    best = std::max(best, measure(one, kept["threads"], Measured::times).at("share").get<double>());
  if (best >= least_of_share * wanted) return "";
  return fmt::format("{:.1f} % of its limit, kept {:.1f} %", 100 * best, 100 * wanted);
}

std::string fallen_counts(const Json& kept, const Case& one, double slack, const Measure& measure) {
  const auto fell = [&](const std::string& key, const Json& now) {
    const double stray = key == "page_faults" ? stray_page_faults : 0;
    return now[key].get<double>() > (1 + slack) * kept[key].get<double>() + stray;
  };
  const Json now = counts_of(one, kept["threads"], measure, [&](const Json& least) {
    return std::none_of(std::begin(counts), std::end(counts),
                        [&](const char* key) { return fell(key, least); });
  });
  std::string text;
  for (const char* key : counts)
    if (fell(key, now))
      text += fmt::format("{}{} {}, kept {}", text.empty() ? "" : "; ", key, now[key].get<double>(),
                          kept[key].get<double>());
  return text;
}

// Kernels of another CPU pack their operands in other sizes, another compiler leaves out other allocations,
// and how many of several threads hold memory of their own at a time is chance.
double slack_for(const Json& machine, int threads) {
  const Json now = current_environment();
  const auto same = [&](const char* key) { return machine.value(key, Json()) == now[key]; };
  return same("cpu") && same("compiler") && threads == 1 ? 0 : slack_elsewhere;
}

bool can_be_kept(const Case& one) { return one.work.limit != Limit::none; }

void keep(const std::string& file, const Cases& cases, const std::vector<int>& threads,
          const Measure& measure) {
  Json machine = {{"bench", "environment"}};
  machine.update(current_environment());
  machine.erase("threads");  // each row has its own
  std::vector<Json> rows = {machine};
  if (std::filesystem::exists(file)) rows = read(file);
  check(rows.front()["cpu"] == machine["cpu"],
        "--keep: the rows of {} were kept on {}, this is {}; name another file", file,
        rows.front()["cpu"].dump(), machine["cpu"].dump());
  rows.front() = machine;
  for (const Case& one : cases)
    for (const int count : threads) {
      const Json row = row_to_keep(one, count, measure);
      fmt::print("{}\n", row.dump());
      std::fflush(stdout);
      const auto old = std::find_if(rows.begin(), rows.end(),
                                    [&](const Json& other) { return is_row_of(other, one.name, count); });
      if (old == rows.end())
        rows.push_back(row);
      else
        *old = row;
      write_file_atomically(file, text_of(rows));
    }
}

Comparison compare(const std::string& file, const Cases& cases, const std::vector<int>& threads,
                   const std::vector<Measured>& what, const Measure& measure) {
  Comparison result;
  const std::vector<Json> rows = read(file);
  for (const Json& kept : rows) {
    const auto one = std::find_if(cases.begin(), cases.end(),
                                  [&](const Case& other) { return kept["bench"] == other.name; });
    if (one == cases.end()) continue;
    if (std::find(threads.begin(), threads.end(), kept["threads"].get<int>()) == threads.end()) continue;
    ++result.rows;
    for (const Measured part : what) {
      const std::string fallen =
          part == Measured::counts
              ? fallen_counts(kept, *one, slack_for(rows.front(), kept["threads"]), measure)
              : fallen_share(kept, *one, measure);
      if (!fallen.empty()) result.fell.push_back(title(kept) + ": " + fallen);
    }
  }
  check(result.rows > 0, "{}: no row is of a case that --filter and --threads choose", file);
  return result;
}

}  // namespace isobar::bench
