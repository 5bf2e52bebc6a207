// Pieces of a step: the same bits in order and side by side, for any number of threads, and the tree's own
// order.
#include "../../nn/pieces.h"

#include <numeric>
#include <thread>

#include "../../autograd/check/tape_trace.h"
#include "../../autograd/profile.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../holds.h"
#include "../message_of.h"
#include "../same_tensors.h"
#include "../thread_counts.h"
#include "../thread_link.h"

namespace isobar::pieces_test {

constexpr int64_t rows = 3, length = 8, vocabulary = 11;  // of one piece

// One step is computed several times and compared.
const TapeOptions repeated{.rng = Rng(4), .again = true};

LanguageModel small_model(const std::string& norm = "rmsnorm") {
  return LanguageModel({.vocab_size = vocabulary,
                        .block_size = length,
                        .n_layer = 2,
                        .n_head = 4,
                        .n_kv_head = 2,
                        .n_embd = 32,
                        .norm = norm,
                        .dropout = 0.2},
                       Rng(1));
}

Tensor symbols(int64_t piece, const char* which) {
  return Rng(2).split(which).split(static_cast<uint64_t>(piece)).integers({rows, length}, vocabulary);
}

Tensor loss_of(LanguageModel& model, int64_t piece) {
  return model.loss(symbols(piece, "x"), symbols(piece, "y"));
}

std::vector<Tensor> taken_gradients(Module& model) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters(model)) {
    gradients.push_back(parameter.grad());
    parameter.clear_grad();
  }
  return gradients;
}

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) {
    return x.defined() && y.defined() && same_bits(x, y);
  });
}

// One piece after the other by Tape::backward, and the sums by the recursive definition: no TreeSum, no
// threads.
std::vector<Tensor> recursive_gradients(LanguageModel& model, int64_t begin, int64_t end, int64_t pieces) {
  if (end - begin == 1) {
    Tape tape({.rng = pieces == 1 ? Rng(4) : Rng(4).split(static_cast<uint64_t>(begin)), .again = true});
    const Tensor loss = loss_of(model, begin);
    tape.backward(loss, full({}, 1 / static_cast<double>(pieces)));
    return taken_gradients(model);
  }
  int64_t half = 1;
  while (2 * half < end - begin) half *= 2;
  std::vector<Tensor> sums = recursive_gradients(model, begin, begin + half, pieces);
  const std::vector<Tensor> right = recursive_gradients(model, begin + half, end, pieces);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = sums[i] + right[i];
  return sums;
}

// The pieces that one step took in order, with all threads in their loops.
std::vector<int64_t> in_order(Module& model, int64_t pieces, const std::function<Tensor(int64_t)>& loss) {
  std::mutex mutex;
  std::vector<int64_t> order;
  const auto noted = [&](int64_t piece) {
    if (const std::lock_guard lock(mutex); threads() == 2) order.push_back(piece);
    return loss(piece);
  };
  backward_in_pieces(model, pieces, noted, repeated);
  return order;
}

TEST_CASE("pieces leave the bits of the recursive tree, whatever the number of threads") {
  LanguageModel model = small_model();
  for (const int64_t pieces : {1, 2, 3, 5, 8}) {
    CAPTURE(pieces);
    std::vector<Tensor> wanted;
    {
      const WithThreads one(1);
      wanted = recursive_gradients(model, 0, pieces, pieces);
    }
    std::vector<double> losses;
    for_thread_counts([&] {
      CAPTURE(threads());
      const std::vector<double> now = backward_in_pieces(
          model, pieces, [&](int64_t i) { return loss_of(model, i); }, repeated);
      CHECK(same(taken_gradients(model), wanted));
      if (losses.empty()) losses = now;
      CHECK(now == losses);
      CHECK(now.size() == static_cast<size_t>(pieces));
    });
  }
}

TEST_CASE("small models' pieces really run side by side, with serial loops") {
  LanguageModel model = small_model();
  const WithThreads two(2);
  std::atomic<int> running = 0, wrong = 0, most = 0;
  backward_in_pieces(model, 2,
                     [&](int64_t piece) {
                       ++running;
                       wrong += threads() != 1;
                       // Each piece waits for the other, which pieces in order could not do; after a minute
                       // it gives up.
                       const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
                       while (running < 2 && std::chrono::steady_clock::now() < end)
                         std::this_thread::yield();
                       most = std::max(most.load(), running.load());
                       return loss_of(model, piece);
                     },
                     {.rng = Rng(4)});
  CHECK(most == 2);
  CHECK(wrong == 0);
  CHECK(threads() == 2);
}

