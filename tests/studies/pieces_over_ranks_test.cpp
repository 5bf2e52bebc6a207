// Training over ranks: the order of its sums as it shows from outside, and the bits of one process.
#include "../../experiments/lm/training/train.h"
#include "../../nn/nn.h"
#include "../holds.h"
#include "../message_of.h"
#include "../ranks/tree.h"
#include "../same_tensors.h"
#include "../thread_link.h"

namespace isobar::pieces_over_ranks_test {

struct Weight : Module {
  Tensor weight;
  explicit Weight(int64_t n) : weight(zeros({n}).set_trainable()) {}
  void fields(Fields& f) override { f("weight", weight); }
};

LmConfig tiny(const std::string& optimizer) {
  LmConfig config;
  config.n_layer = 2;
  config.n_head = 2;
  config.n_kv_head = 1;
  config.n_embd = 32;
  config.block_size = 8;
  config.batch_size = 1;
  config.gradient_accumulation_steps = 6;
  config.dropout = 0.2;
  config.grad_clip = 0.5;
  config.optimizer = optimizer;
  config.warmup_iters = 2;
  config.max_iters = 10;
  return config;
}

// What three steps give: weights, state, losses and norms as bytes.
std::string trained(const LmConfig& config, Ranks& ranks) {
  constexpr int64_t vocabulary = 300;
  LanguageModel model(config.model(vocabulary), Rng(1));
  LmOptimizer optimizer(model, config);
  const IndexRange mine = ranks.share(config.gradient_accumulation_steps);
  std::string bytes;
  const auto add = [&](const Tensor& x) {
    const std::vector<double> numbers = x.to_vector<double>();
    bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  };
  for (uint64_t step = 0; step < 3; ++step) {
    const Rng rng = Rng(5).split(step);
    const Shape shape{config.gradient_accumulation_steps, config.block_size};
    const auto rows = [&](const char* which) {
      return slice(rng.split(which).integers(shape, vocabulary), 0, mine.begin, mine.end);
    };
    const Gradients gradients =
        gradients_of(model, {rows("x"), rows("y")}, rng,
                     {.accumulation_steps = config.gradient_accumulation_steps}, ranks);
    optimizer.set_rates(static_cast<int64_t>(step) + 1);
    optimizer.step(clipping(gradients.norm, config));
    add(full({}, gradients.loss, Dtype::f64));
    add(full({}, gradients.norm, Dtype::f64));
  }
  for (const Tensor& parameter : parameters(model)) add(parameter);
  for (const NamedTensor& named : named_state(optimizer)) add(named.tensor);
  return bytes;
}

TEST_CASE("masks show the documented tree on any number of ranks") {
  for (const int64_t pieces : {8, 12, 24}) {
    const std::vector<Tensor> masks = masks_of(pieces);
    CHECK(other_than_documented(masks, Ranks::alone()) == 0);
    for (const int size : {2, 3, 4, 6, 8, 12})
      run_ranks(size, [&](Ranks& ranks) {
        INFO("pieces ", pieces, ", name ", ranks.name());
        CHECK(other_than_documented(masks, ranks) == 0);
      });
  }
}

TEST_CASE("steps of AdamW and Muon with dropout and clipping have the bits of one process on any ranks") {
  for (const char* optimizer : {"adamw", "muon"}) {
    CAPTURE(optimizer);
    const LmConfig config = tiny(optimizer);
    const std::string wanted = trained(config, Ranks::alone());
    for (const int size : {2, 3, 4, 8})
      run_ranks(size, [&](Ranks& ranks) {
        CAPTURE(ranks.name());
        const std::string here = trained(config, ranks);
        CHECK(here.size() == wanted.size());
        CHECK((here == wanted));
      });
  }
}

TEST_CASE("what a piece throws reaches all ranks, and the first piece's error is heard") {
  std::mutex mutex;
  std::map<int, std::string> said;
  run_ranks(4, [&](Ranks& ranks) {
    Weight model(5);
    const std::string message = message_of([&] {
      backward_in_pieces(
          model, 8,
          [&](int64_t piece) {
            check(piece != 3 && piece != 6, "bad rows in {}", piece);
            return sum(model.weight);
          },
          {}, ranks);
    });
    CHECK_FALSE(model.weight.grad().defined());
    CHECK_THROWS_AS(backward_in_pieces(
                        model, 4, [&](int64_t piece) { return sum(model.weight) * (piece == 1 ? NAN : 1.0); },
                        {.detect_anomaly = true}, ranks),
                    NotFinite);
    const std::lock_guard lock(mutex);
    said[ranks.rank()] = message;
  });
  for (const auto& [rank, message] : said) CHECK(message == "piece 4 of 8: bad rows in 3");
  CHECK(said.size() == 4);
}

TEST_CASE("running statistics, and gradients of an earlier call, are refused on several ranks") {
  run_ranks(2, [](Ranks& ranks) {
    BatchNorm1d norm(4);
    CHECK(holds(message_of([&] {
                  backward_in_pieces(
                      norm, 2,
                      [&](int64_t) {
                        return sum(norm(ones({2, 4})));
                      },
                      {}, ranks);
                }),
                "running statistics, which each piece changes for the next; train it in one process"));
    Weight model(5);
    const auto step = [&] {
      backward_in_pieces(
          model, 2, [&](int64_t) { return sum(model.weight); }, {}, ranks);
    };
    CHECK_NOTHROW(step());
    CHECK(holds(message_of(step), "gradients do not add up over calls; take an optimizer's step first"));
  });
}

}  // namespace isobar::pieces_over_ranks_test
