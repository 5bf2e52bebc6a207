// How much faster is RMSNorm than LayerNorm, and DyT than both, on this machine?
//
// Claims: RMSNorm is 7.7 times as fast as LayerNorm (source 003, which timed 1000 forwards of 1000 × 512),
// for it has one reduction and not two (000, 001), one pass over the data and not two (003), and makes models
// 7 % to 64 % faster (001), 12 % and with 2 % less memory (003); DyT is meant to be faster still (004).
// LayerNorm costs slightly more than BatchNorm, and rsqrt is more efficient than 1/sqrt (002).
//
// Each norm is timed fused, as one op, and spelled out in several ops, forward alone and forward + backward.
// A spelled-out norm pays for every pass over memory, so where arrays do not fit the caches the ratio of
// passes (studies/norm_speed/variants.h) predicts that of times.
#include <fmt/ranges.h>

#include <charconv>

#include "../../../core/parallel.h"
#include "../../../data/file.h"
#include "../../../data/json_text.h"
#include "../../run/program.h"
#include "model_step.h"
#include "roots.h"
#include "timed.h"

using namespace isobar;
using namespace isobar::speed;

namespace {

constexpr int64_t least_rounds = 15;  // three in each group

struct Config : HasFields {
  std::vector<std::string> shapes = {"32x512", "1000x512"};
  int64_t rounds = least_rounds;
  double turn_ms = 2;  // some thousand steps of the smallest shapes
  int64_t processes = 5;

  void fields(Fields& f) override {
    f("shapes", shapes, "rows x columns");
    f("rounds", rounds, "rounds, in each of which every norm has a turn", at_least(least_rounds));
    f("turn_ms", turn_ms, "milliseconds that a turn lasts at least, about; a model's 30 times that",
      above(0));
    f("processes", processes, "processes that time all of it, one after the other; each gives a quotient",
      at_least(1));
  }
};

Size size_of(const std::string& word) {
  Size size{};
  const char* end = word.data() + word.size();
  const auto rows = std::from_chars(word.data(), end, size.rows);
  const bool has_columns = rows.ec == std::errc() && rows.ptr != end && *rows.ptr == 'x';
  const auto columns = has_columns ? std::from_chars(rows.ptr + 1, end, size.columns) : rows;
  check(has_columns && columns.ec == std::errc() && columns.ptr == end && size.rows >= 1 &&
            size.columns >= 1 && size.rows <= (int64_t{1} << 24) / size.columns,
        "--shapes: wanted rows x columns such as 1000x512, of at most 2^24 elements, got '{}'", word);
  return size;
}

std::vector<Size> sizes_of(const Config& config) {
  std::vector<Size> sizes;
  for (const std::string& shape : config.shapes) sizes.push_back(size_of(shape));
  return sizes;
}

// What another process measures.
Json measured_by_process(Run& run, const Config& config, int64_t number) {
  const std::string folder = fmt::format("{}/process_{}", run.folder(), number);
  const Finished finished =
      run_child(own_path(),
                {"--shapes", fmt::format("{}", fmt::join(config.shapes, ",")), "--rounds",
                 fmt::format("{}", config.rounds), "--turn_ms", fmt::format("{}", config.turn_ms),
                 "--processes", "1", "--seed", fmt::format("{}", run.seed()), "--threads",
                 fmt::format("{}", threads()), "--force", "--out", folder},
                Complaints::kept);
  check(finished.code == 0, "process {}: exit code {}: {}", number, finished.code, finished.err);
  return parse_json<Json>(read_regular_file(folder + "/summary.json", size_t{1} << 28))["measured"];
}

// Gives each quotient of best times a value for each process; the machine was busy where one found it so.
void take_processes(Run& run, const std::vector<Json>& others) {
  for (auto& [key, value] : run.summary()["measured"].items()) {
    const bool busy = key == "machine.busy";
    if (!busy && !key.ends_with(".best")) continue;
    std::vector<double> medians{number_from(value["median"])};
    for (const Json& other : others) medians.push_back(number_from(other.at(key)["median"]));
    if (busy) medians = {std::ranges::max(medians)};
    Json spread = to_json(spread_of(medians));
    if (value.contains("theory")) spread["theory"] = value["theory"];
    value = std::move(spread);
  }
}

void study(Run& run, const Config& config) {
  const std::vector<Size> sizes = sizes_of(config);
  check_variants(run);

  const auto seed = static_cast<uint64_t>(run.seed());
  ModelStep model(seed, 30 * config.turn_ms / 1000);
  std::vector<Roots> roots;  // of one number a row, and of every element
  for (const int64_t count : {1000, 512'000}) roots.emplace_back(count);
  std::vector<Timed> all;
  for (const Size& size : sizes)
    for (const Mode& mode : modes) all.emplace_back(size, mode, config.turn_ms / 1000, Rng(seed));
  Machine machine;
  {
    Progress progress = run.progress(config.rounds, "rounds");
    for (int64_t round = 0; round < config.rounds; ++round) {
      for (Timed& timed : all) timed.round(), machine.turn();
      for (Roots& each : roots) each.rounds.round(), machine.turn();
      model.rounds.round(), machine.turn();
      progress.advance();
    }
  }

  Csv& csv = run.csv("speed.csv", {"mode", "rows", "columns", "norm", "seconds", "seconds_min", "seconds_max",
                                   "bytes", "gb_per_s", "triad_share"});
  std::vector<std::vector<double>> groups = {model.step_quotients(), model.inference_quotients()};
  for (const Roots& each : roots)
    groups.insert(groups.end(), {each.two_loops_over_one(), each.exact_over_estimate()});
  for (const Timed& timed : all) {
    publish_times(run, timed, csv);
    publish_ratios(run, timed);
    for (const Pair& pair : ratios) groups.push_back(timed.best_quotients(pair));
  }
  print_times(run, all);
  for (const Mode& mode : modes) print_ratios(run, all, mode);
  for (const Roots& each : roots) each.publish(run);
  model.publish(run);
  publish_machine(run, machine.disturbance(groups));
  std::vector<Json> others;
  for (int64_t number = 2; number <= config.processes; ++number)
    others.push_back(measured_by_process(run, config, number));
  take_processes(run, others);
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{
      .name = "norm_speed",
      .about =
          "How much faster is RMSNorm than LayerNorm, and DyT than both, on this machine?\n"
          "Fused and spelled out, forward alone and with backward, round by round.",
      .example = "norm_speed --full --threads 1",
      .page = "studies/norm_speed/README.md",
      .trained = trains_no_nets,
      .presets = {{"quick", "two small shapes"},
                  {"full", "six shapes", "--shapes 1x512,32x512,1000x512,2048x512,8192x768,2048x4096"}},
      .tiny = "--shapes 2x8 --rounds 15 --turn_ms 0.1 --processes 1",
      .profiles = false,
      .check = [&] { sizes_of(config); }};
  return run_program(program, config, argc, argv, [&](Run& run) { study(run, config); });
}