TEST_CASE("a model that has running statistics or is watched takes its pieces in order on all threads") {
  const WithThreads two(2);
  const auto loss_in = [](LanguageModel& model) { return [&](int64_t i) { return loss_of(model, i); }; };
  LanguageModel model = small_model(), tracked = small_model("batchnorm");
  CHECK(in_order(tracked, 5, loss_in(tracked)) == std::vector<int64_t>{0, 1, 2, 3, 4});
  // One of five is left when two threads have taken two each.
  CHECK(in_order(model, 5, loss_in(model)) == std::vector<int64_t>{4});
  {
    const TapeTrace trace;
    CHECK(in_order(model, 2, loss_in(model)) == std::vector<int64_t>{0, 1});
  }
  {
    const Profile profile;
    CHECK(in_order(model, 2, loss_in(model)) == std::vector<int64_t>{0, 1});
  }
  {
    const Tape outer;
    CHECK(in_order(model, 2, loss_in(model)) == std::vector<int64_t>{0, 1});
  }
  clear_gradients(parameters(model));
  Probe probe;
  const Watch watch(model, probe);
  CHECK(in_order(model, 4, loss_in(model)) == std::vector<int64_t>{0, 1, 2, 3});
}

TEST_CASE("running statistics and gradients of BatchNorm's pieces do not depend on the threads") {
  std::vector<Tensor> first;
  for_thread_counts([&] {
    LanguageModel model = small_model("batchnorm");
    backward_in_pieces(model, 3, [&](int64_t i) { return loss_of(model, i); }, {.rng = Rng(4)});
    std::vector<Tensor> now = taken_gradients(model);
    for (const NamedTensor& named : named_state(model))
      if (!named.tensor.trainable()) now.push_back(named.tensor);
    if (first.empty()) first = now;
    CHECK(same(now, first));
  });
}

TEST_CASE("the earliest piece that fails is heard, with its number, and no gradient changes") {
  LanguageModel model = small_model();
  for_thread_counts([&] {
    const auto failing = [&](int64_t piece) {
      check(piece < 2, "bad rows in {}", piece);
      return loss_of(model, piece);
    };
    CHECK(message_of([&] { backward_in_pieces(model, 8, failing, {.rng = Rng(4)}); }) ==
          "piece 3 of 8: bad rows in 2");
    for (const Tensor& parameter : parameters(model)) CHECK_FALSE(parameter.grad().defined());
    CHECK_THROWS_AS(backward_in_pieces(model, 2,
                                       [&](int64_t piece) {
                                         return loss_of(model, piece) * (piece == 1 ? std::nan("") : 1.0);
                                       },
                                       {.detect_anomaly = true, .rng = Rng(4)}),
                    NotFinite);
    CHECK_THROWS_AS(backward_in_pieces(model, 2, [](int64_t) -> Tensor { throw std::runtime_error("other"); },
                                       {.rng = Rng(4)}),
                    std::runtime_error);
  });
  CHECK(message_of([&] { backward_in_pieces(model, 0, [&](int64_t i) { return loss_of(model, i); }); }) ==
        "backward_in_pieces: wanted at least one piece, got 0");
}

TEST_CASE("pieces add to the gradients that are there, and leave alone what no loss depends on") {
  Linear layer(4, 2, Rng(1)), unused(4, 2, Rng(3));
  const Tensor x = Rng(2).normal({3, 4});
  const auto loss = [&](int64_t piece) {
    const Tensor of_no_use = unused(x), y = matmul(x, transpose(layer.weight, 0, 1));
    // The bias is in the loss of the second piece alone.
    return piece == 0 ? sum(y) : sum(y + layer.bias);
  };
  struct Both : Module {
    Linear &layer, &unused;
    Both(Linear& a, Linear& b) : layer(a), unused(b) {}
    void fields(Fields& f) override {
      f("unused", unused);
      f("layer", layer);
    }
  } both(layer, unused);
  const Tensor wanted = 1 + broadcast_to(sum(x, {0}), {2, 4});
  for_thread_counts([&] {
    layer.weight.set_grad(ones(layer.weight.shape()));
    layer.bias.clear_grad();
    backward_in_pieces(both, 2, loss);
    CHECK(difference(layer.weight.grad(), wanted) < 1e-6);
    CHECK(layer.bias.grad().to_vector<double>() == std::vector<double>{1.5, 1.5});
    for (const Tensor& parameter : parameters(unused)) CHECK_FALSE(parameter.grad().defined());
  });
}

