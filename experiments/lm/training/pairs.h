// What the difference of two losses means. Two models of one seed are a pair; `nats` has the difference of each.
#pragma once

#include <vector>

namespace isobar {

// As shares of what the reference of a pair gained on the loss of a model that knows only the frequencies of the tokens.
// Of the seeds that both lists have.
std::vector<double> shares_of_gain(const std::vector<double>& nats,
                                   const std::vector<double>& reference_losses, double unigram_loss);
// In percent of the reference's perplexity: 100 (exp(difference) − 1).
std::vector<double> perplexity_percent(const std::vector<double>& nats);

}  // namespace isobar
