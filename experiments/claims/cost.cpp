#include "cost.h"

#include <sys/resource.h>
#include <unistd.h>
#include <cstdlib>
#include <fstream>
#include <numeric>

#include "../run/lists.h"
#include "kept.h"

namespace isobar::claims {
namespace {

// The numbers of these settings (numbers, or lists of them with commas between); `otherwise` where none is.
std::vector<double> numbers(const Json& config, std::initializer_list<const char*> names, double otherwise) {
  std::vector<double> found;
  for (const char* name : names) {
    const Json value = config.value(name, Json());
    if (value.is_number()) found.push_back(std::max(0.0, value.get<double>()));
    if (value.is_string())
      for (const std::string& word : words_of(value.get<std::string>()))
        found.push_back(std::max(0.0, std::strtod(word.c_str(), nullptr)));
  }
  return found.empty() ? std::vector<double>{otherwise} : found;
}

double sum(const std::vector<double>& of) { return std::accumulate(of.begin(), of.end(), 0.0); }

// How many words these settings have, multiplied.
double choices(const Json& config, std::initializer_list<const char*> names) {
  double product = 1;
  for (const char* name : names)
    if (const Json value = config.value(name, Json()); value.is_string())
      product *= std::max<double>(1, static_cast<double>(words_of(value.get<std::string>()).size()));
  return product;
}

// As ulimit wants it, in so many bytes or seconds a unit: what is wanted, or a lower limit in force here.
std::string limit(double wanted, int resource, uint64_t unit) {
  rlimit now{};
  const bool limited = ::getrlimit(resource, &now) == 0 && now.rlim_cur != RLIM_INFINITY;
  return std::to_string(std::min(static_cast<uint64_t>(wanted), limited ? now.rlim_cur : UINT64_MAX) / unit);
}

// Of this program, in bytes. A sanitizer takes terabytes.
double address_space() {
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

Cost cost_of(const Json& config, int threads) {
  const std::vector<double> depths = numbers(config, {"depth", "depths", "n_layer", "deep_layers"}, 4);
  const double width =
                   std::ranges::max(numbers(config, {"width", "widths", "d_model", "n_embd", "hidden"}, 64)),
               inner = std::ranges::max(numbers(config, {"dim_feedforward"}, 4 * width)),
               rows = std::ranges::max(numbers(config, {"batch", "batch_size", "rows"}, 32)) *
                      std::ranges::max(numbers(config, {"length", "lengths", "block_size"}, 1)),
               seeds = std::ranges::max(numbers(config, {"seeds"}, 1)), deepest = std::ranges::max(depths);
  // A layer's weights, and values that its backward keeps: of a Linear, or of a Transformer's block.
  const bool block = config.contains("d_model") || config.contains("n_embd") || config.contains("widths");
  const double weights = block ? width * (4 * width + 2 * inner) : width * width,
               kept = rows * (block ? 12 * width + 2 * inner : 3 * width);

  // Layers times steps of all trainings, the second comparison of lm_norms beside the first.
  const double main = choices(config, {"nets", "norms", "kinds", "learning_rates"}) *
                      sum(numbers(config, {"depth", "depths", "n_layer"}, 4)) *
                      sum(numbers(config, {"steps", "finetuning_steps", "few_steps"}, 1)),
               deep = choices(config, {"deep_nets", "deep_learning_rates"}) *
                      sum(numbers(config, {"deep_layers"}, 0)) * sum(numbers(config, {"deep_steps"}, 0));
  // Products forward and backward, passes over activations and weights, and the calls themselves.
  const double operations = 6 * rows * weights + 100 * kept + 60 * weights + 4e6;
  constexpr double per_second = 2e10;  // of one thread
  Cost cost;
  cost.seconds = seeds * (main + deep) * operations / (per_second * threads) +
                 std::ranges::max(numbers(config, {"rounds"}, 0)) *
                     std::ranges::max(numbers(config, {"turn_ms"}, 0)) * 0.2;
  cost.bytes = 4 * (2 * weights + kept) * deepest * std::min<double>(seeds, threads) +
               200 * seeds * deepest;  // of what every layer measured
  return cost;
}

Cost share() {
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return {.bytes = std::max(memory / 2, 2.0 * (1 << 30)), .seconds = 3600};
}

std::string cost_text(const Cost& cost) {
  const std::string time =
      cost.seconds < 7200 ? rough_time(cost.seconds) : fmt::format("about {:.0f} h", cost.seconds / 3600);
  return fmt::format("{:.1f} GiB and {}", cost.bytes / (1 << 30), time);
}

std::vector<std::string> limited(const std::string& program, const std::vector<std::string>& arguments,
                                 const Cost& most, int threads) {
  // The shell sets the limits and becomes the program.
  const bool watched = address_space() > most.bytes;
  std::vector<std::string> words{"-c",
                                 "ulimit -v $1; ulimit -t $2; shift 2; exec \"$@\"",
                                 "sh",
                                 watched ? "unlimited" : limit(most.bytes, RLIMIT_AS, 1024),
                                 limit(most.seconds * threads, RLIMIT_CPU, 1),
                                 program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Pace Pace::of_texts(const std::string& scale) { return Pace(Kept::shipped().seconds(scale)); }

void Pace::made(const std::string& run, double seconds) {
  total_ += seconds;
  ++count_;
  const auto known = kept_.find(run);
  if (known == kept_.end()) return;
  here_ += seconds;
  there_ += known->second;
}

double Pace::seconds(const std::vector<std::string>& runs) const {
  // Runs of a second say little of a machine's speed: ten seconds at the kept speed are added to those made.
  constexpr double trust = 10;
  const double speed = (here_ + trust) / (there_ + trust);
  double sum = 0;
  for (const std::string& run : runs) {
    const auto known = kept_.find(run);
    if (known != kept_.end())
      sum += speed * known->second;
    else if (count_ > 0)
      sum += total_ / static_cast<double>(count_);
    else
      return std::numeric_limits<double>::quiet_NaN();
  }
  return sum;
}

std::string rough_time(double seconds) {
  if (seconds < 10) return "a few seconds";
  if (seconds < 90) return fmt::format("about {:.0f} s", 10 * std::round(seconds / 10));
  return fmt::format("about {:.0f} min", std::round(seconds / 60));
}

}  // namespace isobar::claims
