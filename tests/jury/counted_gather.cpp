// Wrong embeddings, gathers and pools.
#include <cmath>

#include "layers.h"

namespace isobar::counted_gather {
namespace {

Tensor windows(In x, int64_t k) { return reshape(x, {x.size(0), x.size(1) / k, k}); }

// The largest integer of 0, 1, 2 below x.
Tensor floor_of(In x) { return where(x >= 2, 2 + 0 * x.detach(), where(x >= 1, 1 + 0 * x.detach(), 0.0)); }

Tensor floor_index(In x) {
  std::vector<int64_t> at;
  for (const double number : x.to_vector<double>()) at.push_back(static_cast<int64_t>(number));
  return tensor(x.shape(), at);
}

Tensor next(In at) {
  std::vector<int64_t> after = at.to_vector<int64_t>();
  for (int64_t& index : after) ++index;
  return tensor(at.shape(), after);
}

Draw tokens_with_padding() {
  return {std::function([](const Rng& rng) {
    std::vector<int64_t> tokens = rng.integers({3, 4}, 4).to_vector<int64_t>();
    tokens[1] = tokens[6] = 0;
    return tensor({3, 4}, tokens);
  })};
}

const bool listed_gathers = list_counted({
    by_hand(
        {"gather", "columns that repeat: the last one overwrites", {"overwritten"}, {"missing term"}},
        {{3, 4}}, {{5}},
        [](In x, In w) {
          return index_select(x, 1, tensor({5}, std::vector<int64_t>{0, 2, 2, 3, 0})) * w;
        },
        [](In dy, In, In x, In w) {
          const std::vector<int64_t> columns{0, 2, 2, 3, 0};
          const std::vector<double> from = (dy * w).template to_vector<double>();
          std::vector<double> to(x.numel(), 0);
          for (int64_t n = 0; n < x.size(0); ++n)
            for (int64_t j = 0; j < 5; ++j) to[n * 4 + columns[j]] = from[n * 5 + j];
          return std::vector{
              cast(tensor(x.shape(), to), x.dtype()),
              sum(dy * index_select(x, 1, tensor({5}, std::vector<int64_t>{0, 2, 2, 3, 0})), {0})};
        }),
    by_hand(
        {"gather",
         "padding token: y is 0 there, but dw is not",
         {"cross-talk", "missing factor"},
         {"one-sided"}},
        {tokens_with_padding()}, {{4, 3}},
        [](In tokens, In w) {
          const Tensor real = reshape(tokens != full({}, 0, Dtype::i64), {tokens.size(0), 4, 1});
          return where(real, embedding(tokens, w), 0.0);
        },
        [](In dy, In, In tokens, In w) {
          const int64_t rows = tokens.numel();
          return std::vector{Tensor(), index_add(zeros(w.shape(), w.dtype()), 0, reshape(tokens, {rows}),
                                                 reshape(dy, {rows, 3}))};
        }),
    by_hand(
        {"gather",
         "bag of embeddings, largest: dy to every token",
         {"missing factor", "cross-talk"},
         {"wrong factor"}},
        {integers({3, 4}, 6)}, {{6, 3}}, [](In tokens, In w) { return max(embedding(tokens, w), {1}); },
        [](In dy, In, In tokens, In w) {
          const int64_t rows = tokens.numel();
          const Tensor each = broadcast_to(reshape(dy, {dy.size(0), 1, 3}), {dy.size(0), 4, 3});
          return std::vector{Tensor(), index_add(zeros(w.shape(), w.dtype()), 0, reshape(tokens, {rows}),
                                                 reshape(each, {rows, 3}))};
        }),
    by_hand(
        {"gather", "rolled by 2: dx rolled the same way", {"transposed", "misplaced"}}, {{3, 5}}, {{5}},
        [](In x, In w) {
          return concat({slice(x, 1, 3, 5), slice(x, 1, 0, 3)}, 1) * w;
        },
        [](In dy, In, In x, In w) {
          const Tensor d = dy * w, rolled = concat({slice(x, 1, 3, 5), slice(x, 1, 0, 3)}, 1);
          return std::vector{concat({slice(d, 1, 3, 5), slice(d, 1, 0, 3)}, 1), sum(dy * rolled, {0})};
        }),
    by_hand(
        {"gather",
         "tied embedding: dw from the logits alone",
         {"lost branch", "missing term"},
         {"overwritten", "not summed"}},
        {integers({3, 2}, 4)}, {{4, 3}},
        [](In tokens, In w) { return linear(tanh(embedding(tokens, w)), w); },
        [](In dy, In, In tokens, In w) {
          const Tensor h = tanh(embedding(tokens, w));
          return std::vector{Tensor(), sum(matmul(transpose(dy), h), {0})};
        }),
    by_hand(
        {"gather",
         "position table: gradient of the last example",
         {"overwritten", "not summed"},
         {"missing term", "lost branch"}},
        {{3, 4, 2}}, {{4, 2}}, [](In x, In table) { return sin(x + table); },
        [](In dy, In, In x, In table) {
          const Tensor d = dy * cos(x + table);
          const int64_t last = std::max<int64_t>(0, x.size(0) - 1);
          return std::vector{d, sum(slice(d, 0, last, x.size(0)), {0})};
        }),
    by_hand(
        {"gather",
         "interpolated table: weights of the two neighbours exchanged",
         {"wrong factor", "misplaced"},
         {"transposed", "swapped inputs"}},
        {uniform({6}, 0, 2.99)}, {{4}},
        [](In x, In table) {
          const Tensor at = floor_index(x), f = x - floor_of(x);
          return (1 - f) * gather(table, 0, at) + f * gather(table, 0, next(at));
        },
        [](In dy, In, In x, In table) {
          const Tensor at = floor_index(x), f = x - floor_of(x);
          const Tensor dtable = scatter_add(zeros(table.shape(), x.dtype()), 0, at, dy * f);
          return std::vector{dy * (gather(table, 0, next(at)) - gather(table, 0, at)),
                             scatter_add(dtable, 0, next(at), dy * (1 - f))};
        }),
});

const bool listed_pools = list_counted({
    by_hand(
        {"pooling",
         "overlapping averages: a shared element gets only the last window",
         {"overwritten"},
         {"missing term", "not summed"}},
        {{3, 5}}, {}, [](In x) { return (slice(x, 1, 0, 3) + slice(x, 1, 1, 4) + slice(x, 1, 2, 5)) / 3.0; },
        [](In dy, In, In x) {
          const std::vector<double> from = dy.to_vector<double>();
          std::vector<double> to(x.numel(), 0);
          for (int64_t n = 0; n < x.size(0); ++n)
            for (int64_t i = 0; i < 3; ++i)
              for (int64_t j = 0; j < 3; ++j) to[n * 5 + i + j] = from[n * 3 + i] / 3;
          return cast(tensor(x.shape(), to), x.dtype());
        }),
    by_hand(
        {"pooling",
         "max over triples: dy to all three",
         {"missing factor", "cross-talk"},
         {"wrong factor", "one-sided"}},
        {{3, 6}}, {{2}}, [](In x, In w) { return max(windows(x, 3), {2}) * w; },
        [](In dy, In, In x, In w) {
          const Tensor each = reshape(dy * w, {dy.size(0), 2, 1});
          return std::vector{reshape(broadcast_to(each, {dy.size(0), 2, 3}), x.shape()),
                             sum(dy * max(windows(x, 3), {2}), {0})};
        }),
    by_hand(
        {"pooling", "mean over time, divided by the channels", {"1/N", "constant factor"}}, {{2, 5, 3}},
        {{3}}, [](In x, In w) { return mean(x, {1}) * w; },
        [](In dy, In, In x, In w) {
          const Tensor each = reshape(dy * w, {dy.size(0), 1, 3});
          return std::vector{broadcast_to(each, x.shape()) / static_cast<double>(x.size(2)),
                             sum(dy * mean(x, {1}), {0})};
        }),
    by_hand(
        {"pooling",
         "pairs with a rest of one: the rest gets nothing",
         {"cross-talk", "missing term"},
         {"one-sided", "lost branch", "missing factor"}},
        {{3, 5}}, {},
        [](In x) {
          const Tensor pairs = mean(windows(slice(x, 1, 0, 4), 2), {2});
          return concat({pairs, slice(x, 1, 4, 5)}, 1);
        },
        [](In dy, In, In x) {
          const Tensor pairs = reshape(slice(dy, 1, 0, 2), {dy.size(0), 2, 1}) / 2.0;
          return pad(reshape(broadcast_to(pairs, {dy.size(0), 2, 2}), {dy.size(0), 4}), {0, x.size(1) - 4});
        }),
    by_hand(
        {"pooling", "log-sum-exp: dx = dy exp(x)", {"row factor", "missing factor"}, {"wrong factor"}},
        {{4, 5}}, {}, [](In x) { return logsumexp(x, {1}); },
        [](In dy, In, In x) {
          return reshape(dy, {dy.size(0), 1}) * exp(x);
        }),
    by_hand(
        {"pooling",
         "mean over real elements: dx divides by all",
         {"row factor", "1/N"},
         {"missing factor", "wrong factor", "constant factor"}},
        {{4, 5}}, {},
        [](In x) {
          const Tensor real = where(x > -0.5, ones(x.shape(), x.dtype()), 0.0);
          return sum(x * real, {1}) / (sum(real, {1}) + 1e-3);
        },
        [](In dy, In, In x) {
          return where(x > -0.5, reshape(dy, {dy.size(0), 1}) / 5.001, 0.0);
        }),
    by_hand(
        {"pooling", "smallest as −max(−x): a minus lost", {"sign"}}, {{4, 5}}, {{3, 5}},
        [](In x, In w) {
          return min(reshape(x, {x.size(0), 1, 5}) * w, {2});
        },
        [](In dy0, In y, In x, In w) {
          const Tensor products = reshape(x, {x.size(0), 1, 5}) * w;
          const Tensor dy = reshape(dy0, {dy0.size(0), 3, 1});
          const Tensor d =
              where(products == reshape(y, {y.size(0), 3, 1}), broadcast_to(-dy, products.shape()), 0.0);
          return std::vector{sum(d * w, {1}), sum(d * reshape(x, {x.size(0), 1, 5}), {0})};
        }),
});

}  // namespace
}  // namespace isobar::counted_gather
