#include <fmt/ranges.h>

#include "../core/parallel.h"
#include "../data/data.h"
#include "../nn/nn.h"
#include "../optim/optim.h"
#include "misuse.h"

namespace isobar {
namespace {

const Rng rng(1);

Tensor x(const Shape& shape) { return ones(shape); }
Tensor integers(const Shape& shape) { return zeros(shape, Dtype::i64); }
Tensor weight(const Shape& shape) { return ones(shape).set_trainable(); }

LanguageModelConfig tiny() {
  return {.vocab_size = 5, .block_size = 4, .n_layer = 1, .n_head = 2, .n_embd = 8};
}

// `count` examples of one number.
struct Examples : Dataset {
  int64_t count;
  explicit Examples(int64_t n) : count(n) {}
  int64_t size() const override { return count; }
  Batch batch(std::span<const int64_t> indices) const override {
    const auto rows = static_cast<int64_t>(indices.size());
    return {ones({rows, 1}), zeros({rows}, Dtype::i64)};
  }
};

// A model whose second Linear does not fit the first.
Sequential misfit() { return Sequential(Linear(4, 3, rng), ReLU(), Linear(4, 2, rng)); }

std::vector<Misuse> of_layers() {
  return {
      {"two layers that do not fit",
       [] {
         misfit()(x({2, 4}));
       },
       "in 2: linear: the last dimension of x [2, 3] must be 4 for weight [2, 4]"},
      {"a flat image instead of rows",
       [] {
         Linear(784, 10, rng)(x({28, 28}));
       },
       "linear: the last dimension of x [28, 28] must be 784 for weight [10, 784]; flatten "
       "x with reshape()"},
      {"a Linear without inputs", [] { Linear(0, 3, rng); }, "init: wanted a fan_in above 0, got 0"},
      {"heads that do not divide the width", [] { MultiheadAttention(10, 4, rng); },
       "attention: a width of 10 does not divide into 4 heads"},
      {"key/value heads that do not divide the heads",
       [] { GroupedQueryAttention(8, 4, rng, {.n_kv_head = 3}); },
       "attention: 4 query heads do not divide among 3 key/value heads"},
      {"a norm made for another width",
       [] {
         Sequential(Linear(4, 6, rng), RMSNorm(4))(x({2, 4}));
       },
       "in 1: rms_norm: normalized_shape [4] must be the last dimensions of x [2, 6]"},
      {"a branch that changes the width",
       [] {
         Residual(std::make_unique<Linear>(4, 6, rng))(x({2, 4}));
       },
       "add: shapes [2, 4] and [2, 6] do not broadcast (dimension -1: 4 against 6)"},
      {"a norm without a placement",
       [] { Residual(std::make_unique<ReLU>(), Placement::none, make_norm("rmsnorm", 4)); },
       "residual: wanted a norm with placement pre or post, and none with placement none"},
      {"a norm that is not known", [] { make_norm("layer_norm", 4); },
       fmt::format("norm: wanted one of {}, got layer_norm", fmt::join(norm_names(), ", "))},
      {"a norm's name that is taken", [] { register_norm("rmsnorm", {}); },
       fmt::format("register_norm: the name 'rmsnorm' is taken; there are {}",
                   fmt::join(norm_names(), ", "))},
      {"dropout in training without a tape",
       [] {
         Dropout(0.1)(x({2, 4}));
       },
       "dropout: in training the mask's key comes from the active tape, and there is none; "
       "call eval(model) or open a Tape"},
      {"dropout on a tape without a key",
       [] {
         Tape tape;
         Dropout(0.1)(x({2, 4}));
       },
       "tape: a random op, such as dropout, needs an Rng; open the tape as Tape tape({.rng = rng.split(step)}) "
       "so that every step draws other masks, and the same ones again on the next run"},
      {"batch norm of one row",
       [] {
         BatchNorm1d(4)(x({1, 4}));
       },
       "batch_norm: wanted more than one value per channel in training, got [1, 4]; use a "
       "larger batch or call eval(model)"},
      {"batch norm of another width",
       [] {
         Sequential(BatchNorm1d(4))(x({3, 5}));
       },
       "in 0: batch_norm: weight must be [5] for x [3, 5], got [4]"},
      {"groups that do not divide the channels", [] { GroupNorm(3, 8); },
       "group_norm: 8 channels do not divide into 3 groups"},
      {"floats as words",
       [] {
         LanguageModel(tiny(), rng)(x({1, 4}));
       },
       "in embed_tokens: embedding: wanted integer indices (i32 or i64), got f32"},
      {"a text longer than the block",
       [] {
         LanguageModel(tiny(), rng)(integers({1, 5}));
       },
       "language_model: wanted tokens (B, T) with T up to 4, got [1, 5]"},
      {"a word outside of the model's vocabulary",
       [] {
         LanguageModel(tiny(), rng)(tensor({1, 1}, std::vector<int64_t>{5}));
       },
       "in embed_tokens: embedding: index 5 at position 0 is outside of [0, 5)"},
      {"loading another model's weights",
       [] {
         Linear from(4, 3, rng), to(3, 4, rng);
         copy_state(from, to);
       },
       "load_state: weight is [4, 3] f32 in the model, but [3, 4] f32 in the given state"},
      {"loading a model with fewer layers",
       [] {
         Sequential from(Linear(4, 4, rng)), to(Linear(4, 4, rng), Linear(4, 4, rng));
         copy_state(from, to);
       },
       "load_state: the model has 1.weight [4, 4], the given state does not"},
      {"converting to integers",
       [] {
         Linear model(4, 3, rng);
         convert(model, Dtype::i64);
       },
       "convert: wanted f32 or f64, got i64"},
      {"an f32 model on f64 input",
       [] {
         Sequential(Linear(4, 3, rng))(ones({2, 4}, Dtype::f64));
       },
       "in 0: linear: x is f64 but weight is f32; convert one with cast()"},
      {"an example without a batch",
       [] {
         check_layer([] { return std::make_unique<ReLU>(); }, x({1, 4}));
       },
       "check_layer: wanted an example x with a batch of at least 2 as its first dimension, "
       "got [1, 4]; for a layer without a batch, options.batch = false"},
  };
}

std::vector<Misuse> of_training() {
  return {
      {"an optimizer without parameters", [] { AdamW(std::vector<Tensor>(), {.lr = 1e-3}); },
       "adam_w: wanted at least one parameter, got none; does the model list its fields?"},
      {"a parameter given twice",
       [] {
         const Tensor w = weight({3});
         SGD({w, w}, {.lr = 0.1});
       },
       "sgd: parameter 1 [3] is given twice"},
      {"a negative learning rate", [] { SGD({weight({3})}, {.lr = -0.1}); },
       "sgd: lr must be finite and not negative, got -0.1"},
      {"a warm-up longer than the run",
       [] { WarmupCosine{.lr = 1, .min_lr = 0, .warmup = 20, .steps = 10}(0); },
       "schedule: wanted 0 <= warmup <= steps, got 20 and 10"},
      {"a loader without examples",
       [] {
         const Examples none(0);
         Loader(none, {.batch_size = 4}, rng);
       },
       "loader: the dataset is empty"},
      {"a batch of nothing",
       [] {
         const Examples data(8);
         Loader(data, {.batch_size = 0}, rng);
       },
       "loader: wanted a batch size of at least 1, got 0"},
      {"a batch beyond the epoch's last",
       [] {
         const Examples data(8);
         Loader(data, {.batch_size = 4}, rng).epoch(0).batch(2);
       },
       "loader: batch 2 is outside of 0 … 1"},
      {"threads below one", [] { set_threads(0); }, "threads: wanted 1 to 1024, got 0"},
  };
}

}  // namespace

std::vector<Misuse> misuse_of_models() {
  std::vector<Misuse> all = of_layers();
  for (const std::vector<Misuse> more = of_training(); const Misuse& one : more) all.push_back(one);
  return all;
}

}  // namespace isobar
