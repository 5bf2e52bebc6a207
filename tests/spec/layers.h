// Layers and a small language model, of the ops of spec.h: what train.cpp and study.cpp train.
#pragma once

#include "spec.h"

namespace spec {

// The default of a Linear, U(±1/√fan_in); and the others by their variance.
template <class T> Array<T> linear_default(const Shape& shape, Int fan_in, const Rng& rng) {
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  return rng.uniform<T>(shape, -bound, bound);
}
inline double xavier_std(Int in, Int out) { return std::sqrt(2.0 / static_cast<double>(in + out)); }
inline double he_std(Int in) { return 1.4142135623730951 / std::sqrt(static_cast<double>(in)); }
template <class T> Array<T> uniform_of_std(const Shape& shape, double std, const Rng& rng) {
  return rng.uniform<T>(shape, -(std * std::sqrt(3.0)), std * std::sqrt(3.0));
}

template <class T> struct Linear {
  Tensor<T> weight, bias;

  Linear(Int in, Int out, const Rng& rng)
      : weight(trainable(linear_default<T>({out, in}, in, rng.split("weight")))),
        bias(trainable(linear_default<T>({out}, in, rng.split("bias")))) {}
  Tensor<T> operator()(const Tensor<T>& x) const { return linear(x, weight, bias); }
};

// The net of decay_study: eight layers of Linear and ReLU, with RMSNorm between the two or without a norm.
template <class T> struct EightLayers {
  std::vector<Linear<T>> layers;

  explicit EightLayers(const Rng& rng) {
    for (int i = 1; i <= 8; ++i)
      layers.emplace_back(512, 512, rng.split("layer " + std::to_string(i)).split("linear1"));
  }
  // The output of each layer.
  std::vector<Tensor<T>> operator()(Tensor<T> x, bool normed) const {
    const Tensor<T> gain = trainable(filled({512}, T(1)));
    std::vector<Tensor<T>> outputs;
    for (const Linear<T>& layer : layers)
      outputs.push_back(x = relu(normed ? rms_norm(layer(x), {512}, gain, 1e-5) : layer(x)));
    return outputs;
  }
};

// The masks of one step: a module's draws are numbered from 0, in the stream of its path.
struct Masks {
  Rng rng;
  std::map<std::string, std::uint64_t> taken = {};
  Rng next(const std::string& path) { return rng.split(path).split(taken[path]++); }
};

// A decoder in nanoGPT's form: learned or rotary positions, LayerNorm before attention and before a GELU
// layer of four times the width, one matrix for embedding and logits. Matrices start as N(0, 0.02), each
// drawn from the stream of its module's path; the last one of a branch is √(2 layers) times smaller.
template <class T> struct LanguageModel {
  struct Config {
    Int vocabulary, length, layers, heads, width;
    double dropout;
    double rope_base = 0;  // of rotary positions; 0: learned ones
  } config;
  std::vector<Tensor<T>> parameters;

  LanguageModel(const Config& chosen, const Rng& rng) : config(chosen) {
    const Int c = config.width;
    const auto matrix = [&](const std::string& path, Int out, Int in, double std = 0.02) {
      parameters.push_back(trainable(rng.split(path).normal<T>({out, in}, 0, std)));
    };
    const auto norm = [&] {
      parameters.push_back(trainable(filled({c}, T(1)))), parameters.push_back(trainable(filled({c}, T(0))));
    };
    const double end = 0.02 / std::sqrt(2.0 * static_cast<double>(config.layers));
    matrix("embed_tokens", config.vocabulary, c);
    if (config.rope_base == 0) matrix("embed_positions", config.length, c);
    for (Int i = 0; i < config.layers; ++i) {
      const std::string block = "blocks." + std::to_string(i) + ".";
      norm();
      for (const char* part : {"q_proj", "k_proj", "v_proj"}) matrix(block + "self_attn." + part, c, c);
      matrix(block + "self_attn.o_proj", c, c, end);
      norm();
      matrix(block + "mlp.linear1", 4 * c, c), matrix(block + "mlp.linear2", c, 4 * c, end);
    }
    norm();
  }

  // The mean loss of `batch` sequences, row after row; without masks there is no dropout.
  Tensor<T> loss(const std::vector<Int>& tokens, const std::vector<Int>& targets, Int batch,
                 Masks* masks) const {
    const Int time = static_cast<Int>(tokens.size()) / batch, c = config.width;
    size_t next = 0;
    const auto parameter = [&] { return parameters[next++]; };
    const auto norm = [&](const Tensor<T>& x) {
      const Tensor<T> weight = parameter(), bias = parameter();
      return layer_norm(x, {c}, weight, bias, 1e-5);
    };
    const auto dropped = [&](const Tensor<T>& x, const std::string& path) {
      return masks != nullptr && config.dropout > 0
                 ? dropout(x, config.dropout, masks->next(path + "dropout"))
                 : x;
    };
    const auto heads = [&](const Tensor<T>& x) {
      return reshape(linear(x, parameter(), {}), {batch, time, config.heads, c / config.heads});
    };
    std::vector<Int> positions(time);
    for (Int t = 0; t < time; ++t) positions[t] = t;
    const Tensor<T> embedded = parameter();
    Tensor<T> x = embedding(tokens, {batch, time}, embedded);
    if (config.rope_base == 0) x = x + embedding(positions, {time}, parameter());
    x = dropped(x, "");
    const auto rotated = [&](const Tensor<T>& y) {
      return config.rope_base == 0 ? y : rope(y, config.rope_base);
    };
    for (Int i = 0; i < config.layers; ++i) {
      const std::string block = "blocks." + std::to_string(i) + ".";
      const Tensor<T> h = norm(x), q = heads(h), k = heads(h), v = heads(h);
      const Tensor<T> mixed = reshape(attention(rotated(q), rotated(k), v, true), x.shape());
      x = x + dropped(linear(mixed, parameter(), {}), block);
      const Tensor<T> normed = norm(x), hidden = gelu(linear(normed, parameter(), {}));
      x = x + dropped(linear(hidden, parameter(), {}), block);
    }
    return cross_entropy(linear(norm(x), embedded, {}), targets);
  }
};

}  // namespace spec
