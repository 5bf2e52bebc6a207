// Single layers at their edges: what each refuses, and what it computes where a formula is easily wrong.
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../child_process.h"
#include "../message_of.h"
#include "../same_tensors.h"

namespace isobar::layers_test {

TEST_CASE("dropout draws a new mask at each call, the same on a replay, and none in evaluation") {
  Dropout layer(0.25);
  const Tensor x = ones({1000});
  const auto two_calls = [&](uint64_t seed) {
    Tape tape({.rng = Rng(seed)});
    return std::pair(layer(x).to_vector<float>(), layer(x).to_vector<float>());
  };
  const auto [first, second] = two_calls(1);
  CHECK(first != second);
  CHECK(two_calls(1).first == first);
  CHECK(two_calls(1).second == second);
  CHECK(two_calls(2).first != first);
  const auto zeroed = std::count(first.begin(), first.end(), 0.0f);
  CHECK(std::abs(zeroed - 250) < 5 * std::sqrt(1000 * 0.25 * 0.75));  // five standard deviations
  eval(layer);
  CHECK(layer(x).to_vector<float>() == x.to_vector<float>());
}

TEST_CASE("the running variance of batch norm keeps its digits far from zero") {
  BatchNorm1d layer(1, {.momentum = 1.0});
  // No rounding in f32; Σ (x − mean)² / 3 = 5/192.
  layer(tensor({4, 1}, std::vector<float>{1e6f, 1e6f + 0.125f, 1e6f + 0.25f, 1e6f + 0.375f}));
  CHECK(layer.running_var.item() == static_cast<double>(5.0f / 192));
  eval(layer);
  CHECK(layer(ones({1, 1})).shape() == Shape{1, 1});  // in training one value is refused
}

TEST_CASE("the ISRU clip is x near 0, cap/√2 at its cap and the cap far out") {
  ISRUClip clip(2);
  const Tensor y = clip(tensor({5}, std::vector<double>{1e-6, 2, -2, 4, -1e12}));
  check_values(y, {1e-6, std::sqrt(2.0), -std::sqrt(2.0), 4 / std::sqrt(5.0), -2}, 1e-12);
}

TEST_CASE("SkipInit, ReZero and Fixup start as the identity") {
  const Tensor x = Rng(1).normal({3, 8});
  const auto branch = [] { return std::make_unique<Linear>(8, 8, Rng(2)); };
  SkipInit skip_init(branch());
  ReZero re_zero(branch());
  Fixup fixup(8, 100, Rng(3));
  CHECK(skip_init(x).to_vector<float>() == x.to_vector<float>());
  CHECK(re_zero(x).to_vector<float>() == x.to_vector<float>());
  CHECK(fixup(x).to_vector<float>() == x.to_vector<float>());
}

TEST_CASE("Fixup's first weight has He's std over the root of the number of branches") {
  Fixup fixup(64, 100, Rng(1));
  CHECK(fixup.linear1.weight.shape() == Shape{64, 64});  // `hidden` is the width
  // √(2/64) / √100, within five standard errors of 4096 numbers.
  CHECK(moments_of(fixup.linear1.weight).std ==
        doctest::Approx(std::sqrt(2.0 / 64) / 10).epsilon(0.055).scale(0));
  CHECK(Fixup(4, 1, Rng(1), 6).linear1.weight.shape() == Shape{6, 4});
}

TEST_CASE("SkipInit, ReZero and Fixup are their formulas once their numbers have moved") {
  const Rng rng(1);
  const Tensor x = rng.split("x").normal({3, 4});
  const auto branch = [] { return std::make_unique<Linear>(4, 4, Rng(2)); };
  SkipInit skip_init(branch(), 0.25);
  ReZero re_zero(branch());
  assign(re_zero.resweight, full({1}, 0.5));
  const Tensor f = (*branch())(x);
  check_values(skip_init(x), (x + 0.25 * f).to_vector<double>(), 1e-5);
  check_values(re_zero(x), (x + 0.5 * f).to_vector<double>(), 1e-5);

  // Of width 1: y = x + scale · w2 · relu(w1 · (x + b1) + b2) + b3
  Fixup fixup(1, 1, rng);
  const auto set = [](Tensor& parameter, double value) { assign(parameter, full(parameter.shape(), value)); };
  set(fixup.linear1.weight, 3);
  set(fixup.linear2.weight, 0.5);
  set(fixup.scale, 4);
  set(fixup.bias1, 0.25);
  set(fixup.bias2, 1);
  set(fixup.bias3, -2);
  CHECK(fixup(full({1, 1}, 2)).item() == 2 + 4 * 0.5 * (3 * 2.25 + 1) - 2);
}

TEST_CASE("every norm takes its normalized shape alone, as the last dimensions of its input") {
  for (const std::string& name : norm_names()) {
    CAPTURE(name);
    for (const Shape& shape : {Shape{6}, Shape{2, 3}}) {
      const auto norm = make_norm(name, shape);
      const Tensor x = Rng(1).normal(shape.ndim() == 1 ? Shape{4, 6} : Shape{4, 2, 3});
      CHECK((*norm)(x).shape() == x.shape());
      if (name == "none") continue;
      CHECK_THROWS_AS((*norm)(Rng(1).normal({4, 1})), Error);  // would broadcast
      CHECK_THROWS_AS((*norm)(Rng(1).normal({4, 5})), Error);
    }
    const auto norm = make_norm(name, 6);  // leading dimensions only count rows
    const Tensor x = Rng(1).normal({4, 6});
    CHECK((*norm)(reshape(x, {2, 2, 6})).to_vector<float>() == (*norm)(x).to_vector<float>());
  }
}

TEST_CASE("make_norm makes what its name says, with the initial value that was asked for") {
  for (const std::string& name : norm_names()) {
    const auto norm = make_norm(name, 4, {.alpha = 3});
    for (const auto& [parameter, tensor] : named_parameters(*norm)) {
      if (parameter == "alpha" || parameter == "inv_rho") CHECK(tensor.item() == 3);
      if (parameter == "log_c") CHECK(tensor.item() == doctest::Approx(std::log(3.0)));
    }
  }
  CHECK(make_norm("none", 4)->type_name() == "Identity");
  CHECK(make_norm("batchnorm", 4)->type_name() == "RowBatchNorm");
  CHECK(parameter_count(*make_norm("batchnorm", 4, {.bias = false})) == 4);
  CHECK(parameter_count(*make_norm("groupnorm", 4, {.bias = false})) == 4);
  CHECK(dynamic_cast<RowGroupNorm&>(*make_norm("groupnorm", 64)).num_groups == 4);
  CHECK(dynamic_cast<RowGroupNorm&>(*make_norm("groupnorm", 6)).num_groups == 2);
  CHECK(dynamic_cast<RowGroupNorm&>(*make_norm("groupnorm", 6, {.groups = 3})).num_groups == 3);
  CHECK(dynamic_cast<PRMSNorm&>(*make_norm("prmsnorm", 64)).measured == 4);
  CHECK(dynamic_cast<PRMSNorm&>(*make_norm("prmsnorm", 6)).measured == 1);  // a sixteenth of 6 is none
  CHECK(dynamic_cast<PRMSNorm&>(*make_norm("prmsnorm", 8, {.p = 0.5})).measured == 4);
  CHECK(make_norm("layernorm", 4, {.bias = false})->type_name() == "LayerNorm");
  CHECK(parameter_count(*make_norm("layernorm", 4, {.bias = false})) == 4);
  CHECK(dynamic_cast<DyISRU&>(*make_norm("dyisru", 4)).log_c.item() == doctest::Approx(std::log(4.0)));
  CHECK(dynamic_cast<RMSNorm&>(*make_norm("rmsnorm", 4, {.eps = 0.5})).eps == 0.5);
}

TEST_CASE("norms have a bias where their formula has one, unless it is left out") {
  const auto names = [](const std::string& norm, bool bias) {
    std::string all;
    for (const auto& [name, tensor] : named_parameters(*make_norm(norm, 4, {.bias = bias})))
      all += name + " ";
    return all;
  };
  const std::map<std::string, std::string> before{
      {"layernorm", ""},         {"batchnorm", ""},    {"groupnorm", ""},       {"dyt", "alpha "},
      {"dyt_sqrtd", "inv_rho "}, {"dyisru", "log_c "}, {"derf", "alpha shift "}};
  for (const auto& norm : before) {
    CAPTURE(norm.first);
    CHECK(names(norm.first, true) == norm.second + "weight bias ");
    CHECK(names(norm.first, false) == norm.second + "weight ");
  }
  for (const char* norm : {"rmsnorm", "prmsnorm", "centernorm", "stdnorm"})
    CHECK(names(norm, true) == "weight ");
  LayerNorm plain(4, {.elementwise_affine = false});
  CHECK(named_parameters(plain).empty());
}

TEST_CASE("norms over channels take a single channel") {
  const Tensor x = tensor<float>({2, 1}, {1, 3});
  CHECK(std::abs((*make_norm("batchnorm", 1))(x).at({0, 0}) + 1) < 1e-5);  // (1 − 2) / 1, eps in the root
  CHECK((*make_norm("groupnorm", 1))(x).to_vector<float>() == std::vector<float>{0, 0});
}

TEST_CASE("a registered norm is made by its name, which is then taken") {
  CHECK(in_child([] {  // names are registered for the whole process
          const size_t before = norm_names().size();
          const bool registered = register_norm(
              "own", [](const Shape&, const NormOptions&) { return std::make_unique<Softcap>(3); });
          const std::string again = message_of([] { register_norm("own", {}); });
          const bool right = registered && norm_names().back() == "own" &&
                             norm_names().size() == before + 1 &&
                             make_norm("own", 4)->type_name() == "Softcap" &&
                             again.starts_with("register_norm: the name 'own' is taken; there are none, ");
          return right ? 0 : 1;
        }) == 0);
}

TEST_CASE("GELU is exact unless its tanh form is asked for") {
  const Tensor x = Rng(1).normal({20}, 0, 2);
  CHECK(GELU()(x).to_vector<float>() == gelu(x).to_vector<float>());
  CHECK(GELU(GeluForm::tanh)(x).to_vector<float>() == gelu_tanh(x).to_vector<float>());
  CHECK(gelu(x).to_vector<float>() != gelu_tanh(x).to_vector<float>());
}

TEST_CASE("a norm takes a single row without leading dimensions") {
  const Tensor x = Rng(1).normal({6});
  for (const std::string& name : norm_names()) {
    if (name == "batchnorm") continue;  // its statistics need more than one row
    CAPTURE(name);
    const auto norm = make_norm(name, 6);
    CHECK((*norm)(x).to_vector<float>() == (*norm)(reshape(x, {1, 6})).to_vector<float>());
  }
}

TEST_CASE("layers have the defaults that PyTorch 2.5 documents for the same names") {
  const LayerNormOptions layer;
  CHECK((layer.eps == 1e-5 && layer.elementwise_affine && layer.bias));
  CHECK((GroupNormOptions{}.eps == 1e-5 && GroupNormOptions{}.affine));
  const BatchNormOptions batch;
  CHECK((batch.eps == 1e-5 && batch.momentum == 0.1 && batch.affine && batch.track_running_stats));
  CHECK((RMSNormOptions{}.eps == 1e-5 && RMSNormOptions{}.elementwise_affine));  // Llama's norm_eps
  CHECK(LinearOptions{}.bias);
  CHECK((MultiheadAttentionOptions{}.bias && !MultiheadAttentionOptions{}.causal));
  CHECK((FeedForwardOptions{}.bias && FeedForwardOptions{}.dropout == 0));
  const AttentionOptions attention;
  CHECK((!attention.causal && attention.softcap == 0 && !attention.scale));
  CHECK((!TapeOptions{}.higher_order && !TapeOptions{}.detect_anomaly));
}

TEST_CASE(
    "norms of papers have the papers' defaults; a size of 0 is the usual one, and what is optional is off") {
  CHECK((DyTOptions{}.alpha == 0.5 && DyTOptions{}.bias));  // Zhu et al. 2025, section 5
  CHECK(DyTSqrtDOptions{}.inv_rho == 1);                    // RMSNorm's slope at a root mean square of 1
  CHECK((DerfOptions{}.alpha == 0.5 && DerfOptions{}.bias));
  CHECK(
      (PRMSNormOptions{}.p == 0.0625 && PRMSNormOptions{}.eps == 1e-5));  // Zhang & Sennrich 2019, section 5
  CHECK((NGPTConfig{}.hidden == 0 && LanguageModelConfig{}.hidden == 0 && SwiGLUOptions{}.hidden == 0));
  CHECK((RowGroupNormOptions{}.groups == 0 && NormOptions{}.groups == 0));
  CHECK((NormOptions{}.bias && NormOptions{}.eps == 1e-5));
  const GroupedQueryAttentionOptions grouped;
  CHECK((!grouped.qk_norm && grouped.softcap == 0 && !grouped.causal && !grouped.bias));
  CHECK((TransformerBlockOptions{}.dropout == 0 && TransformerBlockOptions{}.branch_scale == 1));
  const Sampling sampling;  // changes no logit
  CHECK((sampling.tokens == 0 && sampling.temperature == 1 && sampling.top_k == 0 && sampling.top_p == 1));
}

}  // namespace isobar::layers_test
