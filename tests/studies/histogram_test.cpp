// How a histogram counts, and what its probe sees of each module.
#include "../../experiments/lm/watching/histogram.h"

#include "../../nn/nn.h"
#include "../thread_counts.h"

namespace isobar::histogram_test {

TEST_CASE("a histogram counts each value in the octave of its size, alike on any number of threads") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<double> values = {1,   1.99, 2,    -1,   -1.5, 0,    -0.0, 1e-30, -1e-30,
                                        1e9, inf,  -inf, 4095, NAN,  1e-6, 0.5,  0.75};
    Histogram h{.lowest = -20};
    h.add(cast(tensor({static_cast<int64_t>(values.size())}, values), dtype));
    std::map<size_t, int64_t> wanted = {{52, 2}, {53, 1}, {11, 2}, {32, 2},
                                        {31, 1}, {63, 3}, {0, 1},  {51, 2}};
    for (size_t i = 0; i < h.bins.size(); ++i) CHECK_MESSAGE(h.bins[i] == wanted[i], i);
    CHECK(h.zeros == 2);
    CHECK(h.total == 17);
    h.add(full({3}, 2, dtype));
    CHECK(h.bins[53] == 4);
    CHECK(h.total == 20);

    // Every value lies between the edges of its bin.
    const Tensor x = Rng(1).normal({100'001}, 0, 0.1, dtype);
    Histogram many{.lowest = -20};
    many.add(x);
    const std::vector<double> edges = many.edges();
    REQUIRE(edges.size() == 65);
    CHECK(edges[32] == 0);
    CHECK(edges[52] == 1);
    CHECK(edges[0] == -4096);
    std::array<int64_t, 64> counted{};
    for (const double value : x.to_vector<double>()) {
      size_t k = 0;
      while (std::abs(value) >= edges[33 + k]) ++k;
      if (value != 0) ++counted[value < 0 ? 31 - k : 32 + k];
    }
    CHECK(many.bins == counted);
    check_same_on_threads([&] {
      Histogram again{.lowest = -20};
      again.add(x);
      return again.bins;
    });
  }
}

TEST_CASE("the smallest octave of a histogram is 1 to 2 unless another is asked for") {
  Histogram h;
  h.add(tensor({4}, std::vector<double>{1.5, 2, 3, -0.5}));
  CHECK(h.bins[32] == 1);
  CHECK(h.bins[33] == 2);
  CHECK(h.bins[31] == 1);
  CHECK(h.edges()[33] == 2);
}

TEST_CASE("a histogram probe counts outputs and gradients of every module, over several calls") {
  Sequential model(Linear(4, 8, Rng(1).split("a")), ReLU());
  const Tensor x = Rng(2).normal({5, 4});
  HistogramProbe probe;
  {
    const Watch watch(model, probe);
    for (int call = 0; call < 2; ++call) {
      Tape tape;
      tape.backward(sum(model(x)));
    }
  }
  const HistogramProbe::Signal *linear = probe.find("0"), *relu = probe.find("1");
  REQUIRE(linear != nullptr);
  REQUIRE(relu != nullptr);
  CHECK(linear->output.total == 80);
  CHECK(linear->gradient.total == 80);
  CHECK(linear->output.zeros == 0);
  const Tensor y = model(x);
  int64_t zeros = 0;
  for (const double value : y.to_vector<double>()) zeros += value == 0 ? 2 : 0;
  CHECK(relu->output.zeros == zeros);
  CHECK(linear->gradient.zeros == zeros);  // where ReLU cuts off
  CHECK(relu->gradient.bins[63] == 80);    // ones, beyond 2^−4
  CHECK(probe.find("2") == nullptr);
  probe.clear();
  CHECK(probe.find("0") == nullptr);
}

}  // namespace isobar::histogram_test
