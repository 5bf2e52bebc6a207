// Activations where a formula is easily wrong.
#include "../../nn/nn.h"
#include "../same_tensors.h"

namespace isobar::activation_test {

TEST_CASE("the ISRU clip is x near 0, cap/√2 at its cap and the cap far out") {
  ISRUClip clip(2);
  const Tensor y = clip(tensor({5}, std::vector<double>{1e-6, 2, -2, 4, -1e12}));
  check_values(y, {1e-6, std::sqrt(2.0), -std::sqrt(2.0), 4 / std::sqrt(5.0), -2}, 1e-12);
}

TEST_CASE("GELU is exact unless its tanh form is asked for") {
  const Tensor x = Rng(1).normal({20}, 0, 2);
  CHECK(GELU()(x).to_vector<float>() == gelu(x).to_vector<float>());
  CHECK(GELU(GeluForm::tanh)(x).to_vector<float>() == gelu_tanh(x).to_vector<float>());
  CHECK(gelu(x).to_vector<float>() != gelu_tanh(x).to_vector<float>());
}

}  // namespace isobar::activation_test