// Eight rows with these targets, −100 ignored, in so many pieces: the gradient of the weight, and the losses.
struct Classified {
  Linear model{5, 5, Rng(2)};
  Tensor x = Rng(1).split("x").normal({8, 5}), targets;
  bool chunked = false;  // by linear_cross_entropy
  CrossEntropyOptions options{.ignore_index = -100};

  explicit Classified(const std::vector<int64_t>& y) : targets(tensor({8}, y)) {}
  Tensor loss_of(int64_t begin, int64_t end) {
    const Tensor part = slice(x, 0, begin, end), y = slice(targets, 0, begin, end);
    if (chunked) return linear_cross_entropy(part, model.weight, y);
    return cross_entropy(model(part), y, options);
  }
  std::vector<double> backward(int64_t pieces) {
    clear_gradients(parameters(model));
    return backward_in_pieces(model, pieces,
                              [&](int64_t i) { return loss_of(i * 8 / pieces, (i + 1) * 8 / pieces); });
  }
};

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST_CASE("pieces whose targets are ignored unequally have the gradient and the loss of the whole batch") {
  for (const bool chunked : {false, true}) {
    INFO("chunked ", chunked);
    Classified batch({0, 1, 2, 3, -100, -100, -100, 4});
    batch.chunked = chunked;
    Tape tape;
    const Tensor loss = batch.loss_of(0, 8);
    tape.backward(loss);
    const Tensor wanted = batch.model.weight.grad();
    for (const int64_t pieces : {1, 2, 4, 8})
      for_thread_counts([&] {
        INFO("pieces ", pieces, ", threads ", threads());
        const std::vector<double> losses = batch.backward(pieces);
        CHECK(difference(batch.model.weight.grad(), wanted) < 1e-6);  // some roundings of f32
        CHECK(mean_of(losses) == doctest::Approx(loss.item()).epsilon(1e-6));
        if (pieces == 8) CHECK((losses[4] == 0 && losses[5] == 0 && losses[6] == 0));
      });
  }
}

TEST_CASE(
    "pieces with smoothed labels have the gradient of the whole batch, and a mean by weights is refused") {
  Classified batch({0, 1, 2, 3, -100, -100, -100, 4});
  batch.options.label_smoothing = 0.2;
  Tape tape;
  tape.backward(batch.loss_of(0, 8));
  const Tensor wanted = batch.model.weight.grad();
  batch.backward(4);
  CHECK(difference(batch.model.weight.grad(), wanted) < 1e-6);  // some roundings of f32

  batch.options.weight = tensor({5}, {1, 2, 3, 4, 5});
  CHECK(holds(message_of([&] { batch.backward(4); }), "weighs pieces by their number of targets"));
  CHECK_FALSE(batch.model.weight.grad().defined());
}

TEST_CASE("cross-entropies that are no part of a piece's loss weigh no piece") {
  const std::vector<int64_t> some{0, 1, 2, 3, -100, -100, -100, 4}, none(8, -100);
  using Metric = std::function<void(Classified&, int64_t begin, int64_t end)>;
  const std::vector<Metric> metrics{
      [](Classified& of, int64_t begin, int64_t end) { of.loss_of(begin, end).item(); },
      [](Classified& of, int64_t begin, int64_t end) {  // gradients on a tape of its own
        Tape inner;
        const Tensor weight = of.model.weight.detach().set_trainable();
        inner.backward(
            linear_cross_entropy(slice(of.x, 0, begin, end), weight, slice(of.targets, 0, begin, end)));
      },
      [](Classified& of, int64_t begin, int64_t end) {  // which makes a tape that records within NoTape
        const NoTape pause;
        const Tape inner;
        of.loss_of(begin, end);
      },
  };
  for (const bool chunked : {false, true})
    for (size_t m = 0; m < metrics.size(); ++m)
      for (const std::vector<int64_t>& targets : {some, none}) {
        INFO("chunked ", chunked, ", metric ", m, ", target ", targets[0]);
        Classified of(targets), alone(some);
        for (Classified* const one : {&of, &alone}) one->chunked = chunked;
        const auto squares = [&](int64_t begin, int64_t end) {
          return mean(square(of.model(slice(of.x, 0, begin, end))));
        };
        Tape tape;
        tape.backward(squares(0, 8));
        const Tensor wanted = of.model.weight.grad();
        for (const int64_t pieces : {1, 2, 4, 8}) {
          CAPTURE(pieces);
          const int64_t size = 8 / pieces;
          clear_gradients(parameters(of.model));
          backward_in_pieces(of.model, pieces, [&](int64_t i) {
            const Tensor loss = squares(size * i, size * (i + 1));
            metrics[m](of, size * i, size * (i + 1));
            return loss;
          });
          CHECK(difference(of.model.weight.grad(), wanted) < 1e-6);  // some roundings of f32
          // Beside a loss whose own targets are ignored unequally.
          alone.backward(pieces);
          const Tensor of_loss = alone.model.weight.grad();
          clear_gradients(parameters(alone.model));
          backward_in_pieces(alone.model, pieces, [&](int64_t i) {
            metrics[m](alone, size * i, size * (i + 1));
            return alone.loss_of(size * i, size * (i + 1)) * 1.0;
          });
          CHECK(same_bits(alone.model.weight.grad(), of_loss));
        }
      }
}

