// Layers against literals that PyTorch 1.13.1 printed in float64 (tests/fixtures/torch_layers.py): outputs,
// input and parameter gradients, and running statistics.
#include <fstream>

#include <nlohmann/json.hpp>

#include "../../nn/check/check.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../same_tensors.h"

namespace isobar::torch_layers_test {

using nlohmann::json;

const json& recorded_case(const std::string& name) {
  static const json file = json::parse(std::ifstream(ISOBAR_SOURCE_DIR "/tests/fixtures/torch_layers.json"));
  for (const json& entry : file.at("cases"))
    if (entry.at("name") == name) return entry;
  throw_error("torch_layers.json has no case " + name);
}

Tensor tensor_of(const json& entry) {
  const auto extents = entry.at("shape").get<std::vector<int64_t>>();
  const Shape shape{std::span<const int64_t>(extents)};
  if (shape.ndim() == 0) return tensor(shape, entry.at("values").get<std::vector<int64_t>>());
  return tensor(shape, entry.at("values").get<std::vector<double>>());
}

// 1e-12: the sums here have a few dozen terms of size one; both sides round in f64.
void check_near(const Tensor& ours, const json& theirs, const std::string& what) {
  CAPTURE(what);
  check_values(ours, theirs.at("values").get<std::vector<double>>(), 1e-12);
}

// Our name of a tensor of PyTorch's nn.TransformerEncoderLayer; other layers share all names.
std::string our_name(std::string name) {
  for (const auto& [theirs, ours] : {std::pair<std::string, std::string>{"norm1.", "input_layernorm."},
                                     {"norm2.", "post_attention_layernorm."},
                                     {"linear", "mlp.linear"}})
    if (name.starts_with(theirs)) return ours + name.substr(theirs.size());
  return name;
}

void check_case(const json& theirs, Module& layer, bool training = true) {
  convert(layer, Dtype::f64);
  std::vector<NamedTensor> state;
  for (const auto& [key, value] : theirs.at("state").items())
    state.push_back({our_name(key), tensor_of(value)});
  load_state(layer, state);
  layer.set_training(training);
  Tensor x = tensor_of(theirs.at("x"));
  x.set_trainable();
  {
    Tape tape;
    const Tensor y = layer(x);
    check_near(y, theirs.at("y"), "y");
    tape.backward(y, tensor_of(theirs.at("dy")));
  }
  check_near(x.grad(), theirs.at("dx"), "dx");
  std::map<std::string, Tensor> ours;
  for (const NamedTensor& entry : named_state(layer)) ours.emplace(entry.name, entry.tensor);
  const json gradients = theirs.value("gradients", json::object());
  for (const auto& [key, value] : gradients.items())
    check_near(ours.at(our_name(key)).grad(), value, "gradient of " + key);
  const json after = theirs.value("state_after", json::object());
  for (const auto& [key, value] : after.items())
    check_near(ours.at(our_name(key)), value, key + " afterwards");
}

void check_layer(const std::string& name, Module& layer, bool training = true) {
  CAPTURE(name);
  check_case(recorded_case(name), layer, training);
}

TEST_CASE("MultiheadAttention is PyTorch's, with and without a causal mask") {
  MultiheadAttention attention_layer(8, 2, Rng(1));
  check_layer("multihead_attention", attention_layer);
  MultiheadAttention causal(8, 2, Rng(1), {.causal = true});
  check_layer("multihead_attention_causal", causal);
}

TEST_CASE("BatchNorm1d is PyTorch's: training, evaluation, length, and the plain average of batches") {
  BatchNorm1d layer(3);
  check_layer("batch_norm_train", layer);
  check_layer("batch_norm_eval", layer, false);
  BatchNorm1d with_length(3);
  check_layer("batch_norm_length", with_length);
  BatchNorm1d average(2, {.momentum = std::nullopt});
  check_layer("batch_norm_average", average);
}

TEST_CASE("a pre-norm block of MultiheadAttention and FeedForward is PyTorch's TransformerEncoderLayer") {
  TransformerBlock layer(8, std::make_unique<MultiheadAttention>(8, 2, Rng(1)),
                         std::make_unique<FeedForward>(8, 12, std::make_unique<ReLU>(), Rng(2)),
                         {.norm = "layernorm"});
  check_layer("transformer_encoder_layer", layer);
}

TEST_CASE("a block with grouped heads, rotary positions and SwiGLU is MiniMind's, run in PyTorch") {
  // torch_norms.py writes the literal where norm_properties reads it too.
  static const json file =
      json::parse(std::ifstream(ISOBAR_SOURCE_DIR "/experiments/fixtures/torch_norms.json"));
  TransformerBlock block(
      16,
      std::make_unique<GroupedQueryAttention>(
          16, 4, Rng(1), GroupedQueryAttentionOptions{.n_kv_head = 2, .rope_base = 1e6, .causal = true}),
      std::make_unique<SwiGLU>(16, Rng(2), SwiGLUOptions{.hidden = 8}));
  check_case(file.at("minimind_block"), block);
}

TEST_CASE("RNNCell is PyTorch's, and with LayerNorm the cell written with PyTorch's functions") {
  RNNCell cell(4, 3, Rng(1));
  check_layer("rnn_cell", cell);
  RNNCell normed(4, 3, Rng(1), {.norm = "layernorm"});
  check_layer("rnn_cell_layer_norm", normed);
}

TEST_CASE("RNNCell takes a step as it takes a sequence of one") {
  RNNCell cell(4, 3, Rng(1), {.norm = "rmsnorm"});
  const Tensor x = Rng(2).normal({5, 4});
  CHECK(cell(x, zeros({5, 3})).to_vector<float>() == cell(reshape(x, {5, 1, 4})).to_vector<float>());
  CHECK_THROWS_WITH_AS(cell(x), doctest::Contains("wanted sequences x (N, T, 4), got [5, 4]"), Error);
}

TEST_CASE("NGPTBlock is nGPT's, written with PyTorch's functions") {
  NGPTBlock layer({.n_head = 2, .n_embd = 8, .hidden = 12}, Rng(1));
  check_layer("ngpt_block", layer);
}

}  // namespace isobar::torch_layers_test
