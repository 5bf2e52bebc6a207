// SkipInit and ReZero: residual branches multiplied by a trainable scalar that starts at or near zero. A deep
// network then starts as the identity and needs no norm.
#pragma once

#include "module.h"

namespace isobar {

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
