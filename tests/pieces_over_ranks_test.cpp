// Training over ranks: the order of its sums as it shows from outside, and the bits of one process.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "../experiments/lm/optimizer.h"
#include "../nn/nn.h"
#include "../nn/pieces.h"
#include "message_of.h"
#include "same_tensors.h"
#include "thread_link.h"

using namespace isobar;

namespace {

struct Weight : Module {
  Tensor weight;
  explicit Weight(int64_t n) : weight(zeros({n}).set_trainable()) {}
  void fields(Fields& f) override { f("weight", weight); }
};

// How the order of a sum shows from outside (Basic-FPRev, Xie et al. 2024): piece i is M, piece j is −M, all others are
// 1, and M swallows every 1 that meets it before its opposite. What is left counts the pieces outside of the smallest
// subtree that has both. Each element of the masks is another pair (i, j), so that one sum tells all.
constexpr float huge = 1 << 30;  // + 12 · 1 = 2^30 in f32
constexpr int64_t elements = 12 * 8192;

std::vector<std::pair<int64_t, int64_t>> pairs_of(int64_t pieces) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t i = 0; i < pieces; ++i)
    for (int64_t j = i + 1; j < pieces; ++j) pairs.emplace_back(i, j);
  return pairs;
}

std::vector<Tensor> masks_of(int64_t pieces) {
  const auto pairs = pairs_of(pieces);
  std::vector<Tensor> masks;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    std::vector<float> mask(elements);
    for (size_t e = 0; e < mask.size(); ++e) {
      const auto& [i, j] = pairs[e % pairs.size()];
      mask[e] = piece == i ? huge : piece == j ? -huge : 1;
    }
    masks.push_back(tensor(Shape(elements), mask));
  }
  return masks;
}

// Of the documented tree: the number of pieces in the smallest subtree of begin … end that has both.
int64_t lowest_subtree(int64_t begin, int64_t end, int64_t i, int64_t j) {
  int64_t half = 1;
  while (2 * half < end - begin) half *= 2;
  if (j < begin + half) return lowest_subtree(begin, begin + half, i, j);
  if (i >= begin + half) return lowest_subtree(begin + half, end, i, j);
  return end - begin;
}

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
  LmOptimizer optimizer(model, config, ranks);
  const Share mine = ranks.share(config.gradient_accumulation_steps);
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
                     {.accumulation_steps = config.gradient_accumulation_steps}, optimizer.shards());
    optimizer.set_rates(static_cast<int64_t>(step) + 1);
    optimizer.step(clipping(gradients.norm, config));
    add(full({}, gradients.loss, Dtype::f64));
    add(full({}, gradients.norm, Dtype::f64));
  }
  for (const Tensor& parameter : parameters(model)) add(parameter);
  const std::vector<NamedTensor> state = optimizer.whole_state();
  for (const NamedTensor& named : state)
    if (ranks.first()) add(named.tensor);
  return bytes;
}

}  // namespace

TEST_CASE("masks show the documented tree on any number of ranks") {
  for (const int64_t pieces : {8, 12, 24}) {
    const std::vector<Tensor> masks = masks_of(pieces);
    const auto pairs = pairs_of(pieces);
    std::vector<int64_t> wanted;
    for (const auto& [i, j] : pairs) wanted.push_back(pieces - lowest_subtree(0, pieces, i, j));
    for (const int size : {1, 2, 3, 4, 6, 8, 12})
      run_ranks(size, [&](Ranks& ranks) {
        Weight model(elements);
        Shards shards(parameters(model), ranks);
        backward_in_pieces(
            model, pieces,
            [&](int64_t piece) { return sum(model.weight * masks[static_cast<size_t>(piece)]); }, {}, shards);
        shards.spread_gradients();
        if (!ranks.first()) return;  // all have the same (shards_test.cpp)
        const Tensor sums = model.weight.grad();
        int64_t wrong = 0;
        for (int64_t e = 0; e < elements; ++e)
          wrong += std::lround(sums.data<float>()[e] * static_cast<float>(pieces)) !=
                   wanted[static_cast<size_t>(e) % wanted.size()];
        CAPTURE(pieces);
        CAPTURE(size);
        CHECK(wrong == 0);
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
        CHECK(here.size() == (ranks.first() ? wanted.size() : here.size()));
        CHECK((std::memcmp(here.data(), wanted.data(), here.size()) == 0));
      });
  }
}

TEST_CASE("what a piece throws reaches all ranks, and the first piece's error is heard") {
  std::mutex mutex;
  std::map<int, std::string> said;
  run_ranks(4, [&](Ranks& ranks) {
    Weight model(5);
    Shards shards(parameters(model), ranks);
    const std::string message = message_of([&] {
      backward_in_pieces(
          model, 8,
          [&](int64_t piece) {
            check(piece != 3 && piece != 6, "bad rows in {}", piece);
            return sum(model.weight);
          },
          {}, shards);
    });
    for (const Tensor& part : shards.mine()) CHECK_FALSE(part.grad().defined());
    CHECK_THROWS_AS(backward_in_pieces(
                        model, 4, [&](int64_t piece) { return sum(model.weight) * (piece == 1 ? NAN : 1.0); },
                        {.detect_anomaly = true}, shards),
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
    Shards of_norm(parameters(norm), ranks);
    CHECK(message_of([&] {
            backward_in_pieces(
                norm, 2,
                [&](int64_t) {
                  return sum(norm(ones({2, 4})));
                },
                {}, of_norm);
          }).find("running statistics, which each piece changes for the next; train it in one process") !=
          std::string::npos);
    Weight model(5);
    Shards shards(parameters(model), ranks);
    const auto step = [&] {
      backward_in_pieces(
          model, 2, [&](int64_t) { return sum(model.weight); }, {}, shards);
    };
    CHECK_NOTHROW(step());
    CHECK(message_of(step).find("gradients do not add up over calls; take an optimizer's step first") !=
          std::string::npos);
  });
}
