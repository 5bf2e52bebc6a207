// length_errors: how far an nGPT is from the unit sphere.
#include "../../experiments/studies/lm_norms/results.h"

#include <doctest/doctest.h>

#include "../../nn/model.h"

namespace isobar::unit_lengths_test {

using doctest::Approx;

NGPT small_model() {
  return NGPT({.vocab_size = 7, .block_size = 6, .n_layer = 2, .n_head = 2, .n_embd = 8, .hidden = 12},
              Rng(1));
}
Tensor some_tokens() { return Rng(2).integers({3, 6}, 7); }
void scale(Tensor weight, double factor) { assign(weight, weight.detach() * factor); }

TEST_CASE("a new nGPT has vectors and weights of length 1, to rounding") {
  NGPT model = small_model();
  const LengthErrors errors = length_errors(model, some_tokens());
  // Eight squares and a division in f32: a few times 6e-8.
  CHECK(errors.weights < 1e-6);
  CHECK(errors.outputs < 1e-6);
}

TEST_CASE("length errors find the one matrix that is off, its columns where those are the unit vectors") {
  for (const char* part : {"embed_tokens", "k_proj", "o_proj", "down_proj", "lm_head"}) {
    CAPTURE(part);
    NGPT model = small_model();
    for (const NamedTensor& entry : named_parameters(model))
      if (entry.name == std::string(part) + ".weight" ||
          entry.name == std::string("blocks.1.") + part + ".weight")
        scale(entry.tensor, 1.25);
    const LengthErrors errors = length_errors(model, some_tokens());
    CHECK(errors.weights == Approx(0.25).epsilon(1e-5));
    CHECK(errors.outputs < 1e-6);  // a block divides by the length in any case
  }
}

TEST_CASE("a single row that is too short is found") {
  NGPT model = small_model();
  std::vector<float> values = model.blocks[0].up_proj.weight.detach().to_vector<float>();
  for (size_t i = 16; i < 24; ++i) values[i] *= 0.5F;  // row 2 of (12, 8)
  assign(model.blocks[0].up_proj.weight, tensor({12, 8}, values));
  CHECK(length_errors(model, some_tokens()).weights == Approx(0.5).epsilon(1e-5));
}

}  // namespace isobar::unit_lengths_test
