#include "training.h"

#include <bit>

#include "../../nets/decay/bits.h"
#include "../../studies/what_trains/page_digits.h"
#include "layers.h"

// `build` makes them of data/mnist: a bit for each pixel, the first of a byte the lowest; and labels.
extern "C" const unsigned char packed_digits[], packed_labels[];

namespace isobar::live {
namespace {

using trains::page_digits::training, trains::page_digits::validation;
constexpr Int pixels = 784, batch_size = 64, steps = 100;  // the last two: of trains::Config

struct Images {
  Array x;
  std::vector<Int> labels;
};
Images images_of(const std::vector<Int>& numbers) {
  constexpr auto mean = static_cast<float>(trains::page_digits::mean),
                 std = static_cast<float>(trains::page_digits::std);
  Images images{spec::filled({static_cast<Int>(numbers.size()), pixels}, 0.0f), {}};
  for (size_t i = 0; i < numbers.size(); ++i) {
    images.labels.push_back(packed_labels[numbers[i]]);
    for (Int p = 0; p < pixels; ++p) {
      const Int at = numbers[i] * pixels + p;
      const auto white = static_cast<float>(packed_digits[at / 8] >> at % 8 & 1);
      images.x.x[i * pixels + p] = (white - mean) / std;
    }
  }
  return images;
}

// Permutation of data/loader.cpp.
Int permuted(Int index, Int size, const spec::Rng& rng) {
  const auto bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(size - 1)));
  const int high_bits = bits / 2, low_bits = bits - high_bits;
  const uint64_t low_mask = (uint64_t{1} << low_bits) - 1, high_mask = (uint64_t{1} << high_bits) - 1;
  const auto draw = [&](uint64_t i) { return spec::philox(i / 2, rng.key, static_cast<int>(i % 2)); };
  auto number = static_cast<uint64_t>(index);
  do {
    uint64_t low = number & low_mask, high = number >> low_bits;
    for (uint64_t round = 0; round < 10; ++round)
      if (round % 2 == 0)
        low ^= draw(round << 32 | high) & low_mask;
      else
        high ^= draw(round << 32 | low) & high_mask;
    number = high << low_bits | low;
  } while (number >= static_cast<uint64_t>(size));
  return static_cast<Int>(number);
}
// Of a step, as a Loader without the last batch of an epoch gives it.
Images batch_of(Int step, const spec::Rng& rng) {
  constexpr Int batches = training / batch_size;
  const spec::Rng epoch = rng.split(static_cast<uint64_t>(step / batches));
  std::vector<Int> numbers;
  for (Int i = 0; i < batch_size; ++i)
    numbers.push_back(permuted(step % batches * batch_size + i, training, epoch));
  return images_of(numbers);
}

// depth::Classifier, with the weights of trains::classifier_of().
struct Classifier {
  const trains::Net& net;
  spec::Rng rng;
  decay::Config hidden = {};
  Tensor input = {};                         // its weight
  std::vector<Tensor> hidden_matrices = {};  // of the first pass
  Parameters parameters = {};

  Classifier(const trains::Net& of, const spec::Rng& stream) : net(of), rng(stream) {
    hidden.depth = net.depth;
    hidden.width = net.width;
    hidden.init = "lecun_normal";
    hidden.norm = net.norm_name();
    hidden.topology = net.norm == "none" ? "residual" : net.has_norm() ? net.placement() : net.norm;
  }
  Tensor weight(const char* name, Int out, Int in) {
    return parameter_made([&] {
      return rng.split(name).normal<float>({out, in}, 0, 1 / std::sqrt(static_cast<double>(in)));
    });
  }
  Tensor logits(const Array& x) {
    const Parameters::Use here(parameters);
    input = weight("input", net.width, pixels);
    Tensor y = linear(Tensor(x), input, parameter({net.width}, 0));
    const double scale = net.norm == "fixup" ? net.scale / std::numbers::sqrt2 : net.scale;
    for (Int i = 1; i <= net.depth; ++i)
      y = Layer{.config = hidden,
                .rng = rng.split("hidden").split("layer " + std::to_string(i)),
                .scale = scale}(y);
    if (hidden_matrices.empty())
      for (const Tensor& one : parameters.all())
        if (one.shape().size() == 2 && one.node != input.node) hidden_matrices.push_back(one);
    if (hidden.topology == "pre") y = normed_by(hidden, y);
    const Tensor w = weight("head", 10, net.width);
    return linear(y, w, parameter({10}, 0));
  }
};

// AdamW as trains::Mover has it: hidden matrices and the input's are decayed, and the input's rate is multiplied by width/784.
struct Mover {
  spec::AdamW<float> hidden{.beta2 = 0.95}, input{.beta2 = 0.95}, rest{.beta2 = 0.95, .decay = 0};

  void step(const Classifier& model, double rate) {
    std::vector<Tensor> others;
    for (const Tensor& one : model.parameters.all())
      if (one.node != model.input.node &&
          std::ranges::none_of(model.hidden_matrices, [&](const Tensor& w) { return w.node == one.node; }))
        others.push_back(one);
    hidden.lr = rest.lr = rate;
    input.lr = rate * (static_cast<double>(model.net.width) / 784);
    hidden.step(model.hidden_matrices);
    input.step({model.input});
    rest.step(others);
  }
};

}  // namespace

Trained train(const trains::Net& net, double rate,
              const std::function<void(int64_t step, double loss)>& seen) {
  const spec::Rng rng{0};
  Classifier model(net, rng.split("model"));
  Mover mover;
  const spec::WarmupCosine schedule{rate, rate / 10, 0, steps};
  Trained trained{{}, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN(), ""};
  decay::Bits bits;
  for (Int step = 0; step < steps; ++step) {
    const Images batch = batch_of(step, rng.split("batches"));
    const Tensor loss = cross_entropy(model.logits(batch.x), batch.labels);
    const double value = loss.value().x[0];
    if (!std::isfinite(value)) break;
    trained.losses.push_back(value);
    bits.add(value);
    seen(step, value);
    spec::backward(loss);
    mover.step(model, schedule(step));
  }
  if (trained.losses.size() == steps) {
    std::vector<Int> numbers;
    for (Int i = 0; i < validation; ++i) numbers.push_back(training + i);
    const Images images = images_of(numbers);
    const Tensor logits = model.logits(images.x);
    if (std::ranges::all_of(logits.value().x, [](float v) { return std::isfinite(v); })) {
      trained.loss = cross_entropy(logits, images.labels).value().x[0];
      Int right = 0;
      for (Int r = 0; r < validation; ++r) {
        const auto row = logits.value().x.begin() + r * 10;
        right += std::max_element(row, row + 10) - row == images.labels[static_cast<size_t>(r)];
      }
      trained.accuracy = static_cast<double>(right) / validation;
    }
  }
  bits.add(trained.loss);
  trained.bits = bits.text();
  return trained;
}

}  // namespace isobar::live
