// Faults planted in a step of a small language model: by a norm that misbehaves at one element, by weights,
// by a token.
#pragma once

#include "../../experiments/lm/watching/bad_step.h"
#include "../../experiments/run/settings.h"
#include "../../nn/nn.h"

namespace isobar {

inline constexpr float infinite = std::numeric_limits<float>::infinity(),
                       not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr int64_t fault_width = 16, fault_length = 8;

// What the planted norm does to one element of its result.
struct Fault {
  std::string kind, path;  // "exp", "blocks.1.input_layernorm"
  int64_t row = 0, position = 0, channel = 0;
  bool planted = false;  // else norms are as they should be
};
inline Fault fault;

// 0 but for `value` at the fault's element; all zeros in a batch that has no such element.
inline Tensor at_element(const Tensor& y, float value) {
  Tensor spike = zeros(y.shape(), y.dtype());
  if (fault.row < y.size(0) && fault.position < y.size(1))
    raw::write<float>(spike)[(fault.row * y.size(1) + fault.position) * y.size(2) + fault.channel] = value;
  return spike;
}

// The op that is to blame is the one of this kind's name. x is what the norm got and y what it made of that.
inline Tensor misbehave(const Tensor& x, const Tensor& y) {
  if (fault.kind == "poisoned batch") {  // one large value spoils the results of all rows
    const bool poison = max(abs(x.detach())).item() > 500;
    return record("stranger", y.detach() * (poison ? not_a_number : 1.0F), {y}, [](Tensor dy) { return dy; });
  }
  const Tensor spike = at_element(y, 1), others = 1.0 - spike;
  if (fault.kind == "exp") return exp(tanh(y) + 200.0 * spike);
  if (fault.kind == "log") return log(sigmoid(y) * others);
  if (fault.kind == "divide") return (y * others) / (others + 0.0);
  if (fault.kind == "square") {
    const Tensor large = square(y * others + 1e25 * spike);
    return y + (large - large);
  }
  if (fault.kind == "sqrt") return sqrt(square(y) * others + (y * spike) * 0.0 - spike);
  if (fault.kind == "rsqrt") return y * rsqrt(square(y) * 0.0 + others);
  if (fault.kind == "slope of sqrt") return sqrt((square(y) + 1.0) * others);
  if (fault.kind == "NaN forward")
    return record("stranger", y.detach() + at_element(y, not_a_number), {y}, [](Tensor dy) { return dy; });
  if (fault.kind == "inf forward")
    return record("stranger", y.detach() + at_element(y, infinite), {y}, [](Tensor dy) { return dy; });
  if (fault.kind == "NaN backward")
    return record("stranger", y.detach() * 1.0, {y},
                  [](const Tensor& dy) { return dy + at_element(dy, not_a_number); });
  return record("stranger", y.detach() * 1.0, {y},
                [](const Tensor& dy) { return dy + at_element(dy, -infinite); });
}

struct PlantedNorm : Module {
  RMSNorm norm;
  explicit PlantedNorm(const Shape& shape) : norm(shape) {}
  Tensor forward(const Tensor& x) override {
    const Tensor y = norm(x);
    return fault.planted && path() == fault.path ? misbehave(x, y) : y;
  }
  void fields(Fields& f) override { f("norm", norm); }
};

inline const bool planted_is_registered = register_norm(
    "planted", [](const Shape& shape, const NormOptions&) { return std::make_unique<PlantedNorm>(shape); });

// What is to be found.
struct ExpectedFinding {
  std::string op, module, parameter;
  bool backward = false;
  bool every_row = false;
  int64_t row = 0, position = -1;  // row of the whole batch; -1: position unknown
};

// A model of two blocks and a batch, before anything is wrong.
struct Planting {
  LmConfig config;
  std::unique_ptr<LanguageModel> model;
  BadStep step;

