// bench: how fast is the library, and how far from what the machine can do?
//
//   bench                                     every case, as a table
//   bench --filter '^rmsnorm' --threads 1     some of them, with one thread
//   bench --filter lm_nanogpt --steps 300     exactly so many steps: page faults and storage allocations
//   bench --list
//   bench --check tests/bench/kept.jsonl      has anything become slower, or asks for more?  Exits with 1 if so
//
// Each case runs in a process of its own, so that its peak of memory is its own. A case that has a limit
// measures it in the same process, after itself. --json prints one object per line; the first describes the
// machine. Only a release build says anything about speed.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <regex>

#include "../../autograd/recording.h"
#include "../../core/blas.h"
#include "../../core/parallel.h"
#include "../../experiments/run/environment.h"
#include "../../experiments/run/lists.h"
#include "../../experiments/run/process.h"
#include "../../experiments/run/table.h"
#include "../../experiments/run/tool.h"
#include "kept.h"
#include "timing.h"

using namespace isobar;
using namespace isobar::bench;

namespace {

struct BenchOptions {
  std::string filter;
  int64_t threads = 1;
  std::string products = "own";
  bool threads_given = false;
  TimingOptions timing;
  bool json = false, list = false;
  std::string keep, check;  // files of kept rows
  bool counts = false;
  std::string only;  // in a child: the one case to run
};

// The cases that the filter names. Throws Error where there is none.
Cases selected(const std::string& filter) {
  Cases cases = all_cases();
  std::vector<std::string> names;
  for (const Case& one : cases) names.push_back(one.name);
  std::regex pattern;
  try {
    pattern = std::regex(filter);
  } catch (const std::regex_error& error) {
    throw_error(fmt::format("--filter: '{}' is no regular expression: {}", filter, error.what()));
  }
  std::erase_if(cases, [&](const Case& one) { return !std::regex_search(one.name, pattern); });
  check(!cases.empty(), "--filter: no case matches '{}'{}; --list prints all", filter,
        did_you_mean(filter, names));
  return cases;
}

// Most memory that this process, or a process that it ran for the case, has held.
double peak_mib() {
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  return children.ru_maxrss > 0 ? static_cast<double>(children.ru_maxrss) / 1024 : peak_memory_mib();
}

// In the child: the case's line.
Json counted(const Case& chosen) {
  const Counts counts = count_step(chosen.setup());
  return {{"step_bytes", counts.step_bytes},
          {"storage_allocations", counts.storage_allocations},
          {"heap_allocations", counts.heap_allocations},
          {"page_faults", counts.page_faults}};
}

Json measured(const Case& chosen, const BenchOptions& line) {
  const WithProducts products(products_from_name(line.products));
  if (line.counts) return counted(chosen);
  const Timing timing = time_step(chosen.setup(), line.timing);
  const double peak = peak_mib();  // before the limit takes memory of its own
  const double rate = derived(chosen.work, timing.median_seconds);
  const double limit = limit_of(chosen.work, {.min_seconds = std::min(0.05, line.timing.min_seconds)});
  Json result = {{"bench", chosen.name},
                 {"threads", line.threads},
                 {"blas", blas_version()},
                 {"median_ms", timing.median_seconds * 1e3},
                 {"min_ms", timing.min_seconds * 1e3},
                 {"derived", rate},
                 {"unit", chosen.work.unit},
                 {"peak_rss_mib", peak},
                 {"limit", nullptr},
                 {"share", nullptr},
                 {"steps", timing.steps},
                 {"page_faults", timing.page_faults},
                 {"storage_allocations", timing.storage_allocations}};
  if (limit > 0) {
    result["limit"] = limit;
    result["share"] = share(chosen.work, rate, limit);
  }
  return result;
}

Json run_in_child(const Case& chosen, const BenchOptions& line) {
  const TimingOptions& timing = line.timing;
  std::vector<std::string> words{"--only",        chosen.name,
                                 "--threads",     std::to_string(line.threads),
                                 "--products",    line.products,
                                 "--min-time",    fmt::format("{}", timing.min_seconds),
                                 "--repetitions", std::to_string(timing.repetitions)};
  if (line.counts) words.push_back("--counts");
  if (timing.steps > 0) words.insert(words.end(), {"--steps", std::to_string(timing.steps)});
  const Finished child = run_child(own_path(), words);
  check(child.code == 0, "{}: its process ended with {}", chosen.name, child.code);
  return Json::parse(child.out);
}

std::vector<std::string> row_of(const Json& result) {
  const auto number = [&](const char* key) { return number_text(result[key].get<double>()); };
  const auto count = [&](const char* key) { return std::to_string(result[key].get<int64_t>()); };
  const bool limited = !result["limit"].is_null();
  return {result["bench"],
          number("median_ms"),
          number("min_ms"),
          number("derived"),
          result["unit"],
          limited ? number("limit") : "–",
          limited ? fmt::format("{:.0f} %", 100 * result["share"].get<double>()) : "–",
          fmt::format("{:.0f}", result["peak_rss_mib"].get<double>()),
          count("steps"),
          count("page_faults"),
          count("storage_allocations")};
}

void run_all(const BenchOptions& line) {
  const Cases cases = selected(line.filter);
  Json environment = {{"bench", "environment"}};
  environment.update(current_environment());
  if (line.json)
    fmt::print("{}\n", environment.dump());
  else
    for (const auto& [key, value] : environment.items())
      if (key != "bench")
        fmt::print("{:<10} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());

  Table table({"case", "median ms", "min ms", "derived", "unit", "limit", "share", "peak MiB", "steps",
               "page faults", "allocations"},
              "lrrrlrrrrrr");
  for (const Case& one : cases) {
    std::fflush(stdout);
    const Json result = run_in_child(one, line);
    if (line.json)
      fmt::print("{}\n", result.dump());
    else
      table.row(row_of(result));
  }
  if (!line.json) fmt::print("\n{}\n", table.text());
}

// --keep and --check. The exit code.
int keep_or_compare(const BenchOptions& line) {
  Cases cases = selected(line.filter);
  std::erase_if(cases, [](const Case& one) { return !can_be_kept(one); });
  check(!cases.empty(), "--filter: '{}' matches no case that has a limit; only those can be kept",
        line.filter);
  std::vector<int> threads = {static_cast<int>(line.threads)};
  if (!line.threads_given && line.threads > 1) threads.insert(threads.begin(), 1);
  const Measure measure = [&line](const Case& one, int count, Measured what) {
    BenchOptions child = line;
    child.threads = count;
    child.counts = what == Measured::counts;
    return run_in_child(one, child);
  };
  if (!line.keep.empty()) {
    keep(line.keep, cases, threads, measure);
    return 0;
  }
  std::vector<Measured> what = {Measured::counts};
  if (!line.counts) what.push_back(Measured::times);
  const Comparison result = compare(line.check, cases, threads, what, measure);
  for (const std::string& fallen : result.fell) fmt::print("{}\n", fallen);
  fmt::print("{} rows compared with {}, {} fell\n", result.rows, line.check, result.fell.size());
  return result.fell.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  unsetenv("OPENBLAS_CORETYPE");  // slower kernels than the CPU's own would be measured
  BenchOptions line;
  Tool tool("bench", "How fast is the library, and how far from what the machine can do?",
            "bench --filter '^rmsnorm' --threads 1");
  tool.option("--filter", line.filter, "cases in whose name this regex has a match");
  tool.option("--steps", line.timing.steps, "time exactly N steps, once; 0: as long as --min-time",
              at_least(0));
  tool.option("--repetitions", line.timing.repetitions, "repetitions, of which the median counts",
              at_least(1));
  tool.option("--min-time", line.timing.min_seconds, "seconds that a repetition lasts at least", above(0));
  tool.option("--json", line.json, "one JSON object a line");
  tool.option("--list", line.list, "print the names of the cases and stop");
  tool.option("--keep", line.keep, "write shares and counts, with 1 thread and --threads, into this file");
  tool.option("--check", line.check,
              "compare with it, with 1 thread and --threads; exits with 1 if a row fell");
  tool.option("--counts", line.counts, "with --check: counts only");
  tool.option("--products", line.products, "who multiplies matrices", one_of({"own", "openblas"}));
  tool.option("--only", line.only, "run this case in this process");
  return tool.run(argc, argv, [&] {
    check(line.keep.empty() || line.check.empty(), "--keep and --check exclude each other: give one");
    check(!line.counts || !line.check.empty() || !line.only.empty(), "--counts: wanted --check too");
    line.threads = threads();
    line.threads_given = tool.given("--threads");
    if (!line.list && (!line.keep.empty() || !line.check.empty())) return keep_or_compare(line);
    if (line.only.empty() && !line.list) run_all(line);
    for (const Case& one : all_cases()) {
      if (line.list) fmt::print("{}\n", one.name);
      if (one.name == line.only) fmt::print("{}\n", measured(one, line).dump());
    }
    return 0;
  });
}
