// Trainings: those of a duel, side by side, and the journal that a killed run goes on from.
#pragma once

#include <map>

#include "../run/run.h"
#include "training.h"

namespace isobar::duel {

// The first rank keeps the journal in the run's folder: a heading that says of which settings, sources and data the
// trainings are, then each as its length, a checksum and its bytes. Others' journals, and what a kill left
// half written, are dropped. Of the same settings, but other sources or data, it is taken with --accept-old alone, and
// what the run says then stands in its summary as "accepted_old".
class Trainings {
 public:
  // `heading`: what decides the trainings' bits, besides sources and the data that the run has read by now.
  Trainings(Run& run, const Json& heading, std::function<Trained(const Training&)> train);

  Trainings(const Trainings&) = delete;
  Trainings& operator=(const Trainings&) = delete;
  ~Trainings();

  // Trains all of them, side by side, and calls done(0, …), done(1, …), … in this order, as soon as each and those
  // before it are there; those of the journal are there at once. All ranks must ask for the same.
  void of(const std::vector<Training>& wanted, const std::function<void(size_t, const Trained&)>& done);
  // How many train at a time, on the threads of all ranks.
  int64_t at_a_time() const { return at_a_time_; }
  // The journal goes once the results are there, which have what it holds.
  void end();
  // Those that were read from the journal.
  int64_t found() const { return found_; }

 private:
  std::string known_records(const Json& heading);
  void keep(const Training& training, const Trained& trained);

  Run& run_;
  std::function<Trained(const Training&)> train_;
  std::map<Training, Trained> done_;
  int64_t found_ = 0, at_a_time_ = 1;
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace isobar::duel
