// Random program 7: each gradient beside the difference.
// clang-format off
#include <fmt/format.h>
#include <isobar/isobar.h>

#include <cmath>
#include <functional>
#include <map>

using namespace isobar;

constexpr uint64_t seed = 7;
constexpr bool higher_order = false;

// Constants keep the values of the first run, so that differences see them as the tape does.
std::map<int, Tensor> constants;
Tensor constant(int value, const std::function<Tensor()>& f) {
  if (!constants.contains(value)) constants[value] = f().detach();
  return constants[value];
}

// A cast to f32 and back, left out where differences would see its steps.
bool rounding = true;
Tensor rounded(const Tensor& x) { return rounding ? cast(cast(x, Dtype::f32), Dtype::f64) : x; }

Tensor loss(const Tensor& y, int value) {
  return sum(y * Rng(seed).split("weights").split(value).normal(y.shape(), 0, 1, Dtype::f64));
}

Tensor wrong_double(const Tensor& x) {
  const Tensor y = (x.detach() * 2).detach();
  return record("wrong_double", y, {x}, [](const Tensor& dy) { return dy * 3; });
}

std::vector<Tensor> make_leaves() {
  const Rng rng = Rng(seed).split("leaf");
  return {rng.split(0).normal(Shape{3, 4}, 0, 0.7, Dtype::f64).set_trainable(true),
          rng.split(1).normal(Shape{4}, 0, 0.7, Dtype::f64).set_trainable(true),
          rng.split(2).normal(Shape{4, 4}, 0, 0.7, Dtype::f64).set_trainable(true),
          rng.split(3).normal(Shape{}, 0, 0.7, Dtype::f64).set_trainable(false),
          rng.split(4).normal(Shape{2, 1, 3}, 0, 0.7, Dtype::f64).set_trainable(true),
          rng.split(5).normal(Shape{3, 4}, 0, 0.7, Dtype::f64).set_trainable(true)};
}

