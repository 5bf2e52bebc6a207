// Drawing text: the distributions that temperature, top_k and top_p leave, held against closed forms, and
// generation with the cache against reading everything anew.
#include "../../nn/lm/generate.h"

#include <doctest/doctest.h>

#include <cmath>

#include "../../nn/model.h"
#include "../message_of.h"

namespace isobar::generate_test {

// Logits whose softmax these chances are.
std::vector<float> logits_of(const std::vector<double>& chance) {
  std::vector<float> logits;
  for (const double p : chance) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

void check_chances(const std::vector<double>& of, const Sampling& sampling,
                   const std::vector<double>& wanted) {
  const std::vector<double> got = chances(logits_of(of), sampling);
  REQUIRE(got.size() == wanted.size());
  // 1e-6: the logits are rounded to f32.
  for (size_t i = 0; i < got.size(); ++i)
    CHECK_MESSAGE(std::abs(got[i] - wanted[i]) <= 1e-6, "chance ", i, ": ", got[i], " instead of ",
                  wanted[i]);
}

LanguageModel small_model(int64_t block_size) {
  return LanguageModel(
      {.vocab_size = 7, .block_size = block_size, .n_layer = 2, .n_head = 2, .n_embd = 16, .init_std = 0.3},
      Rng(1));
}

TEST_CASE("temperature raises chances to the power of its inverse; 0 takes the first of the likeliest") {
  check_chances({0.1, 0.2, 0.7}, {}, {0.1, 0.2, 0.7});
  check_chances({0.1, 0.2, 0.7}, {.temperature = 0.5}, {0.01 / 0.54, 0.04 / 0.54, 0.49 / 0.54});
  check_chances({0.2, 0.4, 0.4}, {.temperature = 0}, {0, 1, 0});
  check_chances({0.2, 0.4, 0.4}, {.temperature = 1e-300}, {0, 0.5, 0.5});
  check_chances({0.2, 0.4, 0.4}, {.temperature = 1e300}, {1. / 3, 1. / 3, 1. / 3});
}

TEST_CASE("top_k leaves the k likeliest, the first of equals") {
  check_chances({0.1, 0.2, 0.3, 0.4}, {.top_k = 2}, {0, 0, 3. / 7, 4. / 7});
  check_chances({0.1, 0.3, 0.3, 0.3}, {.top_k = 2}, {0, 0.5, 0.5, 0});
  check_chances({0.1, 0.3, 0.3, 0.3}, {.top_k = 1}, {0, 1, 0, 0});
  check_chances({0.1, 0.9}, {.top_k = 50}, {0.1, 0.9});
}

TEST_CASE("top_p leaves the smallest set of likeliest tokens that reaches it") {
  const std::vector<double> p{0.125, 0.5, 0.25, 0.125};
  check_chances(p, {.top_p = 0.5}, {0, 1, 0, 0});
  check_chances(p, {.top_p = 0.51}, {0, 2. / 3, 1. / 3, 0});
  check_chances(p, {.top_p = 0.75}, {0, 2. / 3, 1. / 3, 0});
  check_chances(p, {.top_p = 0.8}, {1. / 7, 4. / 7, 2. / 7, 0});  // the first of two equals
  check_chances(p, {.top_p = 0.9}, p);
  check_chances(p, {.top_p = 1e-9}, {0, 1, 0, 0});
  check_chances({0.125, 0.375, 0.375, 0.125}, {.top_p = 0.75}, {0, 0.5, 0.5, 0});
}

TEST_CASE("temperature comes before top_k, and top_p takes from what top_k left") {
  // Squared and cut to two: 9/25 and 16/25, of which the second alone reaches 0.6 (0.4 of all would not).
  check_chances({0.1, 0.2, 0.3, 0.4}, {.temperature = 0.5, .top_k = 2, .top_p = 0.6}, {0, 0, 0, 1});
  check_chances({0.1, 0.2, 0.3, 0.4}, {.temperature = 0.5, .top_k = 2, .top_p = 0.7}, {0, 0, 0.36, 0.64});
}

TEST_CASE("ids beyond the tokenizer's have no chance") {
  const std::vector<double> got = chances(logits_of({0.1, 0.1, 0.8}), {.tokens = 2});
  CHECK(got == std::vector<double>{0.5, 0.5});
  CHECK(chances(logits_of({0.1, 0.9}), {.tokens = 1}) == std::vector<double>{1});
}

TEST_CASE("settings without meaning and logits that are not finite are refused") {
  const std::vector<float> logits{0, 1};
  CHECK(message_of([&] { chances(logits, {.temperature = -1}); }) ==
        "generate: temperature: wanted 0 or more, got -1");
  CHECK(message_of([&] { chances(logits, {.top_k = -1}); }) == "generate: top_k: wanted 0 or more, got -1");
  CHECK(message_of([&] { chances(logits, {.top_p = 0}); }) ==
        "generate: top_p: wanted a chance in (0, 1], got 0");
  CHECK(message_of([&] { chances(logits, {.top_p = std::nan("")}); }) ==
        "generate: top_p: wanted a chance in (0, 1], got nan");
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    CHECK(message_of([&] {
            chances(std::vector<float>{0, bad}, {});
          }) == "generate: the logits are not finite; was the model trained to the end?");
  LanguageModel model = small_model(4);
  CHECK(message_of([&] { generate(model, {}, 1, {}, Rng(1)); }) ==
        "generate: wanted a prompt of at least one token");
}

TEST_CASE("a drawn token has the chance that chances() gives it") {
  // All weights zero: every token is equally likely.
  LanguageModel model({.vocab_size = 6, .block_size = 8, .n_layer = 1, .n_head = 2, .n_embd = 8}, Rng(1));
  for (Tensor& w : parameters(model)) assign(w, zeros(w.shape()));
  const std::vector<int32_t> tokens = generate(model, {0}, 4000, {.tokens = 5, .top_k = 4}, Rng(2));
  CHECK(tokens.size() == 4001);
  for (int32_t token = 0; token < 6; ++token) {
    const auto count = std::count(tokens.begin() + 1, tokens.end(), token);
    if (token >= 4)
      CHECK(count == 0);
    else
      CHECK(std::abs(count - 1000.0) < 4 * std::sqrt(4000 * 0.25 * 0.75));  // four standard deviations
  }
}

TEST_CASE("generation takes the likeliest tokens of the last block_size, with the window full and before") {
  LanguageModel model = small_model(6);
  const std::vector<int32_t> prompt{1, 2, 3};
  std::vector<int32_t> streamed = prompt;
  const std::vector<int32_t> tokens = generate(model, prompt, 10, {.temperature = 0}, Rng(1),
                                               [&](int32_t token) { streamed.push_back(token); });
  REQUIRE(tokens.size() == 13);
  CHECK(streamed == tokens);
  for (size_t end = 3; end < tokens.size(); ++end) {
    const std::span<const int32_t> seen = std::span(tokens).first(end).last(std::min<size_t>(end, 6));
    const std::vector<float> logits =
        model(tensor<int32_t>({1, static_cast<int64_t>(seen.size())}, seen)).to_vector<float>();
    CHECK(tokens[end] == std::max_element(logits.end() - 7, logits.end()) - (logits.end() - 7));
  }
}

TEST_CASE("generation is a function of the key, and a longer text begins like a shorter one") {
  LanguageModel model = small_model(6);
  const std::vector<int32_t> one = generate(model, {1}, 20, {}, Rng(1));
  CHECK(one == generate(model, {1}, 20, {}, Rng(1)));
  CHECK(one != generate(model, {1}, 20, {}, Rng(2)));
  const std::vector<int32_t> longer = generate(model, {1}, 30, {}, Rng(1));
  CHECK(std::equal(one.begin(), one.end(), longer.begin()));
}

}  // namespace isobar::generate_test
