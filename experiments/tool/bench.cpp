// isobar bench: what is the limit of this machine, and how near to it are six training steps?
//
// A step moves bytes or multiplies. The least that it must do, divided by its time, is compared with what the machine
// does of the same kind: a triad a = b + s · c over as many bytes, or products of 512 × 512. A step is timed in turns
// with its limit, so that a machine whose clock changes changes both. Of each the least time of all turns counts.
//
// Between the turns a loop of fixed arithmetic runs (run/clock.h). Where its threads have less CPU time than wall time,
// other programs took the rest: such a row has times, and no share.
#include <thread>

#include <fmt/ranges.h>

#include "../../core/kernels/vec.h"
#include "../../core/parallel.h"
#include "../bench/case.h"
#include "../run/clock.h"
#include "../run/environment.h"
#include "../run/machine_limits.h"
#include "../run/table.h"
#include "../run/tool.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

using bench::Case;
using bench::Limit;
using bench::Step;

struct BenchLine {
  double seconds = 40;
  bool json = false;
};

// --- The machine.

struct LimitRow {
  std::string name, unit;
  std::vector<Pass> passes;  // the fastest counts; empty: products
};

const std::vector<LimitRow>& limit_rows() {
  static const std::vector<LimitRow> all = {
      {"products of 512 × 512, f32", "GFLOP/s", {}},
      {"read a", "GB/s", {Pass::read}},
      {"copy a = b", "GB/s", {Pass::copy, Pass::streaming_copy}},
      {"triad a = b + s · c", "GB/s", {Pass::triad, Pass::streaming_triad}}};
  return all;
}

// Steps that do the same work, and how much of it.
struct LimitSteps {
  std::vector<Step> steps;
  double amount;  // flops or bytes of a step
};

LimitSteps steps_of(const std::vector<Pass>& passes, double bytes) {
  if (passes.empty()) return {{LimitProducts()}, LimitProducts().flops()};
  LimitSteps limit{{}, LimitPass(passes.front(), bytes).bytes()};
  for (const Pass pass : passes) limit.steps.push_back(LimitPass(pass, bytes));
  return limit;
}

double least(const std::vector<double>& seconds) { return *std::min_element(seconds.begin(), seconds.end()); }

// Flops or bytes a second, of the fastest of the steps.
double best_rate(const LimitRow& row, double bytes, double seconds) {
  LimitSteps limit = steps_of(row.passes, bytes);
  speed::Rounds rounds(limit.steps, seconds / static_cast<double>(limit.steps.size()));
  rounds.round();
  double best = 0;
  for (const std::vector<double>& times : rounds.seconds())
    best = std::max(best, limit.amount / least(times));
  return best;
}

// Bytes of arrays that do not fit the caches.
double bytes_beyond_caches() {
  constexpr int64_t mib = 1 << 20;
  const std::vector<Cache> caches = data_caches();
  const int64_t last = caches.empty() ? 0 : caches.back().bytes;
  return static_cast<double>(std::clamp(4 * last, 128 * mib, 1024 * mib));
}

std::string size_text(double bytes) {
  if (bytes >= 1 << 20) return fmt::format("{:.4g} MiB", bytes / (1 << 20));
  return fmt::format("{:.4g} KiB", bytes / (1 << 10));
}

std::string caches_text() {
  std::vector<std::string> names;
  for (const Cache& cache : data_caches())
    names.push_back(fmt::format("L{} {}", cache.level, size_text(static_cast<double>(cache.bytes))));
  return names.empty() ? "caches unknown" : fmt::format("{}", fmt::join(names, ", "));
}

// What the kernels use, and what this CPU has beyond.
std::string features() {
  const std::string used = kernels::register_name;
  std::string text = fmt::format("{}, {} f32 in a register", used, kernels::width<float>);
#ifdef __x86_64__
  const char* better = __builtin_cpu_supports("avx512f") ? "AVX-512"
                       : __builtin_cpu_supports("avx2")  ? "AVX2"
                                                         : "";
  if (*better != '\0' && used != better && used != "AVX-512")
    text += fmt::format("; this CPU has {} too, which this build does not use", better);
#endif
  return text;
}

// --- The steps.

struct BenchRow {
  std::string name, case_name;  // the latter as in tests/bench
};

