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
          rng.split(3).normal(Shape{}, 0, 0.7, Dtype::f64).set_trainable(false)};
}

std::vector<Tensor> losses_of(const std::vector<Tensor>& leaves) {
  [[maybe_unused]] const Tensor v0 = leaves[0];
  [[maybe_unused]] const Tensor v1 = leaves[1];
  [[maybe_unused]] const Tensor v2 = leaves[2];
  [[maybe_unused]] const Tensor v3 = leaves[3];
  const Tensor v4 = tanh(v0);
  const Tensor v5 = sigmoid(v0);
  const Tensor v6 = exp(-square(v0));
  const Tensor v7 = log(square(v0) + 0.5);
  const Tensor v8 = sqrt(square(v0) + 0.5);
  const Tensor v9 = reciprocal(square(v0) + 1);
  const Tensor v10 = erf(v0);
  const Tensor v11 = gelu(v0);
  const Tensor v12 = gelu_tanh(v0);
  const Tensor v13 = silu(v0);
  const Tensor v14 = relu(v0);
  const Tensor v15 = squared_relu(v0);
  const Tensor v16 = softcap(v0, 2);
  const Tensor v17 = 1.5 - v0 * 0.75;
  const Tensor v18 = dropout(v0, 0.3, Rng(5));
  const Tensor v19 = v0 + v0;
  const Tensor v20 = v0 - v0;
  const Tensor v21 = v0 * v1;
  const Tensor v22 = v0 / (square(v0) + 1);
  const Tensor v23 = swiglu(v0, v0);
  const Tensor v24 = reshape(v0, {2, 6});
  const Tensor v25 = permute(v0, {1, 0});
  const Tensor v26 = transpose(v0);
  const Tensor v27 = broadcast_to(v0, {2, 3, 4});
  const Tensor v28 = slice(v0, 1, 1, 3);
  const Tensor v29 = concat({v0, v0}, 0);
  const Tensor v30 = index_select(v0, 0, tensor({2}, std::vector<int64_t>{2, 0}));
  const Tensor v31 = clone(v0);
  const Tensor v32 = contiguous(v0);
  const Tensor v33 = rounded(v0);
  const Tensor v34 = sum(v0, {0});
  const Tensor v35 = mean(v0, {1}, true);
  const Tensor v36 = mean(v0);
  const Tensor v37 = max(v0, {1});
  const Tensor v38 = var(v0, {0}, true, 0);
  const Tensor v39 = matmul(v0, v2);
  const Tensor v40 = linear(v0, v2);
  const Tensor v41 = linear(v0, v2, v1);
  const Tensor v42 = softmax(v0);
  const Tensor v43 = log_softmax(v0);
  const Tensor v44 = layer_norm(v0, 4, {}, {}, 0.1);
  const Tensor v45 = rms_norm(v0, 4, v1, 0.1);
  const Tensor v46 = recompute([=](const Tensor& v47) {
    const Tensor v48 = wrong_double(v47);
    return v48;
  }, v0);
  const Tensor v49 = v0 * v46;
  const Tensor v50 = constant(50, [&] {
    const NoTape pause;
    const Tensor v51 = v0;
    const Tensor v52 = tanh(v51);
    return v52;
  });
  const Tensor v53 = v0 * v50;
  const Tensor v54 = constant(54, [&] {
    const Tensor v55 = v0.detach().set_trainable();
    Tape inner;
    const Tensor v56 = tanh(v55);
    return inner.gradient(sum(v56) + sum(v55), {v55})[0];
  });
  const Tensor v57 = v0 * v54;
  return {loss(v4, 4), loss(v5, 5), loss(v6, 6), loss(v7, 7), loss(v8, 8), loss(v9, 9), loss(v10, 10), loss(v11, 11), loss(v12, 12), loss(v13, 13), loss(v14, 14), loss(v15, 15), loss(v16, 16), loss(v17, 17), loss(v18, 18), loss(v19, 19), loss(v20, 20), loss(v21, 21), loss(v22, 22), loss(v23, 23), loss(v24, 24), loss(v25, 25), loss(v26, 26), loss(v27, 27), loss(v28, 28), loss(v29, 29), loss(v30, 30), loss(v31, 31), loss(v32, 32), loss(v33, 33), loss(v34, 34), loss(v35, 35), loss(v36, 36), loss(v37, 37), loss(v38, 38), loss(v39, 39), loss(v40, 40), loss(v41, 41), loss(v42, 42), loss(v43, 43), loss(v44, 44), loss(v45, 45), loss(v49, 49), loss(v53, 53), loss(v57, 57)};
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
