// Trainings: those of a duel, as rows of a grid (run/grid.h), which a killed run goes on from.
#pragma once

#include "../run/grid.h"
#include "training.h"

namespace isobar::duel {

class Trainings {
 public:
  // `options`: what decides the trainings' bits besides the run's settings, and which of these do not.
  Trainings(Run& run, GridOptions options, std::function<Trained(const Training&)> train)
      : grid_(run, std::move(options)), train_(std::move(train)) {}

  // Trains all of them, side by side, and calls done(0, …), done(1, …), … in this order, as soon as each and those
  // before it are there. All processes must ask for the same.
  void of(const std::vector<Training>& wanted, const std::function<void(size_t, const Trained&)>& done) {
    std::vector<Json> rows;
    for (const Training& training : wanted) rows.push_back(training.settings());
    grid_.train<Trained>(
        rows, [&](size_t i) { return train_(wanted[i]); }, done);
  }
  // How many train at a time, on the threads of all ranks.
  int64_t at_a_time() const { return grid_.at_a_time(); }
  // Those that an earlier run had left.
  int64_t found() const { return grid_.found(); }
  // The journal goes once the results are there.
  void end() { grid_.finish(); }

 private:
  Grid grid_;
  std::function<Trained(const Training&)> train_;
};

}  // namespace isobar::duel
