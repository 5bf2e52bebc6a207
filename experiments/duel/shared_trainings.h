// SharedTrainings: trainings of B that several duels with one B share, as those of a table or of a search do.
//
// A file to which each training of B is added as a line with its checksum. A line counts where all that decides the
// training's bits is the same: settings, B's fingerprint, the program's sources, the data. Any other one, and one that a
// kill left half written, is trained anew.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "../run/grid.h"
#include "training.h"

namespace isobar::duel {

class SharedTrainings {
 public:
  // `of`: what decides all trainings' bits besides their own settings. Of an empty path nothing is shared.
  SharedTrainings(std::string path, const Json& of);

  // Threads may call both at a time.
  std::optional<Trained> find(const Training& training) const;
  void add(const Training& training, const Trained& trained);

 private:
  std::string path_, of_;
  std::map<std::string, RowValues> rows_;
  mutable std::mutex mutex_;
};

}  // namespace isobar::duel
