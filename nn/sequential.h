// Sequential: modules in sequence, each applied to the output of the one before.
//
//   Sequential mlp(Linear(784, 256, rng.split("0")), ReLU(), Linear(256, 10, rng.split("2")));
//   mlp.add(std::make_unique<Softcap>(30));
#pragma once

#include <concepts>
#include <memory>

#include "model.h"

namespace isobar {

// The parts are named "0", "1", … as in PyTorch. Without parts, y = x.
struct Sequential : Module {
  std::vector<std::unique_ptr<Module>> parts;

  Sequential() = default;
  template <class First, class... Rest>
  requires(std::derived_from<First, Module> &&
           (std::derived_from<Rest, Module> && ...)) explicit Sequential(First first, Rest... rest) {
    add(std::make_unique<First>(std::move(first)));
    (add(std::make_unique<Rest>(std::move(rest))), ...);
  }
  void add(std::unique_ptr<Module> part) {
    check(part != nullptr, "sequential: part {} is null; wanted a module", parts.size());
    parts.push_back(std::move(part));
    if (has_path()) assign_missing_paths(*this, path(), naming());  // a part that comes after the first call
  }

  Tensor forward(const Tensor& x) override {
    Tensor y = x;
    for (const auto& part : parts) y = (*part)(y);
    return y;
  }
  void fields(Fields& f) override {
    for (size_t i = 0; i < parts.size(); ++i) f(std::to_string(i), parts[i]);
  }
};

}  // namespace isobar