  explicit Planting(const Rng& rng, int64_t pieces = 1, int64_t rows = 4) {
    config.n_layer = 2, config.n_head = 2, config.n_kv_head = 1;
    config.n_embd = fault_width, config.block_size = fault_length;
    config.norm = "planted";
    config.tie_embeddings = false;
    config.dropout = 0.1;
    config.batch_size = rows / pieces, config.gradient_accumulation_steps = pieces;
    std::string letters;
    for (char c = 'a'; c <= 'p'; ++c) letters.push_back(c);
    step.before.tokenizer =
        tokenizer_from_json(R"({"type": "char", "characters": )" + characters(letters) + "}");
    step.before.config = json_text(settings_json(config));
    model = std::make_unique<LanguageModel>(config.model(16), rng.split("model"));
    step.before.model = named_state(*model);
    // Token 15 is left for faults.
    step.batch = {rng.split("x").integers({rows, fault_length}, 15),
                  rng.split("y").integers({rows, fault_length}, 15)};
    step.masks_key = rng.split("masks").key();
    step.written_by = this_build();
  }
  static std::string characters(const std::string& letters) {
    Json list = Json::array();
    for (const char c : letters) list.push_back(static_cast<int>(c));
    return list.dump();
  }
  float* weight(const std::string& name) {
    for (NamedTensor& named : step.before.model)
      if (named.name == name) return raw::write<float>(named.tensor);
    throw std::runtime_error("no weight " + name);
  }
};

inline const std::vector<std::string> fault_kinds = {
    "exp",           "log",           "divide",        "square",        "sqrt",         "rsqrt",
    "slope of sqrt", "NaN forward",   "inf forward",   "NaN backward",  "inf backward", "NaN weight",
    "inf weight",    "large weights", "bad token row", "poisoned batch"};

// Plants fault number `i` and says what is to be found.
inline ExpectedFinding plant(Planting& to, const std::string& kind, const Rng& rng, int64_t rows,
                             int64_t pieces) {
  const auto draw = [&](const char* what, uint64_t bound) {
    return static_cast<int64_t>(rng.split(what).below(bound, 0));
  };
  const std::vector<std::string> norms = {"blocks.0.input_layernorm", "blocks.0.post_attention_layernorm",
                                          "blocks.1.input_layernorm", "blocks.1.post_attention_layernorm",
                                          "norm"};
  const int64_t row = draw("row", static_cast<uint64_t>(rows)), position = draw("position", fault_length);
  if (kind == "NaN weight" || kind == "inf weight") {
    to.weight("blocks.1.self_attn.o_proj.weight")[draw("element", fault_width * fault_width)] =
        kind[0] == 'N' ? not_a_number : infinite;
    return {"linear", "blocks.1.self_attn.o_proj", "blocks.1.self_attn.o_proj.weight", false, true, 0, -1};
  }
  if (kind == "large weights") {
    float* const weight = to.weight("blocks.0.self_attn.v_proj.weight");
    for (int64_t i = 0; i < fault_width * fault_width / 2; ++i) weight[i] *= 1e38f;
    float* const gain = to.weight("blocks.0.input_layernorm.norm.weight");
    for (int64_t i = 0; i < fault_width; ++i) gain[i] = 1e5f;
    return {"linear", "blocks.0.self_attn.v_proj", "", false, true, 0, 0};
  }
  if (kind == "bad token row") {
    float* const weight = to.weight("embed_tokens.weight") + 15 * fault_width;
    std::fill_n(weight, fault_width, draw("sign", 2) == 0 ? not_a_number : -infinite);  // dropout spares some
    raw::write<int64_t>(to.step.batch.x)[row * fault_length + position] = 15;
    return {"embedding", "embed_tokens", "embed_tokens.weight", false, false, row, position};
  }
  if (kind == "poisoned batch") {
    std::fill_n(to.weight("embed_tokens.weight") + 15 * fault_width, fault_width, 1000.0F);
    raw::write<int64_t>(to.step.batch.x)[row * fault_length + position] = 15;
    fault = {.kind = kind, .path = norms[0], .planted = true};
    return {"stranger", fault.path, "", false, false, row, -1};
  }
  // The norm sees a piece of the batch at a time, so the same row of each piece: the first piece is found.
  fault = {.kind = kind,
           .path = norms[static_cast<size_t>(draw("norm", norms.size()))],
           .row = row % (rows / pieces),
           .position = position,
           .channel = draw("channel", fault_width),
           .planted = true};
  const bool backward = kind.find("backward") != kind.npos || kind == "slope of sqrt";
  const std::string op = kind == "slope of sqrt"          ? "sqrt"
                         : kind.find("ward") != kind.npos ? "stranger"
                                                          : kind;
  return {op, fault.path, "", backward, false, fault.row, position};
}

}  // namespace isobar
