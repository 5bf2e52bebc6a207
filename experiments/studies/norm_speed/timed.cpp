#include "timed.h"

#include "../../../autograd/autograd.h"
#include "../../run/table.h"

namespace isobar::speed {
namespace {

constexpr Pair pairs[] = {
    {"layernorm_fused", "rmsnorm"},
    {"layernorm_no_bias", "rmsnorm"},  // what the mean alone costs
    {"layernorm_var", "rmsnorm"},
    {"layernorm_squares", "rmsnorm"},
    {"rmsnorm_spelled", "rmsnorm"},
    {"dyt", "rmsnorm"},
    {"dyisru", "rmsnorm"},
    {"layernorm_fused", "rmsnorm_spelled"},
    {"layernorm_var", "rmsnorm_spelled"},
    {"layernorm_squares", "rmsnorm_spelled"},
    {"layernorm_script", "rmsnorm_script"},
    {"rmsnorm_spelled", "rmsnorm_script"},  // x / √… against x · (1/√…)
    {"layernorm_squares", "batchnorm"},
    {"layernorm_squares", "batchnorm_inference"},
    {"layernorm_var", "layernorm_fused"},
    {"dyt_spelled", "rmsnorm_spelled"},
    {"dyt", "layernorm_fused"},
};

constexpr double triad_passes = 3;

int passes_of(const Variant& variant, const Mode& mode) {
  return variant.forward_passes + (mode.backward ? variant.backward_passes : 0);
}

// a / b of the passes over memory.
double quotient_of_passes(const Pair& pair, const Mode& mode) {
  return static_cast<double>(passes_of(variant_named(pair.first), mode)) /
         passes_of(variant_named(pair.second), mode);
}

// x and dy (N, C).
Step step_of(const Variant& variant, const Mode& mode, const Tensor& x, const Tensor& dy, const Weights& w) {
  if (!mode.backward) return [=, norm = variant.norm] { norm(x, w); };
  return [=, norm = variant.norm] {
    Tape tape;
    tape.backward(norm(x, w), dy);
    x.clear_grad();
    w.clear_grad();
  };
}

// A step for every variant, then the triad.
std::vector<Step> steps_of(const Size& size, const Mode& mode, const Rng& rng) {
  const Tensor x = rng.split("x").normal({size.rows, size.columns}).set_trainable();
  const Tensor dy = rng.split("dy").normal({size.rows, size.columns});
  const Weights w(size.columns);
  std::vector<Step> steps;
  for (const Variant& variant : variants) steps.push_back(step_of(variant, mode, x, dy, w));
  steps.push_back(triad_step(x.numel()));
  return steps;
}

size_t number_of(const std::string& variant) {
  return static_cast<size_t>(&variant_named(variant) - variants.data());
}

std::string key_of(const Timed& timed, const std::string& name) {
  return fmt::format("{}.{}.{}", timed.mode().name, timed.shape(), name);
}

}  // namespace

const std::span<const Pair> ratios = pairs;

Timed::Timed(const Size& size, const Mode& mode, double turn_seconds, const Rng& rng)
    : size_(size), mode_(mode), rounds_(steps_of(size, mode, rng), turn_seconds) {}

const std::vector<double>& Timed::of(const std::string& variant) const {
  return rounds_.seconds()[number_of(variant)];
}

std::vector<double> Timed::triad_share(const Variant& variant) const {
  const double factor = passes_of(variant, mode_) / triad_passes;
  return pairwise(triad(), of(variant.name), [&](double a, double b) { return factor * a / b; });
}

std::vector<double> Timed::quotients(const Pair& pair) const {
  return pairwise(of(pair.first), of(pair.second), std::divides());
}

std::vector<double> Timed::best_quotients(const Pair& pair) const {
  return rounds_.best_quotients(number_of(pair.first), number_of(pair.second));
}

void publish_times(Run& run, const Timed& timed, Csv& csv) {
  const auto publish = [&](const std::string& name, const std::vector<double>& by_round, double passes,
                           const Spread& share) {
    const Spread seconds = spread_of(by_round);
    const double bytes = passes * timed.array_bytes();
    run.timing()["seconds"][key_of(timed, name)] = to_json(seconds);
    run.record(key_of(timed, name), by_round);
    csv.row({timed.mode().name, timed.size().rows, timed.size().columns, name, seconds.median, seconds.min,
             seconds.max, bytes, bytes / seconds.median / 1e9, share.median});
  };
  for (const Variant& variant : variants) {
    const Spread share = spread_of(timed.triad_share(variant));
    publish(variant.name, timed.of(variant.name), passes_of(variant, timed.mode()), share);
    run.measured(key_of(timed, variant.name) + ".triad_share", share);
  }
  publish("triad", timed.triad(), triad_passes,
          spread_of(pairwise(timed.triad(), timed.triad(), std::divides())));
}

void publish_ratios(Run& run, const Timed& timed) {
  const bool large = timed.array_bytes() > 1 << 20;
  for (const Pair& pair : ratios) {
    const std::string key = key_of(timed, fmt::format("{}_over_{}", pair.first, pair.second));
    const double theory = large ? quotient_of_passes(pair, timed.mode()) : Run::no_theory;
    run.measured(key, spread_of(timed.quotients(pair)), theory);
    run.measured(key + ".best", spread_of(timed.best_quotients(pair)), theory);
  }
}

void print_times(Run& run, std::span<const Timed> all) {
  std::vector<std::string> heading{""};
  for (const Timed& timed : all)
    heading.push_back(
        fmt::format("{} {}", timed.mode().backward ? "with backward" : "forward", timed.shape()));
  const std::string columns = "l" + std::string(all.size(), 'r');
  Table times(heading, columns), shares(heading, columns);
  const auto row = [&](Table& table, const std::string& name, auto&& cell_of) {
    std::vector<std::string> cells{name};
    for (const Timed& timed : all) cells.push_back(cell_of(timed));
    table.row(cells);
  };
  const auto micros = [](const std::vector<double>& seconds) {
    return number_text(1e6 * spread_of(seconds).median);
  };
  for (const Variant& variant : variants) {
    row(times, variant.name, [&](const Timed& timed) { return micros(timed.of(variant.name)); });
    row(shares, variant.name, [&](const Timed& timed) {
      return fmt::format("{:.0f} %", 100 * spread_of(timed.triad_share(variant)).median);
    });
  }
  row(times, "triad", [&](const Timed& timed) { return micros(timed.triad()); });
  row(shares, "triad", [&](const Timed& timed) {
    return fmt::format("{:.1f} GB/s",
                       triad_passes * timed.array_bytes() / 1e9 / spread_of(timed.triad()).median);
  });
  run.say("Microseconds, median over the rounds:\n{}\n", times.text());
  run.say("Bytes moved per second, as a share of the triad's:\n{}\n", shares.text());
}

void print_ratios(Run& run, std::span<const Timed> all, const Mode& mode) {
  std::vector<std::string> heading{mode.name};
  for (const Timed& timed : all)
    if (timed.mode().backward == mode.backward) heading.push_back(timed.shape());
  heading.push_back("by passes");
  Table table(heading, "l" + std::string(heading.size() - 1, 'r'));
  for (const Pair& pair : ratios) {
    std::vector<std::string> row{fmt::format("{} / {}", pair.first, pair.second)};
    for (const Timed& timed : all) {
      if (timed.mode().backward != mode.backward) continue;
      row.push_back(range_text(spread_of(timed.best_quotients(pair)), 2));
    }
    row.push_back(fmt::format("{:.2f}", quotient_of_passes(pair, mode)));
    table.row(row);
  }
  run.say("Quotients of the fastest rounds' times (median, least and greatest of {} groups):\n{}\n",
          group_count, table.text());
}

}  // namespace isobar::speed
