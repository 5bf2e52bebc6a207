#include "results.h"

#include "../../../autograd/ops.h"
#include "../../../nn/model.h"
#include "../../run/sweep.h"

namespace isobar {
namespace {

constexpr int64_t sweep_size = 3;  // seeds that choose a net's rate

struct Job {
  size_t trial;
  int64_t seed, cost;  // cost: blocks times steps
};

// After the rates that it is greater than, or before all.
void add_rate(NormResults& results, const Trial& like, double rate) {
  const auto same_net = [&](const TrialRuns& runs) {
    return runs.trial.size == like.size && runs.trial.net() == like.net();
  };
  auto place = std::ranges::find_if(results.trials, same_net);
  while (place != results.trials.end() && same_net(*place) && place->trial.learning_rate < rate) ++place;
  Trial trial = like;
  trial.learning_rate = rate;
  results.trials.insert(place, {.trial = trial, .outcomes = {}});
}

// The rate of the ladder that is nearest, as a ratio.
double nearest_in_ladder(double rate) {
  return *std::ranges::min_element(swept_rates, {},
                                   [&](double known) { return std::abs(std::log(known / rate)); });
}

// x is (N, C) or (B, T, C): the largest | |row| − 1 |.
double largest_length_error(const Tensor& x) {
  const auto width = static_cast<size_t>(x.size(x.ndim() - 1));
  const std::vector<double> values = x.to_vector<double>();
  double largest = 0;
  for (size_t begin = 0; begin < values.size(); begin += width) {
    double squares = 0;
    for (size_t i = begin; i < begin + width; ++i) squares += values[i] * values[i];
    largest = std::max(largest, std::abs(std::sqrt(squares) - 1));
  }
  return largest;
}

struct BlockOutputs : Observer {
  double largest_error = 0;

  void on_output(const Module& module, const Tensor& y) override {
    if (dynamic_cast<const NGPTBlock*>(&module) != nullptr)
      largest_error = std::max(largest_error, largest_length_error(y.detach()));
  }
  void on_output_gradient(const Module&, const Tensor&) override {}
};

// Trains each trial from `first_seed` on until so many outcomes as `count_of` wants are in this member.
void add_outcomes(Grid& grid, int64_t first_seed, NormResults& results,
                  std::vector<TrialOutcome> TrialRuns::*outcomes_of, const TrainTrial& train,
                  const std::function<int64_t(const TrialRuns&)>& count_of) {
  std::vector<Job> jobs;
  for (size_t i = 0; i < results.trials.size(); ++i) {
    const TrialRuns& runs = results.trials[i];
    for (int64_t done = std::ssize(runs.*outcomes_of); done < count_of(runs); ++done)
      jobs.push_back({i, first_seed + done, runs.trial.layers * runs.trial.steps});
  }
  // The longest first, so that threads end together; seeds of a trial stay in order.
  std::ranges::stable_sort(jobs, std::ranges::greater(), &Job::cost);
  std::vector<Json> rows;
  for (const Job& job : jobs) rows.push_back(results.trials[job.trial].trial.settings(job.seed));
  const auto train_job = [&](size_t i) { return train(results.trials[jobs[i].trial].trial, jobs[i].seed); };
  const std::vector<TrialOutcome> outcomes = grid.train<TrialOutcome>(rows, train_job);
  for (size_t i = 0; i < jobs.size(); ++i)
    (results.trials[jobs[i].trial].*outcomes_of).push_back(outcomes[i]);
}

}  // namespace

void train_trials(Grid& grid, const Run& run, NormResults& results, const TrainTrial& train,
                  const std::function<int64_t(const TrialRuns&)>& seeds_of) {
  add_outcomes(grid, run.seed(), results, &TrialRuns::outcomes, train, seeds_of);
}

void try_trials(Grid& grid, const Run& run, NormResults& results, const TrainTrial& train) {
  add_outcomes(grid, run.seed() + sweep_seeds, results, &TrialRuns::tried, train, [&](const TrialRuns& runs) {
    return results.rates(runs.trial.size, runs.trial.net()).size() > 1 ? sweep_size : 0;
  });
}

bool add_rates_beyond_edges(NormResults& results) {
  bool added = false;
  for (const std::string& size : results.sizes())
    for (const std::string& net : results.nets(size)) {
      const std::vector<const TrialRuns*> trials = results.rates(size, net);
      const std::vector<double> rates =
          values_of(trials, [](const TrialRuns* runs) { return runs->trial.learning_rate; });
      const TrialRuns* best = results.best(size, net);
      const double from = best != nullptr ? best->trial.learning_rate : std::ranges::min(rates);
      const Trial like = trials.front()->trial;  // a copy: add_rate moves the trials
      if (const std::optional<double> rate = rate_beyond(rates, from)) {
        add_rate(results, like, *rate);
        added = true;
      }
    }
  return added;
}

std::optional<double> rate_beyond(std::span<const double> rates, double best) {
  const auto [least, greatest] = std::ranges::minmax(rates);
  if (least == greatest || (best != least && best != greatest)) return std::nullopt;
  const double factor = best == least ? 1 / std::sqrt(10.0) : std::sqrt(10.0);
  const double next = nearest_in_ladder(best * factor);
  const bool beyond = best == least ? next < best : next > best;
  return beyond ? std::optional(next) : std::nullopt;
}

LmConfig training_of(const TinyConfig& config, const Trial& trial) {
  LmConfig training = config.training(trial.width, trial.layers, trial.steps, trial.learning_rate);
  training.warmup_iters = trial.warmup;
  if (trial.placement == "ngpt") {
    training.weight_decay = 0;  // its weights are normalized instead
  } else {
    training.placement = trial.placement;
    training.norm = trial.norm;
  }
  training.check_together();
  return training;
}

std::unique_ptr<Module> model_of(const LanguageModelConfig& config, const Trial& trial, const Rng& rng) {
  if (trial.placement != "ngpt") return std::make_unique<LanguageModel>(config, rng);
  return std::make_unique<NGPT>(NGPTConfig{.vocab_size = config.vocab_size,
                                           .block_size = config.block_size,
                                           .n_layer = config.n_layer,
                                           .n_head = config.n_head,
                                           .n_embd = config.n_embd},
                                rng);
}

LengthErrors length_errors(NGPT& model, const Tensor& tokens) {
  BlockOutputs outputs;
  {
    const Evaluation here(model);
    const Watch watching(model, outputs);
    model(tokens);
  }
  double weights = 0;
  for (const NamedTensor& entry : named_parameters(model)) {
    if (entry.tensor.ndim() != 2) continue;
    const bool columns = entry.name.ends_with("o_proj.weight") || entry.name.ends_with("down_proj.weight");
    const Tensor values = entry.tensor.detach();
    weights = std::max(weights, largest_length_error(columns ? contiguous(transpose(values)) : values));
  }
  return {.outputs = outputs.largest_error, .weights = weights};
}

}  // namespace isobar
