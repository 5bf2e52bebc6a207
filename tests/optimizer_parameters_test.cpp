// What a step takes: many parameters or few, of both float types, strided gradients, empty tensors.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "../core/address_sanitizer.h"
#include "../core/memory.h"
#include "../core/parallel.h"
#include "../core/raw.h"
#include "../core/rng.h"
#include "../optim/optim.h"
#include "optimizer_values.h"
#include "thread_counts.h"

namespace isobar::optimizer_parameters_test {

TEST_CASE("a step uses up gradients and counts updates per parameter") {
  Tensor w = parameter({1, 2}), b = parameter({3});
  AdamW optimizer({w, b});
  w.set_grad(make({1, 1}));
  CHECK(optimizer.step() == 1);
  CHECK_FALSE(w.grad().defined());
  CHECK(b.to_vector<double>() == Doubles{3});
  w.set_grad(make({1, 1}));
  b.set_grad(make({1}));
  CHECK(optimizer.step() == 2);
  CHECK(state_of(optimizer).at("steps").to_vector<int64_t>() == std::vector<int64_t>{2, 1});
}

TEST_CASE("a step over many tensors is that of each alone, for 1, 2, 3 and 8 threads") {
  // Small tensors that share a chunk, large ones that fill several, an empty one, and some without a
  // gradient.
  const std::vector<int64_t> sizes = {1, 15, 16, 17, 511, 513, 0, 3 * (1 << 13) + 77, 1, 513, 20'000, 17};
  const auto make_all = [&](Dtype dtype) {
    std::vector<Tensor> all;
    for (size_t i = 0; i < sizes.size(); ++i)
      all.push_back(Rng(1).split(i).normal(Shape{sizes[i]}, 0, 1, dtype).set_trainable());
    return all;
  };
  const auto set_gradients = [](const std::vector<Tensor>& all, uint64_t t) {
    for (size_t i = 0; i < all.size(); ++i)
      if ((i + t) % 4 != 3)
        all[i].set_grad(Rng(2).split(t).split(i).normal(all[i].shape(), 0, 1, all[i].dtype()));
  };
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    std::vector<Tensor> alone = make_all(dtype);
    std::vector<std::unique_ptr<AdamW>> optimizers;
    for (const Tensor& one : alone) optimizers.push_back(std::make_unique<AdamW>(std::vector<Tensor>{one}));
    for (uint64_t t = 0; t < 3; ++t) {
      set_gradients(alone, t);
      for (size_t i = 0; i < alone.size(); ++i)
        if (alone[i].grad().defined()) optimizers[i]->step();
    }
    std::vector<double> norms;
    for_thread_counts([&] {
      CAPTURE(threads());
      const std::vector<Tensor> together = make_all(dtype);
      AdamW optimizer(together);
      for (uint64_t t = 0; t < 3; ++t) {
        set_gradients(together, t);
        norms.push_back(grad_norm(together));
        optimizer.step();
      }
      for (size_t i = 0; i < together.size(); ++i) {
        CAPTURE(i);
        CHECK_FALSE(together[i].grad().defined());
        CHECK(together[i].to_vector<double>() == alone[i].to_vector<double>());
      }
    });
    for (size_t i = 3; i < norms.size(); ++i) CHECK(norms[i] == norms[i % 3]);
  }
}

TEST_CASE("parameters of both float types share a step") {
  Tensor w = parameter({1, -2}, Dtype::f32), b = parameter({3}, Dtype::f64);
  w.set_grad(make({1, 2}, Dtype::f32));
  b.set_grad(make({4}));
  CHECK(grad_norm({w, b}) == doctest::Approx(std::sqrt(21.0)).epsilon(1e-15));
  SGD({w, b}, {.lr = 0.5}).step();
  CHECK(w.to_vector<double>() == Doubles{0.5, -3});
  CHECK(b.to_vector<double>() == Doubles{1});
}

TEST_CASE("a gradient that is a strided view is read in its own order") {
  Tensor w = zeros({2, 3}, Dtype::f64).set_trainable();
  w.set_grad(raw::as_strided(make({1, 2, 3, 4, 5, 6}), {2, 3}, {1, 2}));  // rows 1 3 5 and 2 4 6
  CHECK(grad_norm({w}) == doctest::Approx(std::sqrt(91.0)).epsilon(1e-15));
  SUBCASE("by a step") {
    SGD({w}, {.lr = 1}).step();
    CHECK(w.to_vector<double>() == Doubles{-1, -3, -5, -2, -4, -6});
  }
  SUBCASE("by clipping") {
    clip_grad_norm({w}, 1e-6);
    CHECK(w.grad().at({0, 1}) / w.grad().at({0, 0}) == doctest::Approx(3).epsilon(1e-14));
    CHECK(w.grad().at({1, 0}) / w.grad().at({0, 0}) == doctest::Approx(2).epsilon(1e-14));
  }
}

TEST_CASE("from the second step on no block is asked from the system") {
  const Rng rng(3);
  Tensor w = rng.normal({300, 200}).set_trainable(), b = rng.normal(Shape{200}).set_trainable();
  AdamW optimizer({w, b});
  uint64_t blocks = 0;
  for (int t = 0; t < 6; ++t) {
    if (t == 2) blocks = memory::stats().system_blocks;
    w.set_grad(rng.split(static_cast<uint64_t>(t)).normal({300, 200}));
    b.set_grad(rng.split("b").normal(Shape{200}));
    clip_grad_norm({w, b}, 1.0);
    optimizer.step();
  }
  if (!watched()) CHECK(memory::stats().system_blocks == blocks);  // AddressSanitizer keeps none
}

TEST_CASE("empty tensors and single numbers are parameters too") {
  Tensor none = zeros({0, 3}).set_trainable(), one = ones({}).set_trainable();
  AdamW optimizer({none, one}, {.lr = 0.5, .weight_decay = 0});
  none.set_grad(zeros({0, 3}));
  one.set_grad(full({}, 7));
  CHECK(clip_grad_norm({none, one}, 100) == 7);
  optimizer.step();
  CHECK(one.item() == doctest::Approx(0.5).epsilon(1e-6));  // the first step of Adam is lr · sign(dw)
}

}  // namespace isobar::optimizer_parameters_test
