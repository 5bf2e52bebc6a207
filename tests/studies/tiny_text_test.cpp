// TinyText: the parts of a text, and the loss of guessing by frequency.
#include <doctest/doctest.h>

#include "../../experiments/lm/training/small_config.h"
#include "../temporary_folder.h"

namespace isobar::tiny_text_test {

using doctest::Approx;

TEST_CASE("tuning and validation are halves of the validation part, the unigram loss is of the second") {
  const TemporaryFolder folder;
  const std::string path = folder / "text.txt";
  // 900 letters to train on, a third of them "b"; then 50 "a" and 50 "b".
  std::string text;
  for (int i = 0; i < 300; ++i) text += "aab";
  text += std::string(50, 'a') + std::string(50, 'b');
  std::ofstream(path) << text;

  const TinyText tiny(path, 8);
  CHECK(tiny.name() == "text.txt");
  for (const auto& [data, letter] : {std::pair{&tiny.tuning, 0}, {&tiny.validation, 1}}) {
    const Batch batch = data->random_batch(64, Rng(1));  // 64 of 42 windows: all of them, more or less
    for (const Tensor& tokens : {batch.x, batch.y})
      for (const double token : tokens.to_vector<double>()) CHECK(token == letter);
  }
  // Counts begin at 1.
  CHECK(tiny.unigram_loss() == Approx(-std::log(301.0 / 902)).epsilon(1e-12));
}

}  // namespace isobar::tiny_text_test
