#include <fmt/ranges.h>
#include "../../data/data.h"
#include "../../nn/check/check.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../../optim/optim.h"
#include "../misuse.h"
namespace isobar {
namespace {
const Rng rng(1);
LanguageModel tiny() {
  return LanguageModel({.vocab_size = 5, .block_size = 4, .n_layer = 1, .n_head = 2, .n_embd = 8}, rng);
}
// `count` examples of one number.
struct Examples : Dataset {
  int64_t count;
  explicit Examples(int64_t n) : count(n) {}
  int64_t size() const override { return count; }
  Batch batch(std::span<const int64_t> indices) const override {
    const auto rows = static_cast<int64_t>(indices.size());
    return {f32(rows, 1), i64(rows)};
  }
};
struct Hollow : Module {
  std::unique_ptr<Module> body;
  void fields(Fields& f) override { f("body", body); }
};
// Lists what fields() must not: two tensors, or two parts, of one name; a trainable tensor as a buffer.
struct TwoOfOneName : Module {
  Tensor scale = weight(3), shift = weight(2);
  void fields(Fields& f) override { f("weight", scale), f("weight", shift); }
};
struct TwoPartsOfOneName : Module {
  Linear first{3, 2, rng.split("first")}, second{2, 2, rng.split("second")};
  void fields(Fields& f) override { f("linear", first), f("linear", second); }
};
struct TrainableBuffer : Module {
  Tensor running_mean = weight(3);
  void fields(Fields& f) override { f.buffer("running_mean", running_mean); }
};
// A tied tensor has two names, and may be listed twice under one.
struct Tied : Module {
  Tensor weight = isobar::weight(3);
  void fields(Fields& f) override { f("weight", weight), f("tied", weight), f("weight", weight); }
};
std::string norms() { return fmt::format("{}", fmt::join(norm_names(), ", ")); }
std::vector<ParameterGroup> one_group(ParameterGroup group) {
  group.parameters = {weight(3)};
  return {group};
}
}  // namespace
// One row a line reads best: the formatter would spread each over four.
// clang-format off
std::vector<Misuse> misuse_of_layers() {
  return {
      {[] { Linear(784, 10, rng)(f32(28, 28)); },
       "linear: the last dimension of x [28, 28] must be 784 for weight [10, 784]; flatten x with reshape()"},
      {[] { RowBatchNorm({2, 3})(f32(4, 3, 2)); },
       "batch_norm: normalized_shape [2, 3] must be the last dimensions of x [4, 3, 2]"},
      {[] { Flatten(2, 1)(f32(2, 3, 4)); },
       "flatten: wanted dimensions 2 to 1 in their order, got x [2, 3, 4]"},
      {[] { Flatten(1, 3)(f32(2, 3, 4)); },
       "flatten: wanted dimensions 1 to 3 in their order, got x [2, 3, 4]"},
      {[] { Linear(0, 3, rng); }, "init: wanted a fan_in above 0, got 0"},
      {[] { init::fans_of({6}); }, "init: wanted a weight (out, in, …"},
      {[] { MultiheadAttention(10, 4, rng); }, "attention: a width of 10 does not divide into 4 heads"},
      {[] { GroupedQueryAttention(8, 4, rng, {.n_kv_head = 3}); },
       "attention: 4 query heads do not divide among 3 key/value heads"},
      {[] { GroupedQueryAttention(6, 2, rng); },
       "attention: rope rotates pairs of channels; wanted an even number of channels per head, got 3"},
      {[] { MultiheadAttention(8, 2, rng)(f32(3, 8)); }, "attention: wanted x (B, T, 8), got [3, 8]"},
      {[] { RNNCell(3, 4, rng)(f32(2, 3)); },
       "rnn_cell: wanted sequences x (N, T, 3), got [2, 3]; for one step call cell(x, h)"},
      {[] { GroupNorm(3, 8); }, "group_norm: 8 channels do not divide into 3 groups"},
      {[] { Fixup(4, 0, rng); }, "fixup: wanted at least one branch, got 0"},
      {[] { BatchNorm1d(4, {.momentum = 1.5}); }, "batch_norm: momentum must be in [0, 1], got 1.5"},
      {[] { BatchNorm1d(4, {.momentum = NAN}); }, "batch_norm: momentum must be in [0, 1], got nan"},
      {[] { DyISRU(4, {.c = -1}); }, "dyisru: wanted an initial C above 0, got -1"},
      {[] { Softcap(0); }, "softcap: wanted a cap above 0, got 0"},
      {[] { ISRUClip(0); }, "isru_clip: wanted a cap above 0, got 0"},
      {[] { PRMSNorm(8); }, "p_rms_norm: p = 0.0625 of 8 elements leaves 0 to measure; …"},
      {[] { Dropout(1.0); }, "dropout: wanted a probability in [0, 1), got 1"},
      {[] { Dropout(0.1)(f32(2, 4)); },
       "dropout: in training the mask's key comes from the active tape, and there is none; call eval(model) "
       "or open a Tape"},
      {[] { Tape tape; Dropout(0.1)(f32(2, 4)); },
       "tape: a random op, such as dropout, needs an Rng; open the tape as Tape tape({.rng = "
       "rng.split(step)}) so that every step draws other masks, and the same ones again on the next run"},
      {[] { BatchNorm1d(4)(f32(1, 4)); },
       "batch_norm: wanted more than one value per channel in training, got [1, 4]; use a larger batch or "
       "call eval(model)"},
      {[] { BatchNorm1d(3)(f32(3)); }, "batch_norm: wanted x (N, C) or (N, C, L), got [3]"},
      {[] { make_norm("layer_norm", 4); }, "norm: wanted one of " + norms() + ", got layer_norm"},
      {[] { make_norm("instancenorm", 4); },
       "norm: wanted one of none, layernorm, rmsnorm, prmsnorm, batchnorm, groupnorm, centernorm, stdnorm, "
       "dyt, dyt_sqrtd, dyisru, derf, …"},
      {[] { register_norm("rmsnorm", {}); },
       "register_norm: the name 'rmsnorm' is taken; there are " + norms()},
      {[] { make_norm("groupnorm", 6, {.groups = 4}); },
       "group_norm: 6 channels do not divide into 4 groups"},
      {[] { make_norm("batchnorm", 0); }, "batch_norm: wanted at least one channel, got [0]"},
      {[] { make_norm("groupnorm", 0); }, "group_norm: wanted at least one channel, got [0]"},
      {[] { placement_from_name("middle"); },
       "placement: wanted none, pre, post, peri, residual_free, skipinit, rezero or fixup, got middle"},
      {[] { Residual(std::make_unique<ReLU>(), Placement::rezero); },
       "residual: wanted placement none, pre or post, got rezero"},
      {[] { Residual(std::make_unique<ReLU>(), Placement::pre); },
       "residual: wanted a norm with placement pre or post, and none with placement none"},
      {[] { Residual(std::make_unique<ReLU>(), Placement::none, make_norm("rmsnorm", 4)); },
       "residual: wanted a norm with placement pre or post, and none with placement none"},
      {[] { Residual(std::make_unique<Linear>(4, 6, rng))(f32(2, 4)); },
       "add: shapes [2, 4] and [2, 6] do not broadcast (dimension -1: 4 against 6)"},
      {[] { Sequential().add(nullptr); }, "sequential: part 0 is null; wanted a module"},
      {[] { Residual block(nullptr); }, "residual: the branch is null; wanted a module"},
      {[] { SkipInit block(nullptr); }, "skip_init: the branch is null; wanted a module"},
      {[] { ReZero block(nullptr); }, "rezero: the branch is null; wanted a module"},
      {[] { FeedForward(4, 8, nullptr, rng); }, "feed_forward: the activation is null; wanted a module"},
      {[] { TransformerBlock(4, std::make_unique<Identity>(), nullptr); },
       "transformer_block: mlp is null; wanted a module"},
      {[] { TransformerBlock(4, nullptr, std::make_unique<Identity>()); },
       "transformer_block: self_attn is null; wanted a module"},
      {[] { Hollow hollow; parameters(hollow); },
       "fields: the part body is null; give it a module, or leave it out of fields()"},
      {[] { check_layer([] { return std::make_unique<ReLU>(); }, std::vector<Tensor>()); },
       "check_layer: wanted at least one example input"},
      {[] { check_layer([] { return std::make_unique<ReLU>(); }, f32(1, 4)); },
       "check_layer: wanted an example x with a batch of at least 2 as its first dimension, got [1, 4]; for "
       "a layer without a batch, options.batch = false"},
  };
}

std::vector<Misuse> misuse_of_models() {
  return {
      {[] { TwoOfOneName model; parameters(model); },
       "fields: weight names two tensors, [3] and [2]; wanted one tensor for each name; rename one of them in fields(), "
       "or the part that it is in"},
      {[] { TwoPartsOfOneName model; named_state(model); },
       "fields: linear.weight names two tensors, [2, 3] and [2, 2]; wanted one tensor for each name; rename one of "
       "them in fields(), or the part that it is in"},
      {[] { Sequential model{TrainableBuffer()}; parameters(model); },
       "fields: 0.running_mean [3] of TrainableBuffer is listed as a buffer and is trainable; wanted a buffer that is "
       "not trained; list it with f(\"running_mean\", …) to train it, or make it without set_trainable()"},
      {[] { Sequential model{TrainableBuffer()}; model(f32(2, 3)); }, "fields: 0.running_mean [3] of TrainableBuffer …"},
      {[] { Tied model; convert(model, Dtype::f64); check(named_state(model).size() == 1, "not one tensor"); }, ""},
      {[] { Sequential(Linear(4, 3, rng), ReLU(), Linear(4, 2, rng))(f32(2, 4)); },
       "in 2: linear: the last dimension of x [2, 3] must be 4 for weight [2, 4]"},
      {[] { Sequential(Linear(4, 3, rng))(f64(2, 4)); },
       "in 0: linear: x is f64 but weight is f32; convert one with cast()"},
      {[] { Sequential(Linear(4, 6, rng), RMSNorm(4))(f32(2, 4)); },
       "in 1: rms_norm: normalized_shape [4] must be the last dimensions of x [2, 6]"},
      {[] { Sequential(BatchNorm1d(4))(f32(3, 5)); },
       "in 0: batch_norm: weight must be [5] for x [3, 5], got [4]"},
      {[] { tiny()(f32(1, 4)); }, "in embed_tokens: embedding: wanted integer indices (i32 or i64), got f32; make them so, tensor({0, 2}, "
       "Dtype::i64), or cast() them"},
      {[] { tiny()(i64(1, 5)); }, "language_model: wanted tokens (B, T) with T up to 4, got [1, 5]"},
      {[] { tiny()(reshape(integers(5), {1, 1})); },
       "in embed_tokens: embedding: index 5 at position 0 is outside of [0, 5)"},
      {[] { LanguageModel({.vocab_size = 1, .block_size = 0, .n_layer = 0, .n_embd = 1}, rng); },
       "language_model: wanted vocab_size, block_size and n_embd of at least 1 and n_layer of at least 0, "
       "got 1, 0, 1, 0"},
      {[] { LanguageModel({.vocab_size = 5, .block_size = 4, .n_embd = 0}, rng); },
       "language_model: wanted vocab_size, …"},
      {[] { LanguageModel({.vocab_size = 5, .block_size = 4, .ffn = "tanh"}, rng); },
       "language_model: wanted ffn swiglu, gelu, gelu_tanh, relu or relu2, got tanh"},
      {[] { NGPT({.n_head = 3, .n_embd = 8}, rng); },
       "ngpt: wanted n_embd to be an even multiple of n_head, got 8 and 3"},
      {[] { NGPT({.n_head = 0}, rng); },
       "ngpt: wanted n_embd to be an even multiple of n_head, got 512 and 0"},
      {[] { NGPT({.vocab_size = 7, .block_size = 6, .n_head = 1, .n_embd = 8}, rng)(i64(2, 7)); },
       "ngpt: wanted tokens (B, T) with T up to 6, got [2, 7]"},
      {[] { Linear from(4, 3, rng), to(3, 4, rng); copy_state(from, to); },
       "load_state: weight is [4, 3] f32 in the model, but [3, 4] f32 in the given state"},
      {[] { Sequential from(Linear(4, 4, rng)), to(Linear(4, 4, rng), Linear(4, 4, rng));
         copy_state(from, to); },
       "load_state: the model has 1.weight [4, 4], 1.bias [4], the given state does not; {.strict = false} loads what both have"},
      {[] { Linear model(4, 3, rng); load_state(model, named_state(model)); },
       "load_state: the given state is the model's own tensors, so nothing would change: …"},
      {[] { Linear model(4, 3, rng); convert(model, Dtype::i64); }, "convert: wanted f32 or f64, got i64"},
  };
}

std::vector<Misuse> misuse_of_training() {
  return {
      {[] { AdamW(std::vector<Tensor>()); },
       "adam_w: wanted at least one parameter, got none; does the model list its fields?"},
      {[] { const Tensor w = weight(3); SGD({w, w}); }, "sgd: parameter 1 [3] is given twice"},
      {[] { SGD({weight(3), Tensor()}); }, "sgd: parameter 1 is undefined; give it a value first"},
      {[] { SGD({i64(3)}); }, "sgd: parameter 0 [3] must be f32 or f64, got i64"},
      {[] { SGD({transpose(f32(3, 2)).set_trainable()}); },
       "sgd: parameter 0 [2, 3] is not contiguous; train a clone() of it"},
      {[] { SGD({weight(2), f32(3)}); },
       "sgd: parameter 1 [3] is frozen; call set_trainable() before the optimizer is made, or leave it out"},
      {[] { Tape tape; SGD({weight(1), weight(2) * 2}); },
       "sgd: parameter 1 [2] was computed by an op on a tape, and gradients are kept for leaves only; train "
       "a detach() of it"},
      {[] { SGD({weight(3)}, {.lr = -0.1}); }, "sgd: lr must be finite and not negative, got -0.1"},
      {[] { SGD({weight(3)}).set_lr(-2); }, "sgd: lr must be finite and not negative, got -2"},
      {[] { SGD({weight(3)}, {.nesterov = true}); }, "sgd: nesterov wants a momentum above 0; set .momentum"},
      {[] { SGD({weight(3)}, {.momentum = -0.1}); },
       "sgd: momentum must be in [0, 1), got -0.1"},
      {[] { SGD({weight(3)}, {.momentum = 1}); }, "sgd: momentum must be in [0, 1), got 1"},
      {[] { SGD(one_group({.parameters = {}, .weight_decay = -1})); },
       "sgd: weight_decay of a group must be finite and not negative, got -1"},
      {[] { SGD(one_group({.parameters = {}, .lr_scale = -1})); },
       "sgd: lr_scale of a group must be finite and not negative, got -1"},
      {[] { Adam({weight(3)}, {.beta1 = 1}); }, "adam: beta1 must be in [0, 1), got 1"},
      {[] { AdamW({weight(3)}, {.lr = NAN}); }, "adam_w: lr must be finite and not negative, got nan"},
      {[] { AdamW({weight(3)}, {.beta2 = -0.5}); }, "adam_w: beta2 must be in [0, 1), got -0.5"},
      {[] { AdamW({weight(3)}, {.eps = NAN}); }, "adam_w: eps must be finite and not negative, got nan"},
      {[] { AdamW({weight(3)}, {.eps = INFINITY}); }, "adam_w: eps must be finite and not negative, got inf"},
      {[] { AdamW({weight(3)}, {.weight_decay = -1}); },
       "adam_w: weight_decay must be finite and not negative, got -1"},
      {[] { Muon({weight(2, 3), weight(3)}); },
       "muon: parameter 1 [3] is not a matrix; give vectors and the like to AdamW"},
      {[] { Muon({weight(2, 3)}, {.momentum = 1}); }, "muon: momentum must be in [0, 1), got 1"},
      {[] { Muon({weight(2, 3)}, {.rounds = 0}); }, "muon: wanted at least 1 round of Newton-Schulz, got 0"},
      {[] { Muon({weight(2, 3)}, {.lr = -1}); }, "muon: lr must be finite and not negative, got -1"},
      {[] { clip_grad_norm({weight(2), weight(1)}, 1); },
       "clip_grad_norm: none of 2 parameters has a gradient; call tape.backward(loss) before clipping"},
      {[] { WarmupCosine{.lr = 1, .min_lr = 0, .warmup = 20, .steps = 10}(0); },
       "schedule: wanted 0 <= warmup <= steps, got 20 and 10"},
      {[] { const Examples data(8); Loader(data, {.batch_size = 9, .drop_last = true}, rng); },
       "loader: drop_last leaves no batch of 9 from 8 examples; take a smaller batch size"},
      {[] { const Examples data(8); Loader(data, {.batch_size = 4}, rng).epoch(-1); },
       "loader: wanted an epoch of at least 0, got -1"},
      {[] { const Examples none(0); Loader(none, {.batch_size = 4}, rng); }, "loader: the dataset is empty"},
      {[] { const Examples data(8); Loader(data, {.batch_size = 0}, rng); },
       "loader: wanted a batch size of at least 1, got 0"},
      {[] { const Examples data(8); Loader(data, {.batch_size = 4}, rng).epoch(0).batch(2); },
       "loader: batch 2 is outside of 0 … 1"},
  };
}

// clang-format on
}  // namespace isobar