std::vector<Tensor> losses_of(const std::vector<Tensor>& leaves) {
  [[maybe_unused]] const Tensor v0 = leaves[0];
  [[maybe_unused]] const Tensor v1 = leaves[1];
  [[maybe_unused]] const Tensor v2 = leaves[2];
  [[maybe_unused]] const Tensor v3 = leaves[3];
  [[maybe_unused]] const Tensor v4 = leaves[4];
  [[maybe_unused]] const Tensor v5 = leaves[5];
  const Tensor v6 = tanh(v0);
  const Tensor v7 = sigmoid(v0);
  const Tensor v8 = exp(-square(v0));
  const Tensor v9 = log(square(v0) + 0.5);
  const Tensor v10 = sqrt(square(v0) + 0.5);
  const Tensor v11 = reciprocal(square(v0) + 1);
  const Tensor v12 = erf(v0);
  const Tensor v13 = gelu(v0);
  const Tensor v14 = gelu_tanh(v0);
  const Tensor v15 = silu(v0);
  const Tensor v16 = relu(v0);
  const Tensor v17 = squared_relu(v0);
  const Tensor v18 = softcap(v0, 2);
  const Tensor v19 = sin(v0);
  const Tensor v20 = cos(v0);
  const Tensor v21 = softplus(v0);
  const Tensor v22 = expm1(v0);
  const Tensor v23 = log1p(square(v0));
  const Tensor v24 = pow(v0, 3);
  const Tensor v25 = pow(square(v0) + 0.5, -1.5);
  const Tensor v26 = pow(1.5, v0);
  const Tensor v27 = pow(square(v0) + 0.5, v0);
  const Tensor v28 = v0 / 3.7;
  const Tensor v29 = abs(v0);
  const Tensor v30 = sign(v0) * v0;
  const Tensor v31 = clamp(v0, -0.5, 0.5);
  const Tensor v32 = minimum(v0, v1);
  const Tensor v33 = maximum(v0, v1);
  const Tensor v34 = where(v0 < v1, v3, v0);
  const Tensor v35 = where(v0 > 0.3, square(v0), v1);
  const Tensor v36 = 1.5 - v0 * 0.75;
  const Tensor v37 = dropout(v0, 0.3, Rng(5));
  const Tensor v38 = v0 + v0;
  const Tensor v39 = v0 - v0;
  const Tensor v40 = v0 * v1;
  const Tensor v41 = v0 / (square(v0) + 1);
  const Tensor v42 = swiglu(v0, v0);
  const Tensor v43 = reshape(v0, {2, 6});
  const Tensor v44 = permute(v0, {1, 0});
  const Tensor v45 = transpose(v0);
  const Tensor v46 = broadcast_to(v0, {2, 3, 4});
  const Tensor v47 = slice(v0, 1, 1, 3);
  const Tensor v48 = concat({v0, v0}, 0);
  const Tensor v49 = index_select(v0, 0, tensor({2}, std::vector<int64_t>{2, 0}));
  const Tensor v50 = expand(v0, {2, -1, 4});
  const Tensor v51 = stack({v0, v0}, -1);
  const Tensor v52 = split(v0, 2, 1).back();
  const Tensor v53 = pad(v0, {-1, 2}, 0.5);
  const Tensor v54 = flip(v0, {1});
  const Tensor v55 = tril(v0, -1);
  const Tensor v56 = triu(v0, 1);
  const Tensor v57 = embedding(tensor({3}, std::vector<int64_t>{2, 0, 2}), v0);
  const Tensor v58 = index_add(v0, 0, tensor({3}, std::vector<int64_t>{1, 1, 0}), v0);
  const Tensor v59 = gather(reshape(v0, {v0.numel()}), 0, tensor({3}, std::vector<int64_t>{11, 3, 3}));
  const Tensor v60 = scatter_add(reshape(v0, {v0.numel()}), 0, tensor({3}, std::vector<int64_t>{5, 0, 5}), reshape(v0, {v0.numel()}));
  const Tensor v61 = clone(v0);
  const Tensor v62 = contiguous(v0);
  const Tensor v63 = rounded(v0);
  const Tensor v64 = sum(v0, {0});
  const Tensor v65 = mean(v0, {1}, true);
  const Tensor v66 = mean(v0);
  const Tensor v67 = max(v0, {1});
  const Tensor v68 = min(v0, {0});
  const Tensor v69 = cumsum(v0, 1);
  const Tensor v70 = logsumexp(v0, {0});
  const Tensor v71 = norm(v0, 2, {1}, true);
  const Tensor v72 = norm(v0 + 4, 3);
  const Tensor v73 = std_dev(v0, {1});
  const Tensor v74 = einsum("ij,kj->ki", {v0, v2});
  const Tensor v75 = einsum("abc->ca", {v4});
  const Tensor v76 = mse_loss(v0, v0);
  const Tensor v77 = l1_loss(v0, v5, Reduction::none);
  const Tensor v78 = binary_cross_entropy_with_logits(v0, sigmoid(v0));
  const Tensor v79 = cross_entropy(v0, tensor({3}, std::vector<int64_t>{3, 0, 1}));
  const Tensor v80 = var(v0, {0}, true, 0);
  const Tensor v81 = matmul(v0, v2);
  const Tensor v82 = linear(v0, v2);
  const Tensor v83 = linear(v0, v2, v1);
  const Tensor v84 = softmax(v0);
  const Tensor v85 = log_softmax(v0);
  const Tensor v86 = layer_norm(v0, 4, {}, {}, 0.1);
  const Tensor v87 = rms_norm(v0, 4, v1, 0.1);
  const Tensor v88 = recompute([=](const Tensor& v89) {
    const Tensor v90 = wrong_double(v89);
    return v90;
  }, v0);
  const Tensor v91 = v0 * v88;
  const Tensor v92 = constant(92, [&] {
    const NoTape pause;
    const Tensor v93 = v0;
    const Tensor v94 = tanh(v93);
    return v94;
  });
  const Tensor v95 = v0 * v92;
  const Tensor v96 = constant(96, [&] {
    const Tensor v97 = v0.detach().set_trainable();
    Tape inner;
    const Tensor v98 = tanh(v97);
    return inner.gradient(sum(v98) + sum(v97), {v97})[0];
  });
  const Tensor v99 = v0 * v96;
  return {loss(v6, 6), loss(v7, 7), loss(v8, 8), loss(v9, 9), loss(v10, 10), loss(v11, 11), loss(v12, 12), loss(v13, 13), loss(v14, 14), loss(v15, 15), loss(v16, 16), loss(v17, 17), loss(v18, 18), loss(v19, 19), loss(v20, 20), loss(v21, 21), loss(v22, 22), loss(v23, 23), loss(v24, 24), loss(v25, 25), loss(v26, 26), loss(v27, 27), loss(v28, 28), loss(v29, 29), loss(v30, 30), loss(v31, 31), loss(v32, 32), loss(v33, 33), loss(v34, 34), loss(v35, 35), loss(v36, 36), loss(v37, 37), loss(v38, 38), loss(v39, 39), loss(v40, 40), loss(v41, 41), loss(v42, 42), loss(v43, 43), loss(v44, 44), loss(v45, 45), loss(v46, 46), loss(v47, 47), loss(v48, 48), loss(v49, 49), loss(v50, 50), loss(v51, 51), loss(v52, 52), loss(v53, 53), loss(v54, 54), loss(v55, 55), loss(v56, 56), loss(v57, 57), loss(v58, 58), loss(v59, 59), loss(v60, 60), loss(v61, 61), loss(v62, 62), loss(v63, 63), loss(v64, 64), loss(v65, 65), loss(v66, 66), loss(v67, 67), loss(v68, 68), loss(v69, 69), loss(v70, 70), loss(v71, 71), loss(v72, 72), loss(v73, 73), loss(v74, 74), loss(v75, 75), loss(v76, 76), loss(v77, 77), loss(v78, 78), loss(v79, 79), loss(v80, 80), loss(v81, 81), loss(v82, 82), loss(v83, 83), loss(v84, 84), loss(v85, 85), loss(v86, 86), loss(v87, 87), loss(v91, 91), loss(v95, 95), loss(v99, 99)};
}

