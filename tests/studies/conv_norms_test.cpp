// conv_norms: its nets, and what the built program measures of a small one.
#include "../../experiments/studies/conv_norms/net.h"

#include "study_run.h"

namespace isobar::conv_norms_test {

using namespace isobar::conv_norms;

TEST_CASE("a norm over channels is that of each position") {
  const Tensor x = Rng(1).normal({2, 4, 3, 5}, 1, 2);
  CHECK((*norm_of("layernorm", 4))(x).to_vector<float>() == LayerNorm2d(4)(x).to_vector<float>());
  // RMSNorm of the channels at one position, by hand.
  const Tensor y = (*norm_of("rmsnorm", 4))(x);
  const std::vector<float> in = x.to_vector<float>(), out = y.to_vector<float>();
  double squares = 0;
  for (size_t c = 0; c < 4; ++c) squares += in[c * 15 + 7] * in[c * 15 + 7];
  for (size_t c = 0; c < 4; ++c)
    CHECK(out[c * 15 + 7] == doctest::Approx(in[c * 15 + 7] / std::sqrt(squares / 4 + 1e-5)).epsilon(1e-5));
}

TEST_CASE("Fixup's blocks start as the identity, and the other nets of a seed with the same weights") {
  const Tensor x = relu(Rng(2).normal({2, 4, 6, 6}));  // as after the ReLU of the block before
  CHECK(FixupBlock(4, 3, Rng(3))(x).to_vector<float>() == x.to_vector<float>());
  ConvNet none("none", 2, 4, Rng(4)), batch_norm("batchnorm", 2, 4, Rng(4));
  CHECK(none.stem.weight.to_vector<float>() == batch_norm.stem.weight.to_vector<float>());
  const auto weight = [](ConvNet& net) {
    return dynamic_cast<NormBlock&>(*net.blocks[1]).conv2.weight.to_vector<float>();
  };
  CHECK(weight(none) == weight(batch_norm));
}

TEST_CASE(
    "a net with BatchNorm learns, it alone depends on the batch, and in batches of 1 it is instance norm") {
  const StudyRun run(
      "conv_norms",
      "--channels 8 --depth 2 --images 768 --least_steps 1 --batches 1,8 --seeds 1 --learning_rates 1e-2");
  for (const std::string& net : net_names()) {
    CAPTURE(net);
    CHECK((run("b8." + net + ".change") > 0) == (net == "batchnorm"));
  }
  CHECK(run("b8.batchnorm.accuracy") > 0.3);  // the most frequent digit is 0.12 of the images
  CHECK(run("oracle.batch1_minus_instance_norm") < 1e-6);
  // The same nets, so that the parts of the sum are those that are told apart.
  CHECK(run("b1.batchnorm.accuracy_minus_groupnorm_minus_b8") ==
        doctest::Approx(run("b1.batchnorm.accuracy_minus_groupnorm") -
                        run("b8.batchnorm.accuracy_minus_groupnorm")));
}

}  // namespace isobar::conv_norms_test
