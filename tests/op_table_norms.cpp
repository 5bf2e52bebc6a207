// Rows of norms and of what stands for them: each fused form against its formula.
#include "../autograd/ops.h"
#include "op_table.h"

namespace isobar {
namespace {

constexpr OpFlags fused{.fused = true};

TensorFunction layer_norm_of(const Shape& shape) {
  return [=](In x) { return layer_norm(x[0], shape, x[1], x[2], 1e-5); };
}
TensorFunction rms_norm_of(const Shape& shape, int64_t partial = 0) {
  return [=](In x) { return rms_norm(x[0], shape, x[1], 1e-5, partial); };
}
TensorFunction group_norm_of(int64_t groups) {
  return [=](In x) { return group_norm(x[0], groups, x[1], x[2], 1e-5); };
}
Tensor no_tensor() { return {}; }
const TensorFunction batch = [](In x) { return batch_norm(x[0], x[1], x[2], 1e-5); };

}  // namespace

// One row a line reads best: the formatter would spread each over four.
// clang-format off

std::vector<OpRow> norm_rows() {
  const Tensor mean = Rng(8).normal({3}, 0, 1, Dtype::f64);
  const Tensor variance = Rng(9).uniform({3}, 0.5, 2, Dtype::f64);
  return {
      {"layer_norm", layer_norm_of(5), {normal(3, 5), normal(5), normal(5)}, fused},
      {"layer_norm without bias", [](In x) { return layer_norm(x[0], 5, x[1], no_tensor(), 1e-5); },
       {normal(3, 5), normal(5)}, fused},
      {"layer_norm without weight", [](In x) { return layer_norm(x[0], 5, no_tensor(), x[1], 1e-5); },
       {normal(3, 5), normal(5)}, fused},
      {"layer_norm bare", [](In x) { return layer_norm(x[0], 17, no_tensor(), no_tensor(), 1e-5); },
       {normal(2, 3, 17)}, fused},
      {"layer_norm over two dimensions", layer_norm_of({3, 5}),
       {normal(2, 3, 5), normal(3, 5), normal(3, 5)}, fused},
      {"layer_norm ruled by eps", layer_norm_of(17), {scaled(1e-3, 3, 17), normal(17), normal(17)}, fused},
      {"layer_norm of many", layer_norm_of(129), {normal(300, 129), normal(129), normal(129)}, fused},
      {"rms_norm", rms_norm_of(5), {normal(3, 5), normal(5)}, fused},
      {"rms_norm without weight", [](In x) { return rms_norm(x[0], 17, no_tensor(), 1e-5); },
       {normal(2, 3, 17)}, fused},
      {"rms_norm over two dimensions", rms_norm_of({3, 5}), {normal(2, 3, 5), normal(3, 5)}, fused},
      {"rms_norm ruled by eps", rms_norm_of(17), {scaled(1e-3, 3, 17), normal(17)}, fused},
      {"rms_norm partial", rms_norm_of(17, 5), {normal(3, 17), normal(17)}, fused},
      {"rms_norm partial over two dimensions", rms_norm_of({3, 5}, 7),
       {normal(2, 3, 5), normal(3, 5)}, fused},
      {"rms_norm partial of all", rms_norm_of(5, 5), {normal(3, 5), normal(5)}, fused},
      {"rms_norm of many", rms_norm_of(129), {normal(300, 129), normal(129)}, fused},
      {"batch_norm", batch, {normal(7, 3), normal(3), normal(3)}, fused},
      {"batch_norm with length", batch, {normal(2, 3, 5), normal(3), normal(3)}, fused},
      {"batch_norm of images", batch, {normal(2, 3, 4, 5), normal(3), normal(3)}, fused},
      {"batch_norm bare", [](In x) { return batch_norm(x[0], no_tensor(), no_tensor(), 1e-5); },
       {normal(7, 3)}, fused},
      {"batch_norm without bias", [](In x) { return batch_norm(x[0], x[1], no_tensor(), 1e-5); },
       {normal(7, 3), normal(3)}, fused},
      {"batch_norm by given statistics",
       [mean, variance](In x) {
         return batch_norm(x[0], x[1], x[2], 1e-5, cast(mean, x[0].dtype()), cast(variance, x[0].dtype()));
       },
       {normal(2, 3, 5), normal(3), normal(3)}, {}, {mean, variance}},
      {"batch_norm ruled by eps", batch, {scaled(1e-3, 17, 3), normal(3), normal(3)}, fused},
      {"batch_norm of many", batch, {normal(300, 33, 5), normal(33), normal(33)}, fused},
      {"group_norm", group_norm_of(3), {normal(2, 6, 5), normal(6), normal(6)}, fused},
      {"group_norm of one group", group_norm_of(1), {normal(2, 3, 5), normal(3), normal(3)}, fused},
      {"group_norm of single channels", group_norm_of(3), {normal(2, 3, 5), normal(3), normal(3)}, fused},
      {"group_norm of images", group_norm_of(2), {normal(2, 4, 3, 5), normal(4), normal(4)}, fused},
      {"group_norm bare", [](In x) { return group_norm(x[0], 2, no_tensor(), no_tensor(), 1e-5); },
       {normal(2, 4, 3)}, fused},
      {"group_norm of many", group_norm_of(3), {normal(64, 33, 20), normal(33), normal(33)}, fused},
  };
}

// clang-format on

// The three share their signature: x, one number, weight, bias.
std::vector<OpRow> saturating_rows() {
  using Op = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Tensor&);
  std::vector<OpRow> rows;
  for (const auto& [name, op] :
       {std::pair<std::string, Op>{"dyt", dyt}, {"dyt_sqrtd", dyt_sqrtd}, {"dyisru", dyisru}}) {
    const TensorFunction full = [op = op](In x) { return op(x[0], x[1], x[2], x[3]); };
    rows.push_back({name, full, {normal(3, 5), uniform(0.3, 1, 1), normal(5), normal(5)}, fused});
    rows.push_back({name + " without bias",
                    [op = op](In x) { return op(x[0], x[1], x[2], {}); },
                    {normal(3, 5), uniform(0.3, 1, 1), normal(5)},
                    fused});
    rows.push_back({name + " over two dimensions",
                    full,
                    {normal(2, 3, 5), uniform(0.3, 1, 1), normal(3, 5), normal(3, 5)},
                    fused});
    rows.push_back(
        {name + " of many", full, {normal(300, 129), uniform(0.3, 1, 1), normal(129), normal(129)}, fused});
  }
  const TensorFunction shifted = [](In x) { return derf(x[0], x[1], x[2], x[3], x[4]); };
  const auto number = uniform(0.3, 1, 1);
  rows.push_back({"derf", shifted, {normal(3, 5), number, number, normal(5), normal(5)}, fused});
  rows.push_back({"derf without bias",
                  [](In x) { return derf(x[0], x[1], x[2], x[3], {}); },
                  {normal(3, 5), number, number, normal(5)},
                  fused});
  rows.push_back(
      {"derf of many", shifted, {normal(300, 129), number, number, normal(129), normal(129)}, fused});
  return rows;
}

}  // namespace isobar
