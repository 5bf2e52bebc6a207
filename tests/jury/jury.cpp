#include "jury.h"

namespace isobar {
namespace {

struct Halves {
  std::vector<JuryLayer> tuned, counted;
};

Halves& halves() {
  static Halves both;
  return both;
}

bool append(std::vector<JuryLayer>& half, const std::vector<JuryLayer>& rows) {
  half.insert(half.end(), rows.begin(), rows.end());
  return true;
}

}  // namespace

std::vector<JuryLayer> tuned_jury() { return halves().tuned; }
std::vector<JuryLayer> counted_jury() { return halves().counted; }
bool list_tuned(const std::vector<JuryLayer>& rows) { return append(halves().tuned, rows); }
bool list_counted(const std::vector<JuryLayer>& rows) { return append(halves().counted, rows); }

}  // namespace isobar
