#include "page_training.h"

#include <algorithm>
#include <numeric>

#include "../../../autograd/ops.h"
#include "../../../data/mnist.h"
#include "../../nets/decay/bits.h"

namespace isobar::trains {

PageDigits read_page_digits() {
  const std::filesystem::path folder = find_mnist();
  const std::vector<DataFile> files = digit_files(folder);
  check(std::all_of(files.begin(), files.begin() + 2, is_shipped),
        "{}: wanted the t10k files of MNIST that come with Isobar; unset ISOBAR_DATA", folder.string());
  std::vector<int64_t> first(page_digits::training + page_digits::validation);
  std::iota(first.begin(), first.end(), 0);
  const Batch all = Mnist(folder, {.train = false}).batch(first);
  const Tensor x = (cast(all.x >= (page_digits::least_white - 0.5) / 255, Dtype::f32) - page_digits::mean) /
                   page_digits::std;
  const auto part = [&](int64_t begin, int64_t end) {
    return TensorDataset(slice(x, 0, begin, end), slice(all.y, 0, begin, end));
  };
  return {part(0, page_digits::training), part(page_digits::training, x.size(0))};
}

PageTraining train_on_page(const PageDigits& digits, const Net& net, double rate) {
  PageTraining training{train_on_digits(Config(), digits.train, digits.validation, net, rate, 0), ""};
  decay::Bits bits;
  for (const double loss : training.outcome.losses) bits.add(loss);
  bits.add(training.outcome.judged.loss);
  training.bits = bits.text();
  return training;
}

std::string page_training_text(const Net& net, double rate) {
  check(net.task == "residual" && net.optimizer == "adamw" && rate > 0,
        "--on_page: wanted --task residual, AdamW and a --rate above 0, got {}, {} and {}", net.task,
        net.optimizer, rate);
  const auto [outcome, bits] = train_on_page(read_page_digits(), net, rate);
  std::string text;
  for (size_t step = 0; step < outcome.losses.size(); step += 10)
    text += fmt::format("step {:3}  loss {:.4f}\n", step, outcome.losses[step]);
  if (!std::isfinite(outcome.gain))
    text += fmt::format("diverged after {} steps\n", outcome.losses.size());
  else
    text += fmt::format("validation: loss {:.4f}, gain {:.4f}, {:.1f} % right\n", outcome.judged.loss,
                        outcome.gain, 100 * outcome.judged.accuracy);
  return text + "bits: " + bits + "\n";
}

}  // namespace isobar::trains
