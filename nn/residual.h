// Residual: y = x + f(x) for a branch f (He et al. 2016), without a norm, with a norm before the branch, or
// with one after the sum; see norm.h. SkipInit and ReZero: y = x + a · f(x) with a trainable scalar a that
// starts at or near zero. A deep network then starts as the identity and needs no norm.
//
//   Residual block(std::make_unique<Sequential>(Linear(64, 64, rng.split("fc")), ReLU()), Placement::pre,
//                  std::make_unique<RMSNorm>(64));
#pragma once

#include <cmath>

#include "activation.h"
#include "linear.h"
#include "norm.h"

namespace isobar {

// f must preserve the shape of its input. The parts are named "body" and "norm".
struct Residual : Module {
  std::unique_ptr<Module> body, norm;  // norm is null for Placement::none only
  Placement placement;

  explicit Residual(std::unique_ptr<Module> branch, Placement where = Placement::none,
                    std::unique_ptr<Module> branch_norm = nullptr)
      : body(std::move(branch)), norm(std::move(branch_norm)), placement(where) {
    check(body != nullptr, "residual: the branch is null; wanted a module");
    check(placement == Placement::none || placement == Placement::pre || placement == Placement::post,
          "residual: wanted placement none, pre or post, got {}", placement_name(placement));
    check((placement == Placement::none) == (norm == nullptr),
          "residual: wanted a norm with placement pre or post, and none with placement none");
  }

  Tensor forward(const Tensor& x) override {
    if (placement == Placement::pre) return x + (*body)((*norm)(x));
    const Tensor y = x + (*body)(x);
    return placement == Placement::post ? (*norm)(y) : y;
  }
  void fields(Fields& f) override {
    f("body", body);
    if (norm) f("norm", norm);
  }
};

// y = x + alpha · f(x), alpha [1] (De & Smith 2020). `initial` is 0 or at most 1/√(number of branches).
struct SkipInit : Module {
  std::unique_ptr<Module> body;
  Tensor alpha;

  explicit SkipInit(std::unique_ptr<Module> branch, double initial = 0)
      : body(std::move(branch)), alpha(full({1}, initial).set_trainable()) {
    check(body != nullptr, "skip_init: the branch is null; wanted a module");
  }

  Tensor forward(const Tensor& x) override { return x + alpha * (*body)(x); }
  void fields(Fields& f) override {
    f("body", body);
    f("alpha", alpha);
  }
};

// y = x + resweight · f(x), resweight [1] starts at 0 (Bachlechner et al. 2021).
struct ReZero : Module {
  std::unique_ptr<Module> body;
  Tensor resweight;

  explicit ReZero(std::unique_ptr<Module> branch)
      : body(std::move(branch)), resweight(zeros({1}).set_trainable()) {
    check(body != nullptr, "rezero: the branch is null; wanted a module");
  }

  Tensor forward(const Tensor& x) override { return x + resweight * (*body)(x); }
  void fields(Fields& f) override {
    f("body", body);
    f("resweight", resweight);
  }
};

// Fixup: a residual block that trains without norms (Zhang, Dauphin & Ma 2019).
//
//   y = x + scale · W2 relu(W1 (x + bias1) + bias2) + bias3
//
// W2 starts at 0, so the block starts as the identity. W1 starts as init::he_normal times branches^(−1/2):
// for L branches of m layers the paper's factor is L^(−1/(2m−2)), and m = 2 here. scale starts at 1, all
// biases at 0.
//
// x (…, width) → (…, width). scale and the biases are single numbers [1]; linear1 and linear2 have no bias.
struct Fixup : Module {
  Linear linear1, linear2;
  ReLU relu;
  Tensor scale, bias1, bias2, bias3;

  // `branches` is the number of such blocks in the network. hidden = 0 means width.
  Fixup(int64_t width, int64_t branches, const Rng& rng, int64_t hidden = 0)
      : linear1(first_weight(width, hidden > 0 ? hidden : width, branches, rng)),
        linear2(zeros({width, hidden > 0 ? hidden : width})),
        scale(ones({1}).set_trainable()),
        bias1(zeros({1}).set_trainable()),
        bias2(zeros({1}).set_trainable()),
        bias3(zeros({1}).set_trainable()) {}

  Tensor forward(const Tensor& x) override {
    const Tensor h = relu(linear1(x + bias1) + bias2);
    return x + scale * linear2(h) + bias3;
  }
  void fields(Fields& f) override {
    f("linear1", linear1);
    f("relu", relu);
    f("linear2", linear2);
    f("scale", scale);
    f("bias1", bias1);
    f("bias2", bias2);
    f("bias3", bias3);
  }

 private:
  static Tensor first_weight(int64_t width, int64_t hidden, int64_t branches, const Rng& rng) {
    check(branches >= 1, "fixup: wanted at least one branch, got {}", branches);
    const double gain = init::he_gain / std::sqrt(static_cast<double>(branches));
    return init::he_normal({hidden, width}, rng.split("linear1").split("weight"), gain);
  }
};

}  // namespace isobar