TEST_CASE("pieces that count no target, or not equally many, are refused where no weight is right") {
  Classified none({-100, -100, -100, -100, -100, -100, -100, -100});
  for (const int64_t pieces : {1, 2}) {
    CHECK(message_of([&] { none.backward(pieces); }) ==
          "backward_in_pieces: every target of the batch is ignored, so that it has no loss; leave it out");
    CHECK_FALSE(none.model.weight.grad().defined());
  }
  Classified some({0, 1, 2, 3, -100, -100, -100, 4});
  CHECK(
      message_of([&] { some.backward(3); }) ==
      "backward_in_pieces: some targets are ignored, and then pieces must have equally many targets, ignored ones "
      "included; got 2 and 3");
  CHECK_FALSE(some.model.weight.grad().defined());
  // Two losses of other weights; of a batch without ignored targets they are right.
  const auto two_losses = [](Classified& of) {
    return [&of](int64_t i) { return of.loss_of(4 * i, 4 * i + 4) + of.loss_of(0, 4); };
  };
  CHECK(
      message_of([&] { backward_in_pieces(some.model, 2, two_losses(some)); }) ==
      "backward_in_pieces: some targets are ignored, and then a piece must have one cross-entropy, got 2, which no one "
      "weight fits; call backward_in_pieces for each");
  CHECK_FALSE(some.model.weight.grad().defined());
  Classified none_ignored({0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(backward_in_pieces(none_ignored.model, 2, two_losses(none_ignored)).size() == 2);
  // A loss without a gradient, such as a teacher's, and one of another kind, have no targets.
  Classified all({0, 1, 2, 3, 0, 1, 2, 3});
  const auto loss = [&](int64_t i) {
    if (const NoTape pause; !std::isfinite(some.loss_of(0, 8).item())) return Tensor();
    return i == 0 ? mean(square(all.model(all.x))) : all.loss_of(0, 8);
  };
  for (const double of_piece : backward_in_pieces(all.model, 2, loss)) CHECK(of_piece > 0);
}

TEST_CASE("ranks weigh pieces by their targets as one process does, to the bit") {
  Classified batch({0, 1, 2, 3, -100, -100, -100, 4});
  const std::vector<double> wanted = batch.backward(8);
  run_ranks(3, [&](Ranks& ranks) {
    Classified own({0, 1, 2, 3, -100, -100, -100, 4});
    const auto loss = [&](int64_t i) { return own.loss_of(i, i + 1); };
    CHECK(backward_in_pieces(own.model, 8, loss, {}, ranks) == wanted);
    CHECK(same_bits(own.model.weight.grad(), batch.model.weight.grad()));
    clear_gradients(parameters(own.model));
    own.targets = full({8}, -100, Dtype::i64);
    CHECK(message_of([&] { backward_in_pieces(own.model, 8, loss, {}, ranks); }).find("is ignored") !=
          std::string::npos);
  });
}

TEST_CASE(
    "every rank has the losses of all pieces and hears the one that fails; gradients want a step between") {
  run_ranks(2, [](Ranks& ranks) {
    Linear model(3, 1, Rng(1));
    const auto loss = [&](int64_t i) { return sum(model(Rng(2).split(i).normal({2, 3}))); };
    const auto failing = [&](int64_t i) { return check(i < 2, "bad rows in {}", i), loss(i); };
    CHECK(message_of([&] { backward_in_pieces(model, 4, failing, {}, ranks); }) ==
          "piece 3 of 4: bad rows in 2");
    const std::vector<double> losses = backward_in_pieces(model, 4, loss, {}, ranks);
    for (int64_t i = 0; i < 4; ++i) CHECK(losses[static_cast<size_t>(i)] == loss(i).item());
    CHECK(
        message_of([&] { backward_in_pieces(model, 4, loss, {}, ranks); }) ==
        "backward_in_pieces: on several ranks gradients do not add up over calls; take an optimizer's step first");
  });
}

TEST_CASE("a loss that is no single number, or that no parameter is in, is refused") {
  Linear layer(4, 2, Rng(1));
  const Tensor x = Rng(2).normal({3, 4});
  CHECK(message_of([&] { backward_in_pieces(layer, 2, [&](int64_t) { return layer(x); }); }) ==
        "piece 1 of 2: backward_in_pieces: a piece's loss must be a single number, got [3, 2]");
  const Tensor stray = ones({2}).set_trainable();
  CHECK(
      message_of([&] { backward_in_pieces(layer, 2, [&](int64_t) { return sum(layer(x) * stray); }); }) ==
      "piece 1 of 2: backward_in_pieces: the loss depends on a trainable tensor [2] that is no parameter of the model; "
      "list it in fields()");
  CHECK_FALSE(layer.weight.grad().defined());
  CHECK(message_of([&] {
          backward_in_pieces(layer, 1, [&](int64_t) { return sum(x); });
        }).find("was not recorded on this tape") != std::string::npos);
  CHECK(message_of([&] {
          backward_in_pieces(layer, 1, [&](int64_t) { return sum(layer(x)); }, {.higher_order = true});
        }).find("take second derivatives on a tape of your own") != std::string::npos);
}

// The loss of a small model and of something that is no part of it.
std::function<Tensor(int64_t)> loss_with(LanguageModel& model, Module& outsider) {
  return [&](int64_t i) { return loss_of(model, i) + 0 * sum(outsider(Rng(5).normal({6, 3}))); };
}

TEST_CASE("an outsider that pieces would change in any order is refused, in order and side by side") {
  BatchNorm1d tracked(3, {.affine = false});
  Sequential deep(ReLU(), BatchNorm1d(3, {.affine = false}));
  ReLU watched;
  Probe probe;
  const Watch watch(watched, probe);
  const std::string because =
      ", and is no part of the model: pieces would reach it in any order; list it in the model's fields()";
  for_thread_counts([&] {
    LanguageModel model = small_model();
    const auto refusal = [&](Module& outsider) {
      return message_of([&] { backward_in_pieces(model, 2, loss_with(model, outsider), {.rng = Rng(4)}); });
    };
    CHECK(refusal(tracked) ==
          "piece 1 of 2: backward_in_pieces: BatchNorm1d has a buffer, such as running statistics" + because +
              ", or call eval() of it");
    CHECK(refusal(deep).find("BatchNorm1d has a buffer") != std::string::npos);
    CHECK(refusal(watched) == "piece 1 of 2: backward_in_pieces: ReLU is observed" + because);
    for (const Tensor& parameter : parameters(model)) CHECK_FALSE(parameter.grad().defined());
  });
  CHECK(tracked.num_batches_tracked.item() == 0);
  CHECK(probe.signals().empty());
  // A single piece changes them in order, and so does a model of which they are a part.
  LanguageModel model = small_model();
  backward_in_pieces(model, 1, loss_with(model, tracked), {.rng = Rng(4)});
  CHECK(tracked.num_batches_tracked.item() == 1);
  eval(tracked);
  backward_in_pieces(model, 2, loss_with(model, tracked), repeated);
  CHECK(tracked.num_batches_tracked.item() == 1);
}

TEST_CASE("an outsider that no call has named yet gives the same bits on all threads") {
  LanguageModel model = small_model();
  std::vector<Tensor> first;
  for_thread_counts([&] {
    Sequential outsider(Softcap(2), Dropout(0.5));
    backward_in_pieces(
        model, 8,
        [&](int64_t i) {
          const Tensor loss = loss_of(model, i);
          return loss * mean(outsider(ones({4, 4}) * (1 + loss.detach())));
        },
        repeated);
    CHECK(outsider.parts[1]->path() == "1");
    const std::vector<Tensor> now = taken_gradients(model);
    if (first.empty()) first = now;
    CHECK(same(now, first));
  });
}

}  // namespace isobar::pieces_test
