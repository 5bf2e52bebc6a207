#include "pairs.h"

#include <algorithm>
#include <cmath>

namespace isobar {

std::vector<double> shares_of_gain(const std::vector<double>& nats,
                                   const std::vector<double>& reference_losses, double unigram_loss) {
  std::vector<double> shares;
  for (size_t i = 0; i < std::min(nats.size(), reference_losses.size()); ++i)
    shares.push_back(nats[i] / (unigram_loss - reference_losses[i]));
  return shares;
}

std::vector<double> perplexity_percent(const std::vector<double>& nats) {
  std::vector<double> percent;
  for (const double difference : nats) percent.push_back(100 * std::expm1(difference));
  return percent;
}

}  // namespace isobar
