// Pace: how long the runs that are still to be made will take.
//
//   Pace pace("quick", {"blog8", "depth_table"});
//   pace.made("blog8", 0.3);
//   say("{}", pace.text({"depth_table"}));   // ", about 30 s to go"; empty where nothing is known
//
// What each run took when it was last kept is in full.json; this machine's speed beside that one's is learned from
// the runs that were made here.
#pragma once

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
