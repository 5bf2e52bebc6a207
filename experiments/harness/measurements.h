// Measurements: what a study measures, by key, one value per seed.
//
//   measurements.add("jacobian.rmsnorm.d64.rank", rank, 63);   // seed after seed, with the closed form
//   measurements.publish(run);   // each as run.measured() and as a row of measurements.csv
//   measurements.expect_close(run, ".rank", 0);                // all keys that end so
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "run.h"

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

}  // namespace isobar
