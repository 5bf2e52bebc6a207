#include "sweep.h"

#include <algorithm>
#include <cmath>

#include "../../core/error.h"

namespace isobar {

std::vector<double> first_rates(int64_t depth) {
  const double wanted = 3e-3 * std::min(1.0, std::sqrt(8 / static_cast<double>(depth)));
  const auto nearer = [&](double a, double b) {
    return std::abs(std::log(a / wanted)) < std::abs(std::log(b / wanted));
  };
  const double* const middle =
      std::min_element(std::begin(swept_rates) + 1, std::end(swept_rates) - 1, nearer);
  return {*(middle - 1), *middle, *(middle + 1)};
}

double Sweep::best() const {
  check(!losses.empty(), "sweep: no rate was tried");
  const auto lower = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::min_element(losses.begin(), losses.end(), lower)->first;
}

std::vector<double> Sweep::next(double constant_loss) const {
  const double rate = best(), lowest = losses.begin()->first, highest = losses.rbegin()->first;
  const bool nothing_learned = losses.at(rate) > constant_loss - learned_by;
  std::vector<double> rates;
  if ((rate == lowest || nothing_learned) && lowest != *std::begin(swept_rates))
    rates.push_back(*(std::find(std::begin(swept_rates), std::end(swept_rates), lowest) - 1));
  if ((rate == highest || nothing_learned) && highest != *(std::end(swept_rates) - 1))
    rates.push_back(*(std::find(std::begin(swept_rates), std::end(swept_rates), highest) + 1));
  return rates;
}

bool Sweep::at_edge() const {
  return best() == *std::begin(swept_rates) || best() == *(std::end(swept_rates) - 1);
}

}  // namespace isobar
