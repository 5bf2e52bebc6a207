// Wrong embeddings, gathers and pools.
#include <cmath>

#include "layers.h"

namespace isobar::tuned_gather {
namespace {

// (V, C) with row dy[n] at row rows[n]; of equal rows the last one, or their sum.
enum class Repeated { last, sum };
Tensor scattered(In dy, const std::vector<int64_t>& rows, In like, Repeated repeated) {
  const int64_t width = like.size(1);
  const std::vector<double> from = dy.to_vector<double>();
  std::vector<double> to(like.numel(), 0);
  for (size_t n = 0; n < rows.size(); ++n)
    for (int64_t c = 0; c < width; ++c) {
      double& element = to[rows[n] * width + c];
      element = from[n * width + c] + (repeated == Repeated::sum ? element : 0);
    }
  return cast(tensor(like.shape(), to), like.dtype());
}

Tensor permutation() { return tensor({5}, std::vector<int64_t>{2, 0, 3, 1, 4}); }

// (N, T) → (N, T/k, k).
Tensor windows(In x, int64_t k) { return reshape(x, {x.size(0), x.size(1) / k, k}); }

const bool listed_gathers = list_tuned({
    by_hand(
        {"gather", "embedding: a token that repeats is overwritten", {"overwritten"}, {"missing term"}},
        {integers({3, 4}, 5)}, {{5, 3}}, [](In tokens, In w) { return embedding(tokens, w); },
        [](In dy, In, In tokens, In w) {
          return std::vector{Tensor(), scattered(dy, tokens.to_vector<int64_t>(), w, Repeated::last)};
        }),
    by_hand(
        {"gather", "embedding: √C forgotten in backward", {"constant factor"}}, {integers({3, 4}, 5)},
        {{5, 3}}, [](In tokens, In w) { return embedding(tokens, w) * std::sqrt(3.0); },
        [](In dy, In, In tokens, In w) {
          return std::vector{Tensor(), scattered(dy, tokens.to_vector<int64_t>(), w, Repeated::sum)};
        }),
    by_hand(
        {"gather", "bag of embeddings: mean without its 1/T", {"1/N", "constant factor"}},
        {integers({3, 4}, 5)}, {{5, 3}}, [](In tokens, In w) { return mean(embedding(tokens, w), {1}); },
        [](In dy, In, In tokens, In w) {
          const Tensor each = broadcast_to(reshape(dy, {dy.size(0), 1, 3}), {dy.size(0), 4, 3});
          return std::vector{Tensor(), scattered(each, tokens.to_vector<int64_t>(), w, Repeated::sum)};
        }),
    by_hand(
        {"gather", "permuted channels: dx by the permutation, not its inverse", {"transposed", "misplaced"}},
        {{4, 5}}, {{5}}, [](In x, In w) { return index_select(x, 1, permutation()) * w; },
        [](In dy, In, In x, In w) {
          return std::vector{index_select(dy * w, 1, permutation()),
                             sum(dy * index_select(x, 1, permutation()), {0})};
        }),
    by_hand(
        {"gather", "labels from 1: dw one row too far", {"misplaced"}, {"overwritten", "one-sided"}},
        {integers({6}, 5)}, {{5, 3}}, [](In labels, In w) { return tanh(embedding(labels, w)); },
        [](In dy, In y, In labels, In w) {
          std::vector<int64_t> rows = labels.to_vector<int64_t>();
          for (int64_t& row : rows) row = (row + 1) % 5;
          return std::vector{Tensor(), scattered(dy * (1 - square(y)), rows, w, Repeated::sum)};
        }),
});

const bool listed_pools = list_tuned({
    by_hand(
        {"pooling", "average over pairs without its 1/2", {"1/N", "constant factor"}}, {{3, 6}}, {{3}},
        [](In x, In w) { return mean(windows(x, 2), {2}) * w; },
        [](In dy, In, In x, In w) {
          const Tensor each = reshape(dy * w, {dy.size(0), 3, 1});
          return std::vector{reshape(broadcast_to(each, {dy.size(0), 3, 2}), x.shape()),
                             sum(dy * mean(windows(x, 2), {2}), {0})};
        }),
    by_hand(
        {"pooling",
         "max over pairs: gradient to the first of each pair",
         {"misplaced"},
         {"missing factor", "cross-talk"}},
        {{3, 6}}, {}, [](In x) { return max(windows(x, 2), {2}); },
        [](In dy, In, In x) {
          return reshape(pad(reshape(dy, {dy.size(0), 3, 1}), {0, 1}), x.shape());
        }),
});

}  // namespace
}  // namespace isobar::tuned_gather