const std::vector<BenchRow>& bench_rows() {
  static const std::vector<BenchRow> all = {{"RMSNorm, 8192 × 768", "rmsnorm_fwdbwd_8192x768"},
                                            {"LayerNorm, 8192 × 768", "layernorm_fwdbwd_8192x768"},
                                            {"DyT, 8192 × 768", "dyt_fwdbwd_8192x768"},
                                            {"softmax, 4096 × 1024", "softmax_fwdbwd_4096x1024"},
                                            {"GELU (tanh), 4096 × 1024", "gelu_tanh_fwdbwd_4096x1024"},
                                            {"step of a nanoGPT, 4 × 128", "lm_nanogpt_cpu"}};
  return all;
}

Case case_named(const std::string& name) {
  bench::Cases cases;
  bench::add_norms(cases);
  bench::add_elementwise(cases);
  bench::add_language_models(cases);
  const auto found = std::ranges::find(cases, name, &Case::name);
  check(found != cases.end(), "isobar bench: there is no case {}", name);
  return *found;
}

struct Timed {
  int threads;
  double seconds;      // of a step
  double rate, limit;  // bytes or flops a second
  speed::Disturbance disturbance;

  // NaN where the machine was busy.
  double share() const { return disturbance.busy() ? NAN : rate / limit; }
};

// Turns of the step, of its limit and of the loop that finds other programs.
Timed time_case(const Case& one, double seconds) {
  const bool multiplies = one.work.limit == Limit::sgemm;
  const LimitSteps limit = steps_of(
      multiplies ? std::vector<Pass>() : std::vector{Pass::triad, Pass::streaming_triad}, one.work.footprint);
  std::vector<Step> steps = {one.setup()};
  steps.insert(steps.end(), limit.steps.begin(), limit.steps.end());
  speed::Rounds rounds(steps, seconds / static_cast<double>(speed::group_count * steps.size()));
  speed::Machine machine;
  for (int64_t i = 0; i < speed::group_count; ++i) {
    rounds.round();
    machine.turn();
  }
  const std::vector<std::vector<double>>& times = rounds.seconds();
  size_t fastest = 1;
  for (size_t i = 2; i < times.size(); ++i)
    if (least(times[i]) < least(times[fastest])) fastest = i;
  return {.threads = threads(),
          .seconds = least(times[0]),
          .rate = one.work.amount / least(times[0]),
          .limit = limit.amount / least(times[fastest]),
          .disturbance = machine.disturbance({rounds.best_quotients(0, fastest)})};
}

// --- What is printed.

// "1 thread", "2 threads"
std::string threads_text(int count) { return fmt::format("{} thread{}", count, count == 1 ? "" : "s"); }

std::string need_text(const Case& one) {
  if (one.work.limit == Limit::sgemm) return fmt::format("{:.4g} GFLOP", one.work.amount / 1e9);
  return fmt::format("{:.4g} MB", one.work.amount / 1e6);
}

std::string share_text(const Timed& timed) {
  return timed.disturbance.busy() ? "busy" : fmt::format("{:.0f} %", 100 * timed.share());
}

Json json_of(const Timed& timed) {
  const speed::Disturbance& seen = timed.disturbance;
  Json json = {
      {"threads", timed.threads},      {"seconds", timed.seconds}, {"rate", timed.rate},
      {"limit", timed.limit},          {"share", nullptr},         {"busy", seen.busy()},
      {"lost_share", seen.lost_share}, {"spread", seen.spread},    {"disagreement", seen.disagreement}};
  if (!seen.busy()) json["share"] = timed.share();
  return json;
}

// A sentence on the rows whose share is not given; empty where there is none.
std::string busy_text(const std::vector<Timed>& all) {
  const auto most = [&](double speed::Disturbance::*member) {
    double value = 0;
    for (const Timed& timed : all) value = std::max(value, timed.disturbance.*member);
    return 100 * value;
  };
  const auto busy = std::ranges::count_if(all, [](const Timed& timed) { return timed.disturbance.busy(); });
  if (busy == 0) return "";
  return fmt::format(
      "The machine was busy, so {} of {} shares are not given, and its limits may be higher than printed: other programs\n"
      "took up to {:.0f} % of the time of a loop of fixed arithmetic (allowed {:.0f}), whose turns differed by {:.0f} % ({:.0f}), and a\n"
      "row's rounds by {:.0f} % ({:.0f}).\n",
      busy, all.size(), most(&speed::Disturbance::lost_share), 100 * speed::Disturbance::most_lost,
      most(&speed::Disturbance::spread), 100 * speed::Disturbance::most_spread,
      most(&speed::Disturbance::disagreement), 100 * speed::Disturbance::most_disagreement);
}

