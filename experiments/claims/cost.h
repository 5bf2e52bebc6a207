// Cost: what the runs of an untrusted file may take before somebody is asked, and roughly what one will take.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "../run/json.h"

namespace isobar::claims {

struct Cost {
  double bytes = 0, seconds = 0;
};

// Told from the settings alone: layers, widths, rows, steps, seeds and how many nets there are to train.
// Mostly within twenty times of what runs of the texts took: that tells a slip or a bad joke from a study.
Cost cost_of(const Json& config, int threads);

// Half of this machine's memory, but at least 2 GiB (address space is counted, of which a program of many
// threads takes more than it uses), for each run; an hour for all of them.
Cost share();

// "3.9 GiB and about 60 min"
std::string cost_text(const Cost& cost);

// The command that gives a program so much address space and processor time, or what is left of it here.
std::vector<std::string> limited(const std::string& program, const std::vector<std::string>& arguments,
                                 const Cost& most, int threads);

// --- Pace: how long the runs that are still to be made will take.
//
// full.json has what each run took when it was kept; this machine's speed is learned from runs made here.

class Pace {
 public:
  // `kept` are the seconds of each run by its name, where they are known.
  explicit Pace(std::map<std::string, double> kept) : kept_(std::move(kept)) {}
  // Those of the texts, of the last runs kept at this scale.
  static Pace of_texts(const std::string& scale);

  void made(const std::string& run, double seconds);
  // For these runs together; NaN where nothing is known of one of them.
  double seconds(const std::vector<std::string>& runs) const;

 private:
  std::map<std::string, double> kept_;
  double here_ = 0, there_ = 0;  // seconds of the runs that were made, and of the same when they were kept
  double total_ = 0;             // seconds of all that were made
  int64_t count_ = 0;
};

// "about 40 s", "about 5 min"
std::string rough_time(double seconds);

}  // namespace isobar::claims
