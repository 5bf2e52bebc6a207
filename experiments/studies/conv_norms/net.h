// ConvNet: a small residual convolutional net for digits, with a norm after each convolution, or without.
//
//   x (B, 784) → (B, 1, 28, 28) → Conv2d(1, C, 3, stride 2), N, ReLU
//     → blocks, the first half of them on 14 × 14 positions, avg_pool2d(2), the others on 7 × 7
//     → the mean of each channel → Linear → logits (B, 10)
//
// A block is relu(x + N(W2 ∗ relu(N(W1 ∗ x)))) (He et al. 2016), and Fixup's relu(x + s · W2 ∗ relu(W1 ∗ (x + b1) +
// b2) + b3). B images, C channels, N the norm, ∗ a convolution of 3 × 3 without bias.
#pragma once

#include "../../../nn/nn.h"

namespace isobar::conv_norms {

// "none", BatchNorm and GroupNorm as they are used on images; "layernorm", "rmsnorm", "dyt" over the channels of each
// position; "fixup" has no norm, and blocks that start as the identity.
inline const Choices& net_names() {
  static const Choices names{"none", "batchnorm", "groupnorm", "layernorm", "rmsnorm", "dyt", "fixup"};
  return names;
}

// A norm of make_norm over the channels of each position: x (B, C, H, W).
struct ChannelNorm : Module {
  std::unique_ptr<Module> norm;

  explicit ChannelNorm(std::unique_ptr<Module> of_rows) : norm(std::move(of_rows)) {}
  Tensor forward(const Tensor& x) override {
    return permute((*norm)(permute(x, {0, 2, 3, 1})), {0, 3, 1, 2});
  }
  void fields(Fields& f) override { f("norm", norm); }
};

// Four groups, as make_norm's groupnorm has them where they divide the channels.
inline std::unique_ptr<Module> norm_of(const std::string& net, int64_t channels) {
  if (net == "none" || net == "fixup") return std::make_unique<Identity>();
  if (net == "batchnorm") return std::make_unique<BatchNorm2d>(channels);
  if (net == "groupnorm") return std::make_unique<GroupNorm>(std::gcd(int64_t{4}, channels), channels);
  return std::make_unique<ChannelNorm>(make_norm(net, {channels}));
}

// A convolution of 3 × 3 that keeps the positions, with weights of its own.
inline Conv2d conv3x3(int64_t in, int64_t out, const Tensor& weight, int64_t stride = 1) {
  Conv2d conv(in, out, 3, Rng(0), {.stride = stride, .padding = 1, .bias = false});
  assign(conv.weight, weight);
  return conv;
}

struct NormBlock : Module {
  Conv2d conv1, conv2;
  std::unique_ptr<Module> norm1, norm2;

  NormBlock(const std::string& net, int64_t channels, const Rng& rng)
      : conv1(conv3x3(channels, channels, init::he_normal({channels, channels, 3, 3}, rng.split("conv1")))),
        conv2(conv3x3(channels, channels, init::he_normal({channels, channels, 3, 3}, rng.split("conv2")))),
        norm1(norm_of(net, channels)),
        norm2(norm_of(net, channels)) {}
  Tensor forward(const Tensor& x) override { return relu(x + (*norm2)(conv2(relu((*norm1)(conv1(x)))))); }
  void fields(Fields& f) override {
    f("conv1", conv1);
    f("norm1", norm1);
    f("conv2", conv2);
    f("norm2", norm2);
  }
};

// Zhang, Dauphin & Ma 2019: W1 starts as He's times branches^(−1/2), W2 at 0; nn/residual.h has it for Linear.
struct FixupBlock : Module {
  Conv2d conv1, conv2;
  Tensor scale = ones({1}).set_trainable();
  Tensor bias1 = zeros({1}).set_trainable(), bias2 = zeros({1}).set_trainable(),
         bias3 = zeros({1}).set_trainable();

  FixupBlock(int64_t channels, int64_t branches, const Rng& rng)
      : conv1(conv3x3(channels, channels,
                      init::he_normal({channels, channels, 3, 3}, rng.split("conv1"),
                                      init::he_gain / std::sqrt(static_cast<double>(branches))))),
        conv2(conv3x3(channels, channels, zeros({channels, channels, 3, 3}))) {}
  Tensor forward(const Tensor& x) override {
    return relu(x + scale * conv2(relu(conv1(x + bias1) + bias2)) + bias3);
  }
  void fields(Fields& f) override {
    f("conv1", conv1);
    f("conv2", conv2);
    f("scale", scale);
    f("bias1", bias1);
    f("bias2", bias2);
    f("bias3", bias3);
  }
};

// Nets of one seed have the same weights, but for Fixup's blocks and its head, which start at 0 as its paper says.
struct ConvNet : Module {
  Conv2d stem;
  std::unique_ptr<Module> stem_norm;
  std::vector<std::unique_ptr<Module>> blocks;
  Linear head;

  ConvNet(const std::string& net, int64_t depth, int64_t channels, const Rng& rng)
      : stem(conv3x3(1, channels, init::he_normal({channels, 1, 3, 3}, rng.split("stem")), 2)),
        stem_norm(norm_of(net, channels)),
        head(net == "fixup" ? zeros({10, channels}) : init::lecun_normal({10, channels}, rng.split("head")),
             zeros({10})) {
    for (int64_t l = 0; l < depth; ++l) {
      const Rng layer = rng.split(static_cast<uint64_t>(l));
      if (net == "fixup")
        blocks.push_back(std::make_unique<FixupBlock>(channels, depth, layer));
      else
        blocks.push_back(std::make_unique<NormBlock>(net, channels, layer));
    }
  }
  Tensor forward(const Tensor& x) override {
    Tensor h = relu((*stem_norm)(stem(reshape(x, {x.size(0), 1, 28, 28}))));
    for (size_t l = 0; l < blocks.size(); ++l) {
      if (l == blocks.size() / 2) h = avg_pool2d(h, 2);
      h = (*blocks[l])(h);
    }
    return head(mean(h, {2, 3}));
  }
  void fields(Fields& f) override {
    f("stem", stem);
    f("stem_norm", stem_norm);
    f("blocks", blocks);
    f("head", head);
  }
};

// --- Config: the settings of conv_norms.

struct Config : HasFields {
  std::vector<std::string> nets = net_names();
  std::vector<int64_t> batches = {1, 2, 8, 128};
  std::vector<double> learning_rates = {1e-3, 3e-3, 1e-2, 3e-2};
  int64_t depth = 3, channels = 16, images = 1024, least_steps = 16, validated = 500, seeds = 3,
          sweep_seeds = 1;
  double target = 1;

  void fields(Fields& f) override {
    f("nets", nets, "norms, or fixup", one_of(net_names()));
    f("batches", batches, "images a step", at_least(1));
    f("learning_rates", learning_rates, "of Adam; each net has its best at each batch size", above(0));
    f("depth", depth, "residual blocks", at_least(2));
    f("channels", channels, "of each convolution", at_least(1));
    f("images", images, "training images that each net sees, in an order of the seed", at_least(1));
    f("least_steps", least_steps, "of training: large batches see more images", at_least(1));
    f("validated", validated, "images by which rates are chosen", at_least(1));
    f("seeds", seeds, "runs of each net at its best rate", at_least(1));
    f("sweep_seeds", sweep_seeds, "other seeds, which choose the rates and judge nothing", at_least(1));
    f("target", target, "training loss, in nats", above(0));
  }
};

}  // namespace isobar::conv_norms