// Prints each line at once, unless JSON is wanted.
class Bench {
 public:
  explicit Bench(const BenchLine& line) : line_(line), counts_{1} {
    if (threads() > 1) counts_.push_back(threads());
    // A tenth of the time for the limits, the rest for the steps.
    const auto columns = static_cast<double>(counts_.size());
    limit_seconds_ = 0.1 * line.seconds / (columns * static_cast<double>(limit_rows().size()));
    step_seconds_ = 0.9 * line.seconds / (columns * static_cast<double>(bench_rows().size()));
  }

  void run() {
    say("isobar bench: takes about {:.2g} s on an idle machine\n", line_.seconds);
    describe();
    limits();
    steps();
    if (line_.json) return write_out(json_text(json_));
    say("\n{}A share is that of the triad over as many bytes, or of the products, timed in turns with the step; it may pass\n"
        "100 %, since a triad finds less in the caches. Least times of {} rounds; tests/bench compares with PyTorch.\n",
        busy_text(all_), speed::group_count);
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) const {
    if (!line_.json) write_out(fmt::format(format, std::forward<Args>(args)...));
  }

  void describe() {
    const Json environment = current_environment();
    const unsigned cores = std::thread::hardware_concurrency();
    json_ = {{"environment", environment}, {"features", features()},
             {"caches", Json::array()},    {"cores", cores},
             {"limits", Json::array()},    {"rows", Json::array()}};
    for (const Cache& cache : data_caches())
      json_["caches"].push_back({{"level", cache.level}, {"bytes", cache.bytes}});
    say("{}: {} cores, {} of them usable; {}\n", environment.value("cpu", "unknown CPU"), cores,
        available_threads(), caches_text());
    say("kernels: {}\nproducts: {} ({})\n", features(), environment.value("blas", ""),
        environment.value("blas_core", ""));
  }

  void limits() {
    const double bytes = bytes_beyond_caches();
    say("\n{:<28}", fmt::format("arrays of {}", size_text(bytes)));
    for (const int count : counts_) say("{:>20}", threads_text(count));
    say("\n");
    for (const LimitRow& row : limit_rows()) {
      say("{:<28}", row.name);
      Json rates = Json::array();
      for (const int count : counts_) {
        const WithThreads with(count);
        const double rate = best_rate(row, bytes, limit_seconds_);
        say("{:>20}", fmt::format("{:.4g} {}", rate / 1e9, row.unit));
        rates.push_back({{"threads", count}, {"rate", rate}});
      }
      say("\n");
      json_["limits"].push_back({{"name", row.name}, {"unit", row.unit}, {"runs", rates}});
    }
  }

  void steps() {
    say("\n{:<28}{:>12}", "forward and backward", "needs");
    for (const int count : counts_) say("{:>15} ms  share", threads_text(count));
    say("\n");
    for (const BenchRow& row : bench_rows()) {
      const Case one = case_named(row.case_name);
      say("{:<28}{:>12}", row.name, need_text(one));
      Json runs = Json::array();
      for (const int count : counts_) {
        const WithThreads with(count);
        all_.push_back(time_case(one, step_seconds_));
        say("{:>18}  {:>5}", number_text(1e3 * all_.back().seconds), share_text(all_.back()));
        runs.push_back(json_of(all_.back()));
      }
      say("\n");
      json_["rows"].push_back({{"name", row.name},
                               {"case", row.case_name},
                               {one.work.limit == Limit::sgemm ? "flops" : "bytes", one.work.amount},
                               {"runs", runs}});
    }
  }

  const BenchLine line_;
  std::vector<int> counts_;  // of threads
  double limit_seconds_, step_seconds_;
  std::vector<Timed> all_;
  Json json_;
};

}  // namespace

int bench(const Words& words) {
  BenchLine line;
  Tool tool(
      "isobar bench",
      "Measures the limits of this machine, and compares six training steps with them, on one and on all threads.",
      "isobar bench --threads 1");
  tool.option("--seconds", line.seconds, "time for all, in seconds; a step is timed at least nine times",
              between(0.01, 60));
  tool.option("--json", line.json, "print the numbers as JSON");
  return tool.run(words, [&] { Bench(line).run(); });
}

}  // namespace isobar::verbs
