// Wrong embeddings, gathers and pools.
#include "layers.h"

namespace isobar::counted_gather {

Tensor windows(In x, int64_t k) { return reshape(x, {x.size(0), x.size(1) / k, k}); }

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

}  // namespace isobar::counted_gather