double value_of(const std::vector<Tensor>& leaves) {
  double total = 0;
  for (const Tensor& y : losses_of(leaves)) total += y.item();
  return total;
}

// The slope along an element, by four points.
double slope(const std::vector<Tensor>& leaves, size_t leaf, int64_t element) {
  const auto at = [&](double step) {
    std::vector<Tensor> moved;
    for (const Tensor& x : leaves) moved.push_back(x.detach());
    std::vector<double> values = moved[leaf].to_vector<double>();
    values[element] += step;
    moved[leaf] = tensor(moved[leaf].shape(), values);
    return value_of(moved);
  };
  const double h = 1e-3;
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

int main() {
  const std::vector<Tensor> leaves = make_leaves();
  {
    Tape tape({.higher_order = higher_order});
    for (const Tensor& y : losses_of(leaves)) tape.backward(y);
  }
  rounding = false;
  int wrong = 0;
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    if (!leaves[leaf].grad().defined()) continue;
    const std::vector<double> gradient = leaves[leaf].grad().to_vector<double>();
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double difference = slope(leaves, leaf, i);
      const bool right = std::abs(gradient[i] - difference) <= 1e-4 * std::max(1.0, std::abs(difference));
      wrong += !right;
      fmt::print("leaf {} element {}: gradient {:.10f}, difference {:.10f}{}\n", leaf, i, gradient[i],
                 difference, right ? "" : "  WRONG");
    }
  }
  return wrong == 0 ? 0 : 1;
}
