// Measurements: what a study measures, by key, one value per seed.
//
//   measurements.add("jacobian.rmsnorm.d64.rank", rank, 63);   // seed after seed, with the closed form
//   measurements.publish(run);   // each as run.measured() and as a row of measurements.csv
//   measurements.expect_close(run, ".rank", 0);                // all keys that end so
#pragma once

#include "grid.h"
#include "sweep.h"

namespace isobar {

class Measurements {
 public:
  // The theory must be the same for all values of a key; `within` is how far a value may be from it at most.
  void add(const std::string& key, double value, double theory = Run::no_theory,
           double within = std::numeric_limits<double>::infinity());
  // Throws Error when there is no such key.
  Spread spread(const std::string& key) const;
  // In the order of first use.
  void publish(Run& run) const;
  // A table of all of them.
  void print(Run& run) const;
  // Expects every value of every key that ends in `suffix` to lie within `bound` of its theory.
  // Throws Error when there is no such key, or one without a theory.
  void expect_close(Run& run, const std::string& suffix, double bound) const;
  // Expects every value to be as close to its theory as add() was told.
  void expect_bounds(Run& run) const;

 private:
  struct Measurement {
    std::string key;
    double theory, within;
    std::vector<double> values;
  };
  std::vector<Measurement> measurements_;
};

// --- Pairs: trainings of several nets, the seeds side by side, and what is measured of them, seed by seed.
//
//   Pairs<Job> pairs{run, config.seeds, [&](const Job& job) { return train_net(config, job); }};
//   pairs.train_all({{.label = "none", .norm = "none"}, {.label = "rmsnorm", .norm = "rmsnorm"}});
//   pairs.tell("rmsnorm", {"loss"});            // measures rmsnorm.loss
//   pairs.minus("rmsnorm", {"loss"}, "none");   // and rmsnorm.loss_minus_none, seed by seed
//   pairs.publish();
//
// A Job has a label, a seed, which is set here, and settings(), which are its row of the grid.

template <class Job>
struct Pairs {
  Run& run;
  int64_t seeds;
  std::function<NamedValues(const Job&)> train;               // called by several threads at a time
  std::map<std::string, std::vector<NamedValues>> runs = {};  // by label, over the seeds
  Measurements measurements = {};
  Grid grid{run};

  // Throws Error where a label is there twice.
  void train_all(const std::vector<Job>& jobs) { train_from(run.seed(), seeds, jobs); }

  // Returns the best of each of these lists, whose jobs differ in their rate: the one with the least mean of `name` over
  // `count` seeds that judge nothing (sweep.h). A mean that is no number is never the least. Nothing is trained for a list
  // of one.
  std::vector<Job> best_of(const std::vector<std::vector<Job>>& lists, int64_t count,
                           const std::string& name) {
    const auto label_of = [](const Job& job, size_t i) {
      return fmt::format("{}, rate {} of the sweep", job.label, i + 1);
    };
    std::vector<Job> all;
    for (const std::vector<Job>& list : lists)
      for (size_t i = 0; i < list.size() && list.size() > 1; ++i)
        all.emplace_back(list[i]).label = label_of(list[i], i);
    train_from(run.seed() + sweep_seeds, count, all);
    std::vector<Job> best;
    for (const std::vector<Job>& list : lists) {
      size_t found = 0;
      double least = std::numeric_limits<double>::infinity();
      for (size_t i = 0; i < list.size() && list.size() > 1; ++i)
        if (const double mean = mean_of(label_of(list[i], i), name); mean < least) least = mean, found = i;
      best.push_back(list[found]);
    }
    return best;
  }

  // The mean over the seeds.
  double mean_of(const std::string& label, const std::string& name) const {
    double sum = 0;
    for (const NamedValues& values : runs.at(label)) sum += values.at(name);
    return sum / static_cast<double>(runs.at(label).size());
  }
  // Measures "<label>.<name>".
  void tell(const std::string& label, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      for (const NamedValues& values : runs.at(label)) measurements.add(label + "." + name, values.at(name));
  }
  // Once all is measured.
  void publish() {
    measurements.publish(run);
    grid.finish();
  }
  // "<label>.<name>_over_<other>" or "…_minus_<other>"; of "a.b" as other the name is b.
  void over(const std::string& label, const std::vector<std::string>& names, const std::string& other) {
    compare(label, names, other, "_over_", [](double a, double b) { return a / b; });
  }
  void minus(const std::string& label, const std::vector<std::string>& names, const std::string& other) {
    compare(label, names, other, "_minus_", [](double a, double b) { return a - b; });
  }

 private:
  void train_from(int64_t first_seed, int64_t count, const std::vector<Job>& jobs) {
    for (const Job& job : jobs) check(runs.try_emplace(job.label).second, "{} is there twice", job.label);
    std::vector<Job> trainings;
    std::vector<Json> rows;
    for (const Job& job : jobs)
      for (int64_t i = 0; i < count; ++i) {
        trainings.push_back(job);
        trainings.back().seed = static_cast<uint64_t>(first_seed + i);
        rows.push_back(trainings.back().settings());
      }
    grid.train<NamedValues>(
        rows, [&](size_t i) { return train(trainings[i]); },
        [&](size_t i, const NamedValues& values) { runs[trainings[i].label].push_back(values); });
  }
  void compare(const std::string& label, const std::vector<std::string>& names, const std::string& other,
               const char* sign, double (*of)(double, double)) {
    for (const std::string& name : names)
      for (size_t i = 0; i < runs.at(label).size(); ++i)
        measurements.add(label + "." + name + sign + other.substr(other.rfind('.') + 1),
                         of(runs.at(label)[i].at(name), runs.at(other)[i].at(name)));
  }
};

}  // namespace isobar
