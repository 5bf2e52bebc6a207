#include "module_table.h"

#include "../nn/lm/lm.h"
#include "../nn/nn.h"

namespace isobar {
namespace {

const Rng rng(7);

// A row's factory: the arguments of the module's constructor.
template <class M, class... Args>
std::function<std::unique_ptr<Module>()> make(Args... args) {
  return [=] { return std::make_unique<M>(args...); };
}

// The branch of the residual rows.
std::unique_ptr<Module> branch() {
  return std::make_unique<Sequential>(Linear(4, 6, rng.split("in")), SiLU(),
                                      Linear(6, 4, rng.split("out"), {.bias = false}));
}

std::unique_ptr<Module> attention_part() {
  return std::make_unique<GroupedQueryAttention>(
      4, 2, rng.split("attention"), GroupedQueryAttentionOptions{.n_kv_head = 1, .causal = true});
}

std::unique_ptr<Module> block(const TransformerBlockOptions& options) {
  return std::make_unique<TransformerBlock>(
      4, attention_part(), std::make_unique<SwiGLU>(4, rng.split("mlp"), SwiGLUOptions{.hidden = 6}),
      options);
}

LanguageModelConfig llama() {
  return {.vocab_size = 7,
          .block_size = 6,
          .n_layer = 2,
          .n_head = 2,
          .n_kv_head = 1,
          .n_embd = 4,
          .hidden = 6,
          .init_std = 0.5};
}

LanguageModelConfig nano_gpt() {
  return {.vocab_size = 7,
          .block_size = 6,
          .n_layer = 2,
          .n_head = 2,
          .n_embd = 4,
          .positions = Positions::learned,
          .norm = "layernorm",
          .norm_options = {.bias = false},
          .ffn = "gelu",
          .init_std = 0.5};
}

LanguageModelConfig everything_else() {
  LanguageModelConfig config = llama();
  config.norm = "dyt";
  config.placement = Placement::post;
  config.ffn = "relu2";
  config.bias = true;
  config.qk_norm = true;
  config.softcap = 2;
  config.tie_embeddings = false;
  return config;
}

NGPTConfig ngpt() {
  return {.vocab_size = 7, .block_size = 6, .n_layer = 2, .n_head = 2, .n_embd = 4, .hidden = 6};
}

}  // namespace

const std::vector<ModuleRow>& module_rows() {
  using Grouped = GroupedQueryAttentionOptions;
  static const std::vector<ModuleRow> rows{
      {"Linear", make<Linear>(4, 3, rng), normal(5, 4)},
      {"Linear without bias", make<Linear>(4, 3, rng, LinearOptions{.bias = false}), normal(2, 3, 4)},
      {"Conv1d", make<Conv1d>(3, 4, 3, rng), normal(2, 3, 7)},
      {"Conv1d, strided, dilated, in groups, without bias",
       make<Conv1d>(4, 6, 2, rng,
                    ConvLayerOptions{.stride = 2, .padding = 1, .dilation = 3, .groups = 2, .bias = false}),
       normal(2, 4, 9)},
      {"Conv2d", make<Conv2d>(2, 3, 3, rng, ConvLayerOptions{.padding = 1}), normal(2, 2, 4, 5)},
      {"Conv2d, depthwise, strided",
       make<Conv2d>(3, 6, PerDim{2, 3}, rng, ConvLayerOptions{.stride = {2, 1}, .groups = 3}),
       normal(2, 3, 5, 4)},
      {"MaxPool1d", make<MaxPool1d>(2), distinct(2, 3, 7)},
      {"MaxPool2d", make<MaxPool2d>(2), distinct(2, 3, 4, 6)},
      {"MaxPool2d that overlaps",
       make<MaxPool2d>(PerDim{2, 3}, MaxPoolOptions{.stride = {2, 1}, .padding = {0, 1}, .ceil_mode = true}),
       distinct(2, 2, 5, 4)},
      {"AvgPool1d", make<AvgPool1d>(2), normal(2, 3, 7)},
      {"AvgPool2d", make<AvgPool2d>(2), normal(2, 3, 4, 6)},
      {"AvgPool2d that overlaps",
       make<AvgPool2d>(3, AvgPoolOptions{.stride = 2, .padding = 1, .count_include_pad = false}),
       normal(2, 2, 5, 4)},
      {"AdaptiveAvgPool1d", make<AdaptiveAvgPool1d>(3), normal(2, 3, 7)},
      {"AdaptiveAvgPool2d", make<AdaptiveAvgPool2d>(PerDim{1, 3}), normal(2, 3, 4, 5)},
      {"Flatten", make<Flatten>(), normal(2, 3, 2, 2)},
      {"Flatten from the back", make<Flatten>(-2, -1), normal(2, 3, 2, 2)},
      {"Flatten in the middle", make<Flatten>(1, 2), normal(2, 3, 2, 4)},
      {"Embedding", make<Embedding>(7, 4, rng), indices(7, 2, 5)},
      {"Identity", make<Identity>(), normal(3, 4)},
      {"ReLU", make<ReLU>(), off_zero(3, 5)},
      {"LeakyReLU", make<LeakyReLU>(0.2), off_zero(3, 5)},
      {"ELU", make<ELU>(1.5), off_zero(3, 5)},
      {"Tanh", make<Tanh>(), normal(3, 5)},
      {"Sigmoid", make<Sigmoid>(), normal(3, 5)},
      {"Softmax", make<Softmax>(), normal(3, 5)},
      {"Softmax of another dimension", make<Softmax>(1), normal(3, 5, 2)},
      {"SquaredReLU", make<SquaredReLU>(), off_zero(3, 5)},
      {"GELU", make<GELU>(), normal(3, 5)},
      {"GELU, tanh form", make<GELU>(GeluForm::tanh), normal(3, 5)},
      {"SiLU", make<SiLU>(), normal(3, 5)},
      {"Mish", make<Mish>(), normal(3, 5)},
      {"Softcap", make<Softcap>(1.5), normal(3, 5)},
      {"ISRUClip", make<ISRUClip>(1.5), normal(3, 5)},
      {"Dropout", make<Dropout>(0.4), normal(6, 5), true},
      {"Dropout2d", make<Dropout2d>(0.4), normal(6, 3, 2, 2), true},

      {"LayerNorm", make<LayerNorm>(5), normal(4, 5)},
      {"LayerNorm over two dimensions", make<LayerNorm>(Shape{2, 3}), normal(4, 2, 3)},
      {"LayerNorm without bias", make<LayerNorm>(5, LayerNormOptions{.bias = false}), normal(2, 2, 5)},
      {"LayerNorm without affine", make<LayerNorm>(5, LayerNormOptions{.elementwise_affine = false}),
       normal(4, 5)},
      {"RMSNorm", make<RMSNorm>(5), normal(4, 5)},
      {"RMSNorm over two dimensions", make<RMSNorm>(Shape{2, 3}), normal(4, 2, 3)},
      {"RMSNorm without affine", make<RMSNorm>(5, RMSNormOptions{.elementwise_affine = false}), normal(4, 5)},
      {"PRMSNorm", make<PRMSNorm>(8, PRMSNormOptions{.p = 0.4}), normal(4, 8)},
      {"BatchNorm1d", make<BatchNorm1d>(3), normal(6, 3)},
      {"BatchNorm1d with length", make<BatchNorm1d>(3), normal(3, 3, 4)},
      {"BatchNorm1d without running statistics",
       make<BatchNorm1d>(3, BatchNormOptions{.affine = false, .track_running_stats = false}), normal(6, 3)},
      {"BatchNorm2d", make<BatchNorm2d>(3), normal(3, 3, 2, 4)},
      {"LayerNorm2d", make<LayerNorm2d>(3), normal(2, 3, 4, 2)},
      {"GroupNorm of images", make<GroupNorm>(2, 4), normal(2, 4, 3, 2)},
      {"GroupNorm", make<GroupNorm>(2, 4), normal(3, 4, 5)},
      {"GroupNorm without affine", make<GroupNorm>(2, 6, GroupNormOptions{.affine = false}), normal(3, 6)},
      {"DyT", make<DyT>(5), normal(4, 5)},
      {"DyT without bias", make<DyT>(Shape{2, 3}, DyTOptions{.alpha = 0.8, .bias = false}), normal(4, 2, 3)},
      {"DyTSqrtD", make<DyTSqrtD>(5), normal(4, 5)},
      {"DyISRU", make<DyISRU>(5), normal(4, 5)},

      {"Derf", make<Derf>(5), normal(4, 5)},
      {"CenterNorm", make<CenterNorm>(5), normal(4, 5)},
      {"StdNorm", make<StdNorm>(5), normal(4, 5)},
      {"RowBatchNorm", make<RowBatchNorm>(4), normal(2, 5, 4)},
      {"RowBatchNorm over two dimensions, without bias",
       make<RowBatchNorm>(Shape{2, 3}, RowBatchNormOptions{.bias = false}), normal(5, 2, 3)},
      {"RowGroupNorm", make<RowGroupNorm>(8), normal(2, 3, 8)},
      {"RowGroupNorm of three groups over two dimensions, without bias",
       make<RowGroupNorm>(Shape{2, 6}, RowGroupNormOptions{.groups = 3, .bias = false}), normal(5, 2, 6)},

      {"Sequential", [] { return branch(); }, normal(3, 4)},
      {"Residual", [] { return std::make_unique<Residual>(branch()); }, normal(3, 4)},
      {"Residual, pre",
       [] { return std::make_unique<Residual>(branch(), Placement::pre, make_norm("rmsnorm", 4)); },
       normal(3, 4)},
      {"Residual, post",
       [] { return std::make_unique<Residual>(branch(), Placement::post, make_norm("layernorm", 4)); },
       normal(3, 4)},
      {"SkipInit", [] { return std::make_unique<SkipInit>(branch(), 0.5); }, normal(3, 4)},
      {"ReZero", [] { return std::make_unique<ReZero>(branch()); }, normal(3, 4)},
      {"Fixup", make<Fixup>(4, 10, rng), normal(3, 4)},

      {"LSTM", make<LSTM>(4, 3, rng), normal(2, 3, 4)},
      {"LSTM without bias", make<LSTM>(4, 3, rng, LSTMOptions{.bias = false}), normal(2, 3, 4)},
      {"GRU", make<GRU>(4, 3, rng), normal(2, 3, 4)},
      {"GRU without bias", make<GRU>(4, 3, rng, GRUOptions{.bias = false}), normal(2, 3, 4)},
      {"RNNCell", make<RNNCell>(4, 3, rng), normal(2, 3, 4)},
      {"RNNCell with LayerNorm", make<RNNCell>(4, 3, rng, RNNCellOptions{.norm = "layernorm"}),
       normal(2, 3, 4)},

      {"MultiheadAttention", make<MultiheadAttention>(6, 2, rng), normal(2, 3, 6)},
      {"MultiheadAttention, causal, without bias",
       make<MultiheadAttention>(6, 3, rng, MultiheadAttentionOptions{.bias = false, .causal = true}),
       normal(2, 3, 6)},
      {"MultiheadAttention, dropout",
       make<MultiheadAttention>(6, 2, rng, MultiheadAttentionOptions{.dropout = 0.3}), normal(2, 3, 6), true},
      {"GroupedQueryAttention",
       make<GroupedQueryAttention>(8, 4, rng, Grouped{.n_kv_head = 2, .causal = true}), normal(2, 3, 8)},
      {"GroupedQueryAttention, QK-norm, softcap, interleaved",
       make<GroupedQueryAttention>(8, 2, rng,
                                   Grouped{.rope_style = RopeStyle::interleaved,
                                           .qk_norm = true,
                                           .softcap = 1,
                                           .causal = true,
                                           .bias = true}),
       normal(2, 3, 8)},
      {"GroupedQueryAttention without rotation, not causal",
       make<GroupedQueryAttention>(6, 2, rng, Grouped{.rope_base = std::nullopt}), normal(2, 3, 6)},
      {"FeedForward, GELU", [] { return std::make_unique<FeedForward>(4, 6, std::make_unique<GELU>(), rng); },
       normal(3, 4)},
      {"FeedForward, ReLU, dropout",
       [] {
         return std::make_unique<FeedForward>(4, 6, std::make_unique<ReLU>(), rng,
                                              FeedForwardOptions{.dropout = 0.3});
       },
       normal(3, 4), true},
      {"SwiGLU", make<SwiGLU>(4, rng, SwiGLUOptions{.hidden = 6}), normal(3, 4)},
      {"TransformerBlock, pre", [] { return block({}); }, normal(2, 3, 4)},
      {"TransformerBlock, post", [] { return block({.placement = Placement::post, .norm = "layernorm"}); },
       normal(2, 3, 4)},
      {"TransformerBlock, none", [] { return block({.placement = Placement::none}); }, normal(2, 3, 4)},
      {"TransformerBlock, dropout", [] { return block({.dropout = 0.2}); }, normal(2, 3, 4), true},
      {"TransformerBlock, peri", [] { return block({.placement = Placement::peri}); }, normal(2, 3, 4)},
      {"TransformerBlock, residual-free", [] { return block({.placement = Placement::residual_free}); },
       normal(2, 3, 4)},
      {"TransformerBlock, SkipInit",
       [] { return block({.placement = Placement::skipinit, .branch_scale = 0.5}); }, normal(2, 3, 4)},
      {"TransformerBlock, ReZero", [] { return block({.placement = Placement::rezero}); }, normal(2, 3, 4)},
      {"TransformerBlock, Fixup, dropout",
       [] { return block({.placement = Placement::fixup, .dropout = 0.2}); }, normal(2, 3, 4), true},
      {"LanguageModel, Llama", make<LanguageModel>(llama(), rng), indices(7, 2, 5)},
      {"LanguageModel, nanoGPT", make<LanguageModel>(nano_gpt(), rng), indices(7, 2, 5)},
      {"LanguageModel, post-norm DyT, untied", make<LanguageModel>(everything_else(), rng), indices(7, 2, 5)},
      {"NGPT", make<NGPT>(ngpt(), rng), indices(7, 2, 5)},
      {"NGPTBlock", make<NGPTBlock>(ngpt(), rng), normal(2, 3, 4)},
      {"LearnedScale", make<LearnedScale>(4, 0.05, 0.5), normal(2, 3, 4)},
      {"LearnedScale, absolute", make<LearnedScale>(4, -0.5, 0.5, true), normal(2, 3, 4)},
  };  // rows
  return rows;
}

std::unique_ptr<Module> module_of(const ModuleRow& row, Dtype dtype) {
  std::unique_ptr<Module> module = row.make();
  convert(*module, Dtype::f64);
  for (auto& [name, parameter] : named_parameters(*module)) {
    const Tensor noise = rng.split(name).normal(parameter.shape(), 0, 0.2, Dtype::f64);
    assign(parameter, parameter.detach() + noise);
  }
  convert(*module, dtype);
  return module;
}

Tensor input_of(const ModuleRow& row, Dtype dtype) {
  const Tensor x = row.input(rng.split(row.name));
  return is_float(x.dtype()) ? raw::cast(x, dtype) : x;
}

}  // namespace isobar
