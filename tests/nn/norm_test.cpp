// What all norms have in common: shapes, names, biases, the least inputs.
#include "../../nn/nn.h"
#include "../child_process.h"
#include "../message_of.h"
#include "../same_tensors.h"

namespace isobar::norm_test {

TEST_CASE("the running variance of batch norm keeps its digits far from zero") {
  BatchNorm1d layer(1, {.momentum = 1.0});
  // No rounding in f32; Σ (x − mean)² / 3 = 5/192.
  layer(tensor({4, 1}, std::vector<float>{1e6f, 1e6f + 0.125f, 1e6f + 0.25f, 1e6f + 0.375f}));
  CHECK(layer.running_var.item() == static_cast<double>(5.0f / 192));
  eval(layer);
  CHECK(layer(ones({1, 1})).shape() == Shape{1, 1});  // in training one value is refused
}

TEST_CASE("layer norm of f32 rows far from zero is that of the same rows in f64") {
  // The mean of such a row rounds to a float by up to 5e-4 of the row's deviation. A value near 4 rounds by
  // 2.4e-7, as x − m, r and h do.
  const Tensor x = (Rng(1).normal({50, 300}) + 1e4).set_trainable(), dy = Rng(2).normal({50, 300});
  const Tensor exact = cast(x.detach(), Dtype::f64).set_trainable();
  Tape tape;
  const Tensor y = layer_norm(x, {300}, {}, {}, 1e-5), wanted = layer_norm(exact, {300}, {}, {}, 1e-5);
  CHECK(difference(cast(y.detach(), Dtype::f64), wanted.detach()) <= 1e-6);
  CHECK(max(abs(mean(y.detach(), {1}))).item() <= 1e-6);
  const Tensor dx = tape.gradient(y, {x}, dy)[0];
  const Tensor wanted_dx = tape.gradient(wanted, {exact}, cast(dy, Dtype::f64))[0];
  CHECK(difference(cast(dx, Dtype::f64), wanted_dx) <= 3e-6);
}

TEST_CASE("layer norm of three f32 numbers far from zero has the exact values") {
  // Python's decimal, 40 digits. With the mean rounded to a float the values are wrong by 5e-4.
  const Tensor y =
      layer_norm(tensor({1, 3}, std::vector<float>{10001, 9999.5F, 10000.75F}), {3}, {}, {}, 1e-5);
  const std::vector<double> wanted = {0.8889905652998737, -1.3969851740426587, 0.507994608742785};
  for (int64_t i = 0; i < 3; ++i) CHECK(y.at({0, i}) == doctest::Approx(wanted[i]).epsilon(3e-7));
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
    if (name == "batchnorm") continue;  // its statistics need more than one row
    const Tensor row = slice(x, 0, 0, 1);
    CHECK((*norm)(reshape(row, {6})).to_vector<float>() == (*norm)(row).to_vector<float>());
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
  RMSNorm of_squares(4, {.elementwise_affine = false});
  CHECK((named_parameters(plain).empty() && named_parameters(of_squares).empty()));
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

}  // namespace isobar::norm_test
