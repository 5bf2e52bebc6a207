// Pace: how long the runs that are still to be made will take.
//
// full.json has what each run took when it was kept; this machine's speed is learned from runs made here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace isobar::claims {

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
