// Residual: y = x + f(x) for a branch f (He et al. 2016), without a norm, with one before it or after the
// sum; see placement.h. SkipInit and ReZero: y = x + a · f(x) with a trainable scalar a that starts at or near
// zero. A deep network then starts as the identity and needs no norm.
//
//   Residual block(std::make_unique<Sequential>(Linear(64, 64, rng.split("fc")), ReLU()), Placement::pre,
//                  std::make_unique<RMSNorm>(64));
#pragma once

#include "module.h"
#include "placement.h"

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

}  // namespace isobar
