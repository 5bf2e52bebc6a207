// linear_cross_entropy beyond its rows in the op table: over several chunks, and what it takes of memory.
#include "../../autograd/autograd.h"
#include "../../core/parallel.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../same_tensors.h"

namespace isobar::linear_cross_entropy_test {

struct Derived {
  Tensor loss, dx, dw;
};

// x (N, C), weight (V, C), targets (N) of which every seventh is ignored.
struct Problem {
  Tensor x, weight, targets;

  Problem(int64_t rows, int64_t channels, int64_t classes, Dtype dtype)
      : x(Rng(1).normal({rows, channels}, 0, 1, dtype).set_trainable()),
        weight(Rng(2).normal({classes, channels}, 0, 1, dtype).set_trainable()),
        targets(Rng(3).integers({rows}, classes)) {
    for (int64_t r = 0; r < rows; r += 7) raw::write<int64_t>(targets)[r] = -100;
  }
  // With a gradient of 3 from above.
  template <class Loss>
  Derived run(const Loss& loss) const {
    Tape tape;
    const Tensor y = loss(x, weight, targets);
    const std::vector<Tensor> gradients = tape.gradient(y, {x, weight}, full({}, 3, y.dtype()));
    return {y, gradients[0], gradients[1]};
  }
  Derived fused() const {
    return run(
        [](const Tensor& a, const Tensor& w, const Tensor& t) { return linear_cross_entropy(a, w, t); });
  }
  Derived composed() const {
    return run(
        [](const Tensor& a, const Tensor& w, const Tensor& t) { return cross_entropy(linear(a, w), t); });
  }
};

void check_close(const Derived& a, const Derived& b, double tolerance) {
  CHECK(difference(a.loss, b.loss) <= tolerance);
  CHECK(difference(a.dx, b.dx) <= tolerance);
  CHECK(difference(a.dw, b.dw) <= tolerance);
}

TEST_CASE("the mean over no rows is NaN, and its gradients are those of a product with no rows") {
  const Tensor x = zeros({0, 4}).set_trainable(), weight = ones({3, 4}).set_trainable();
  Tape tape;
  const Tensor loss = linear_cross_entropy(x, weight, tensor({0}, std::vector<int64_t>{}));
  CHECK(std::isnan(loss.item()));
  const std::vector<Tensor> gradients = tape.gradient(loss, {x, weight});
  CHECK(gradients[0].shape() == Shape{0, 4});
  CHECK(gradients[1].to_vector<double>() == std::vector<double>(12, 0.0));
}

TEST_CASE("a vocabulary of 50,257 takes 2048 rows through a third of what the logits alone would") {
  const WithThreads two(2);
  const Problem problem(2048, 16, 50'257, Dtype::f32);
  constexpr size_t logits = size_t{2048} * 50'257 * sizeof(float);
  const auto peak = [](const auto& body) {
    const size_t before = memory::stats().bytes_in_use;
    memory::reset_peak();
    body();
    return memory::stats().peak_bytes - before;
  };
  // 512 of 2048 rows, a quarter, in a block that may be a quarter too large, and the gradients of x and W.
  CHECK(peak([&] { problem.fused(); }) < logits / 3);
  CHECK(peak([&] { linear_cross_entropy(problem.x, problem.weight, problem.targets); }) < logits / 3);
  CHECK(peak([&] { linear(problem.x, problem.weight); }) >= logits);
}

TEST_CASE("a language model's fused loss is cross_entropy of its logits, with and without a tape") {
  for (const bool tied : {true, false}) {
    CAPTURE(tied);
    LanguageModel model({.vocab_size = LanguageModel::large_vocabulary,
                         .block_size = 8,
                         .n_layer = 1,
                         .n_head = 2,
                         .n_embd = 8,
                         .tie_embeddings = tied},
                        Rng(1));
    convert(model, Dtype::f64);
    REQUIRE(model.fuses_loss());
    const Tensor x = Rng(2).integers({40, 8}, 4096), y = Rng(3).integers({40, 8}, 4096);
    const auto step = [&](bool fused) {
      Tape tape;
      const Tensor loss = fused ? model.loss(x, y) : cross_entropy(model(x), y);
      return std::pair{loss, tape.gradient(loss, parameters(model))};
    };
    const auto fused = step(true), plain = step(false);
    CHECK(difference(fused.first, plain.first) < 1e-14);
    for (size_t i = 0; i < plain.second.size(); ++i)
      CHECK(difference(fused.second[i], plain.second[i]) < 1e-12);
    CHECK(model.loss(x, y).item() == fused.first.item());
  }
}

}  // namespace isobar::linear_cross_entropy_test
